//===- GridFormulas.cpp - distances per axis as formulas ------------------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include <cmath>

using namespace mlir;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// block_diagonal
//===----------------------------------------------------------------------===//

Formula BlockDiagonalOp::buildFormula(FormulaSpace &space) {
  Formula result = Formula::always();
  for (auto [axis, size] : llvm::enumerate(getNumbers(getSizes(), getStaticSizes()))) {
    AffineExpr first, last;
    if (size.constant) {
      first = space.position(axis, getFromStart()).floorDiv(*size.constant) * *size.constant;
      last = first + *size.constant - 1;
    } else {
      first = space.monotone(*this, 2 * axis, axis);
      last = space.monotone(*this, 2 * axis + 1, axis);
    }
    result = result & Formula::between(first, space.key(axis), last);
  }
  return result;
}

Value BlockDiagonalOp::emitTerm(OpBuilder &builder, Location loc, unsigned term,
                                const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  unsigned axis = term / 2;
  Number number = getNumbers(getSizes(), getStaticSizes())[axis];
  Value size = emit.max(number.emit(builder, loc, pair), emit.constant(1));
  Value block = emit.floorDiv(emit.position(pair, axis, getFromStart()), size);
  Value first = emit.mul(block, size);
  return term % 2 == 0 ? first : emit.sub(emit.add(first, size), emit.constant(1));
}

//===----------------------------------------------------------------------===//
// radius
//===----------------------------------------------------------------------===//

namespace {
/// What the attributes of a radius say about one axis.
struct RadiusAxis {
  unsigned axis;
  Number radius;
  int64_t unit, dilation;
  bool causal;
};
} // namespace

/// Term of the l2 norm; those of axis d are 2 d (first key) and 2 d + 1 (last key).
static constexpr unsigned l2Term = 8;

static RadiusAxis getAxis(RadiusOp op, unsigned axis) {
  SmallVector<Number> radii = getNumbers(op.getRadii(), op.getStaticRadii());
  auto at = [&](std::optional<ArrayRef<int64_t>> list) { return list ? (*list)[axis] : 1; };
  bool causal = op.getCausal() && llvm::is_contained(*op.getCausal(), axis);
  const Number &radius = radii[radii.size() == 1 ? 0 : axis];
  return {axis, radius, at(op.getUnit()), at(op.getDilation()), causal};
}

/// Keys of one axis in the box of a query.
static Formula inBox(RadiusOp op, const RadiusAxis &a, FormulaSpace &space) {
  AffineExpr x = space.position(a.axis, op.getFromStart()).floorDiv(a.unit);
  AffineExpr key = space.key(a.axis);
  // The first and last key of a unit.
  auto first = [&](AffineExpr unit) { return unit * a.unit; };
  auto last = [&](AffineExpr unit) { return unit * a.unit + (a.unit - 1); };

  Formula result = Formula::always();
  if (op.getBorder() == Border::Clip || a.causal) {
    AffineExpr reach = a.radius.getExpr(space) * a.dilation;
    // A causal window that shifts ends at the query.
    AffineExpr left = op.getBorder() == Border::Shift ? reach * 2 : reach;
    result = Formula::lessEqual(first(x - left), key) &
             Formula::lessEqual(key, last(a.causal ? x : x + reach));
    // A negative radius is empty on a causal axis too: first(x - left) lies beyond last(x).
  } else {
    AffineExpr lower = space.monotone(op, 2 * a.axis, a.axis);
    AffineExpr upper = space.monotone(op, 2 * a.axis + 1, a.axis);
    result = Formula::between(lower, key, upper);
  }
  if (a.dilation > 1)
    result = result & Formula::zero((x - key.floorDiv(a.unit)) % a.dilation);
  return result;
}

/// sum |x_d - y_d| <= r: one inequality for each choice of signs.
static Formula inDiamond(RadiusOp op, FormulaSpace &space) {
  unsigned rank = space.getKeyRank();
  SmallVector<Formula> parts;
  for (unsigned signs = 0; signs < (1u << rank); ++signs) {
    AffineExpr sum = space.constant(0);
    for (unsigned axis = 0; axis < rank; ++axis) {
      RadiusAxis a = getAxis(op, axis);
      AffineExpr distance = space.position(axis, op.getFromStart()).floorDiv(a.unit) -
                            space.key(axis).floorDiv(a.unit);
      sum = signs >> axis & 1 ? sum - distance : sum + distance;
    }
    parts.push_back(Formula::lessEqual(sum, getAxis(op, 0).radius.getExpr(space)));
  }
  return Formula::all(parts);
}

