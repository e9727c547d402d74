//===- FactorMasks.cpp - bounds of keys, once a row -----------------------===//
#include "compiler/Passes/Passes.h"

#include "dialects/Hopper/Hopper.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace lacuna {
#define GEN_PASS_DEF_FACTORMASKSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Larger than any key coordinate.
static constexpr int64_t noBound = int64_t{1} << 30;

namespace {
/// `factor * key[axis] + (something of the query)`; factor 0 where no key occurs.
struct LinearInKey {
  int64_t factor = 0;
  unsigned axis = 0;
};

/// Rewrites one element function.
class MaskFactoring {
public:
  MaskFactoring(Block &block, size_t queryAxes, size_t keyAxes)
      : block(block), queryAxes(queryAxes), builder(block.getTerminator()), ofRow(block, queryAxes),
        lower(keyAxes), upper(keyAxes) {}
  /// False when there was nothing to do.
  bool run();

private:
  bool isKeyDependent(Value value) const { return !ofRow.contains(value); }
  std::optional<LinearInKey> readLinear(Value value);
  Value atKeyZero(Value value);
  bool takeBound(Value conjunct);
  void addBound(const LinearInKey &linear, Value atZero, int64_t offset);

  Block &block;
  size_t queryAxes;
  OpBuilder builder;
  /// Of the function as it was given.
  hopper::RowValues ofRow;
  /// Per key axis, null where there is no bound yet.
  SmallVector<Value> lower, upper;
};
} // namespace

/// Sums and differences in which one key coordinate occurs once.
std::optional<LinearInKey> MaskFactoring::readLinear(Value value) {
  if (!isKeyDependent(value))
    return LinearInKey();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() == 0)
      return std::nullopt;
    return LinearInKey{1, static_cast<unsigned>(argument.getArgNumber() - 1 - queryAxes)};
  }
  Operation *op = value.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<LinearInKey> a = readLinear(op->getOperand(0)), b = readLinear(op->getOperand(1));
  if (!a || !b || (a->factor != 0 && b->factor != 0))
    return std::nullopt;
  if (isa<arith::SubIOp>(op))
    b->factor = -b->factor;
  return a->factor != 0 ? a : b;
}

/// The same expression with 0 for the key coordinate.
Value MaskFactoring::atKeyZero(Value value) {
  if (!isKeyDependent(value))
    return value;
  Location loc = value.getLoc();
  if (isa<BlockArgument>(value))
    return arith::ConstantIndexOp::create(builder, loc, 0);
  Operation *op = value.getDefiningOp();
  Value a = atKeyZero(op->getOperand(0)), b = atKeyZero(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}

/// Notes `factor * key + atZero + offset >= 0`.
void MaskFactoring::addBound(const LinearInKey &linear, Value atZero, int64_t offset) {
  Location loc = atZero.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (linear.factor > 0) {
    // key >= -(atZero + offset)
    Value bound = builder.createOrFold<arith::SubIOp>(loc, number(-offset), atZero);
    Value &known = lower[linear.axis];
    known = known ? builder.createOrFold<arith::MaxSIOp>(loc, known, bound) : bound;
    return;
  }
  // key < atZero + offset + 1
  Value bound = builder.createOrFold<arith::AddIOp>(loc, atZero, number(offset + 1));
  Value &known = upper[linear.axis];
  known = known ? builder.createOrFold<arith::MinSIOp>(loc, known, bound) : bound;
}

/// Turns a comparison with one key coordinate into bounds; false when it is something else.
bool MaskFactoring::takeBound(Value conjunct) {
  auto compare = conjunct.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex() || !isKeyDependent(conjunct))
    return false;
  std::optional<LinearInKey> left = readLinear(compare.getLhs()),
                             right = readLinear(compare.getRhs());
  if (!left || !right || (left->factor != 0) == (right->factor != 0))
    return false;
  Value a = atKeyZero(compare.getLhs()), b = atKeyZero(compare.getRhs());
  Location loc = compare.getLoc();
  // left - right, and right - left
  LinearInKey forward = left->factor != 0 ? *left : LinearInKey{-right->factor, right->axis};
  LinearInKey backward{-forward.factor, forward.axis};
  auto difference = [&] { return builder.createOrFold<arith::SubIOp>(loc, a, b); };
  auto reverse = [&] { return builder.createOrFold<arith::SubIOp>(loc, b, a); };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
    addBound(forward, difference(), 0);
    return true;
  case arith::CmpIPredicate::sgt:
    addBound(forward, difference(), -1);
    return true;
  case arith::CmpIPredicate::sle:
    addBound(backward, reverse(), 0);
    return true;
  case arith::CmpIPredicate::slt:
    addBound(backward, reverse(), -1);
    return true;
  case arith::CmpIPredicate::eq:
    addBound(forward, difference(), 0);
    addBound(backward, reverse(), 0);
    return true;
  default:
    return false;
  }
}

bool MaskFactoring::run() {
  auto yield = cast<hopper::YieldOp>(block.getTerminator());
  if (!yield.getLower().empty())
    return false;
  auto select = yield.getScore().getDefiningOp<arith::SelectOp>();
  APFloat dead(0.0f);
  if (!select || select->getBlock() != &block ||
      !matchPattern(select.getFalseValue(), m_ConstantFloat(&dead)) || !dead.isInfinity() ||
      !dead.isNegative())
    return false;

  SmallVector<Value> conjuncts{select.getCondition()};
  Value rest;
  bool found = false;
  for (size_t next = 0; next < conjuncts.size(); ++next) {
    if (auto both = conjuncts[next].getDefiningOp<arith::AndIOp>()) {
      llvm::append_range(conjuncts, both->getOperands());
      continue;
    }
    if (takeBound(conjuncts[next])) {
      found = true;
      continue;
    }
    Location loc = select.getLoc();
    rest = rest ? arith::AndIOp::create(builder, loc, rest, conjuncts[next]).getResult()
                : conjuncts[next];
  }
  if (!found)
    return false;

  Location loc = select.getLoc();
  for (auto [low, high] : llvm::zip_equal(lower, upper)) {
    // There are no keys before the first.
    if (!low)
      low = arith::ConstantIndexOp::create(builder, loc, 0);
    if (!high)
      high = arith::ConstantIndexOp::create(builder, loc, noBound);
  }
  Value score = select.getTrueValue();
  if (rest)
    score = arith::SelectOp::create(builder, loc, rest, score, select.getFalseValue());
  hopper::YieldOp::create(builder, yield.getLoc(), score, lower, upper);
  yield.erase();
  return true;
}

namespace {
struct FactorMasks final : lacuna::impl::FactorMasksPassBase<FactorMasks> {
  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp attend) {
      size_t queryAxes = attend.getQueryBox().size();
      for (Region &region : attend.getElements()) {
        size_t keyAxes = region.getNumArguments() - 1 - queryAxes;
        masksFactored += MaskFactoring(region.front(), queryAxes, keyAxes).run();
      }
    });
  }
};
} // namespace
