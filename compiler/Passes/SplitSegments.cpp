//===- SplitSegments.cpp - one set for each pair of segments --------------===//
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_SPLITSEGMENTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::DomainType;
using lacuna::sparsity::SetType;

/// The segments of a domain as values; null where a definition is out of sight.
static void collectSegments(Value domain, SmallVectorImpl<Value> &segments) {
  if (auto concat = domain.getDefiningOp<sparsity::ConcatOp>()) {
    for (Value part : concat.getDomains())
      collectSegments(part, segments);
    return;
  }
  size_t count = cast<DomainType>(domain.getType()).getSegments().size();
  segments.append(count, count == 1 ? domain : Value());
}

namespace {
/// Writes the entries of one set over a concatenation, row by row.
class Splitter {
public:
  explicit Splitter(Operation *user) : builder(user) {}

  /// The same set as one `sparsity.segments`.
  FailureOr<Value> run(Value set) {
    if (set.getDefiningOp<sparsity::SegmentsOp>())
      return set;
    FailureOr<SmallVector<Value>> entries = split(set);
    if (failed(entries))
      return failure();
    Value domain = sparsity::findDomain(set);
    if (!domain)
      return emitError(set.getLoc(), "expected a set over a concatenation to name its domain");
    return sparsity::SegmentsOp::create(builder, set.getLoc(), domain, *entries).getResult();
  }

private:
  /// One entry from the entries of the operands at the same place.
  using Combine = llvm::function_ref<Value(Type, ValueRange)>;

  FailureOr<SmallVector<Value>> split(Value set);
  FailureOr<SmallVector<Value>> distribute(Operation *op, Combine combine);
  FailureOr<SmallVector<Value>> splitCausal(sparsity::CausalOp op);

  /// Calls `make` with the row, the column and the type of every entry.
  template <typename Make> SmallVector<Value> forEachEntry(SetType type, Make make) {
    SmallVector<Value> entries;
    for (auto [row, query] : llvm::enumerate(type.getQuery()))
      for (auto [column, key] : llvm::enumerate(type.getKey()))
        entries.push_back(make(row, column, SetType::get(builder.getContext(), {query}, {key})));
    return entries;
  }

  OpBuilder builder;
  DenseMap<Value, SmallVector<Value>> known;
};
} // namespace

FailureOr<SmallVector<Value>> Splitter::distribute(Operation *op, Combine combine) {
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands())
    if (isa<SetType>(operand.getType())) {
      FailureOr<SmallVector<Value>> entries = split(operand);
      if (failed(entries))
        return failure();
      operands.push_back(std::move(*entries));
    }
  size_t index = 0;
  return forEachEntry(cast<SetType>(op->getResult(0).getType()), [&](size_t, size_t, SetType type) {
    SmallVector<Value> parts;
    for (const SmallVector<Value> &entries : operands)
      parts.push_back(entries[index]);
    ++index;
    return combine(type, parts);
  });
}

/// Earlier segments come first: below the diagonal everything, above it nothing.
FailureOr<SmallVector<Value>> Splitter::splitCausal(sparsity::CausalOp op) {
  SmallVector<Value> segments;
  collectSegments(op.getDomain(), segments);
  for (Value segment : segments)
    if (!segment)
      return op.emitOpError("expected a domain whose segments are in sight");
  return forEachEntry(op.getSet().getType(), [&](size_t row, size_t column, SetType type) -> Value {
    Location loc = op.getLoc();
    if (row == column)
      return sparsity::CausalOp::create(
          builder, loc, type, type.isSequence() ? Value() : segments[row], op.getFromStart());
    if (column < row)
      return sparsity::AllOp::create(builder, loc, type, Value());
    return sparsity::NoneOp::create(builder, loc, type, Value());
  });
}

FailureOr<SmallVector<Value>> Splitter::split(Value set) {
  if (auto it = known.find(set); it != known.end())
    return it->second;
  Operation *op = set.getDefiningOp();
  Location loc = set.getLoc();
  FailureOr<SmallVector<Value>> entries = failure();
  if (auto segments = dyn_cast_or_null<sparsity::SegmentsOp>(op)) {
    entries = llvm::to_vector(segments.getSets());
  } else if (auto causal = dyn_cast_or_null<sparsity::CausalOp>(op)) {
    entries = splitCausal(causal);
  } else if (isa_and_nonnull<sparsity::AllOp, sparsity::NoneOp>(op)) {
    entries = distribute(op, [&](Type type, ValueRange) -> Value {
      if (isa<sparsity::AllOp>(op))
        return sparsity::AllOp::create(builder, loc, type, Value());
      return sparsity::NoneOp::create(builder, loc, type, Value());
    });
  } else if (isa_and_nonnull<sparsity::UnionOp, sparsity::IntersectOp, sparsity::SubtractOp,
                             sparsity::ComplementOp>(op)) {
    entries = distribute(op, [&](Type type, ValueRange parts) {
      return builder.create(loc, op->getName().getIdentifier(), parts, type)->getResult(0);
    });
  } else if (auto perHead = dyn_cast_or_null<sparsity::PerHeadOp>(op)) {
    entries = distribute(op, [&](Type type, ValueRange parts) -> Value {
      return sparsity::PerHeadOp::create(builder, loc, type, perHead.getClasses(),
                                         perHead.getClassValuesAttr(), parts);
    });
  } else {
    return emitError(loc, "expected a set over a concatenation to be made of segments");
  }
  if (succeeded(entries))
    known[set] = *entries;
  return entries;
}

namespace {
struct SplitSegments final : lacuna::impl::SplitSegmentsPassBase<SplitSegments> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (isa<sparsity::SparsityDialect>(op->getDialect()))
        return WalkResult::advance();
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<SetType>(operand.get().getType());
        if (!type || type.isSingle() || operand.get().getDefiningOp<sparsity::SegmentsOp>())
          continue;
        FailureOr<Value> split = Splitter(op).run(operand.get());
        if (failed(split))
          return WalkResult::interrupt();
        operand.set(*split);
        ++setsSplit;
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