/// Keys of all axes at most `radius` away, without the causal condition.
static Formula inCube(RadiusOp op, AffineExpr radius, FormulaSpace &space) {
  Formula result = Formula::always();
  for (unsigned axis = 0; axis < space.getKeyRank(); ++axis) {
    int64_t unit = getAxis(op, axis).unit;
    AffineExpr x = space.position(axis, op.getFromStart()).floorDiv(unit);
    result = result & Formula::between((x - radius) * unit, space.key(axis),
                                       (x + radius) * unit + (unit - 1));
  }
  return result;
}

Formula RadiusOp::buildFormula(FormulaSpace &space) {
  Formula result = Formula::always();
  if (getNorm() == Norm::Box) {
    for (unsigned axis = 0; axis < space.getKeyRank(); ++axis)
      result = result & inBox(*this, getAxis(*this, axis), space);
    return result;
  }
  for (unsigned axis = 0; axis < space.getKeyRank(); ++axis) {
    RadiusAxis a = getAxis(*this, axis);
    AffineExpr x = space.position(axis, getFromStart()).floorDiv(a.unit);
    if (a.causal)
      result = result & Formula::lessEqual(space.key(axis), x * a.unit + (a.unit - 1));
  }
  if (getNorm() == Norm::L1)
    return result & inDiamond(*this, space);
  // The ball lies in the cube around it, and holds the diamond and the cube inside it.
  Number radius = getAxis(*this, 0).radius;
  Formula core = inDiamond(*this, space);
  if (radius.constant && *radius.constant >= 0) {
    double inner =
        std::floor(*radius.constant / std::sqrt(double(space.getKeyRank())) * (1 - 1e-12));
    core = core | inCube(*this, space.constant(static_cast<int64_t>(inner)), space);
  }
  return result & inCube(*this, radius.getExpr(space), space) &
         (core | Formula::opaque(*this, l2Term));
}

/// sum (x_d - y_d)^2 <= r^2 for a radius that is not negative.
static Value emitInBall(RadiusOp op, IndexEmitter emit, const PairContext &pair) {
  Value sum = emit.constant(0);
  for (unsigned axis = 0; axis < pair.key.size(); ++axis) {
    Value unit = emit.constant(getAxis(op, axis).unit);
    Value x = emit.floorDiv(emit.position(pair, axis, op.getFromStart()), unit);
    Value distance = emit.sub(x, emit.floorDiv(pair.key[axis], unit));
    sum = emit.add(sum, emit.mul(distance, distance));
  }
  Value radius = getAxis(op, 0).radius.emit(emit.builder, emit.loc, pair);
  Value notNegative = emit.compare(arith::CmpIPredicate::sge, radius, emit.constant(0));
  // Coordinates stay below this bound, and its square fits.
  Value bounded = emit.min(radius, emit.constant(int64_t{1} << 31));
  Value near = emit.compare(arith::CmpIPredicate::sle, sum, emit.mul(bounded, bounded));
  return emit.builder.createOrFold<arith::AndIOp>(emit.loc, notNegative, near);
}

Value RadiusOp::emitTerm(OpBuilder &builder, Location loc, unsigned term, const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  if (term == l2Term)
    return emitInBall(*this, emit, pair);
  // The window of 2 r + 1 units starts at x - r, moved into the axis. Both bounds ignore what lies
  // outside the axis, where no key is.
  RadiusAxis a = getAxis(*this, term / 2);
  Value unit = emit.constant(a.unit), dilation = emit.constant(a.dilation), one = emit.constant(1);
  Value x = emit.floorDiv(emit.position(pair, a.axis, getFromStart()), unit);
  Value reach = emit.mul(a.radius.emit(builder, loc, pair), dilation);
  Value length = emit.add(emit.add(reach, reach), dilation);
  if (term % 2 == 0) {
    Value padded = emit.add(pair.keySizes[a.axis], emit.constant(a.unit - 1));
    Value lastStart = emit.sub(emit.floorDiv(padded, unit), length);
    return emit.mul(emit.min(emit.sub(x, reach), lastStart), unit);
  }
  Value last = emit.max(emit.add(x, reach), emit.sub(length, one));
  return emit.add(emit.mul(last, unit), emit.constant(a.unit - 1));
}

//===----------------------------------------------------------------------===//
// bands
//===----------------------------------------------------------------------===//

Formula BandsOp::buildFormula(FormulaSpace &space) {
  AffineExpr frames = space.position(0, getFromStart()) - space.key(0);
  AffineExpr tokens = space.position(1, getFromStart()) - space.key(1);
  AffineExpr width = Number(getWidth(), getWidthValueAttr()).getExpr(space);
  SmallVector<Formula> boxes;
  for (int64_t level = 0; level < static_cast<int64_t>(getLevels()); ++level) {
    AffineExpr reach = space.constant((static_cast<int64_t>(getNear()) << (level + 1)) - 1);
    AffineExpr half = width.floorDiv(int64_t{1} << level);
    boxes.push_back(Formula::between(-reach, frames, reach) &
                    Formula::between(-half, tokens, half));
  }
  return Formula::any(boxes);
}
