//===- ExpandMasks.cpp - masks over sets become predicates ----------------===//
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_EXPANDMASKSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Moves what does not depend on the pair in front of `op`, so that it is computed once per tile.
static void hoistUniform(Operation *op, Block &body) {
  for (Operation &inner : llvm::make_early_inc_range(body.without_terminator())) {
    bool uniform = isPure(&inner) && inner.getNumRegions() == 0;
    for (Value operand : inner.getOperands())
      uniform &= operand.getParentBlock() != &body;
    if (uniform)
      inner.moveBefore(op);
  }
}

/// Whether the predicate asks ops for terms of the query's coordinates, which may read tensors
/// there.
static bool looksUpQueries(const sparsity::FormulaSpace &space) {
  return llvm::any_of(space.getSymbols(), [](const sparsity::Symbol &symbol) {
    return symbol.kind == sparsity::Symbol::Kind::Monotone;
  });
}

/// Moves coordinates past the end to the last one.
static void clamp(OpBuilder &builder, Location loc, MutableArrayRef<Value> coordinates,
                  ArrayRef<Value> sizes) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes)) {
    Value last = arith::SubIOp::create(builder, loc, size, one);
    coordinate = arith::MinSIOp::create(builder, loc, coordinate, last);
  }
}

/// Replaces the set of a mask or a classification by the predicate of one pair.
template <typename OpT> static LogicalResult expand(OpT op) {
  auto type = cast<sparsity::SetType>(op.getSet().getType());
  sparsity::FormulaSpace space(op.getContext(), type.getQueryRank(), type.getKeyRank());
  FailureOr<sparsity::Formula> formula = sparsity::buildFormula(op.getSet(), space);
  if (failed(formula))
    return failure();

  OpBuilder builder(op.getContext());
  Block *body = builder.createBlock(&op.getPredicate());
  auto addCoordinates = [&](unsigned rank) {
    SmallVector<Value> result;
    for (unsigned axis = 0; axis < rank; ++axis)
      result.push_back(body->addArgument(builder.getIndexType(), op.getLoc()));
    return result;
  };
  sparsity::PairContext pair;
  pair.batch = op.getBatch();
  pair.head = op.getHead();
  pair.query = addCoordinates(type.getQueryRank());
  pair.key = addCoordinates(type.getKeyRank());
  pair.querySizes = llvm::to_vector(op.getQuerySizes());
  pair.keySizes = llvm::to_vector(op.getKeySizes());
  // Tiles stick out of their grid; what stands there must not be looked up.
  if (formula->hasOpaque() || looksUpQueries(space))
    clamp(builder, op.getLoc(), pair.query, pair.querySizes);
  if (formula->hasOpaque())
    clamp(builder, op.getLoc(), pair.key, pair.keySizes);
  Value live = sparsity::emitPredicate(builder, op.getLoc(), *formula, space, pair);
  tile::YieldOp::create(builder, op.getLoc(), live);
  op.getSetMutable().clear();
  hoistUniform(op, *body);
  return success();
}

namespace {
struct ExpandMasks final : lacuna::impl::ExpandMasksPassBase<ExpandMasks> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      LogicalResult expanded = success();
      if (auto mask = dyn_cast<tile::MaskOp>(op); mask && mask.getSet())
        expanded = expand(mask);
      else if (auto classify = dyn_cast<tile::ClassifyOp>(op); classify && classify.getSet())
        expanded = expand(classify);
      else
        return WalkResult::advance();
      ++masksExpanded;
      return WalkResult(expanded);
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
