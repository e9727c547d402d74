//===- SparsityFormulas.cpp - sets of positions as formulas ---------------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace lacuna;
using namespace lacuna::sparsity;

/// -right <= distance <= left; a missing side is unbounded.
static Formula inWindow(AffineExpr distance, AffineExpr left, AffineExpr right) {
  Formula result = Formula::always();
  if (left)
    result = result & Formula::lessEqual(distance, left);
  if (right)
    result = result & Formula::lessEqual(-right, distance);
  return result;
}

/// `x` is one of `list`; neighbouring numbers become one interval.
static Formula isOneOf(FormulaSpace &space, AffineExpr x, ArrayRef<int64_t> list) {
  SmallVector<int64_t> sorted(list);
  llvm::sort(sorted);
  SmallVector<Formula> parts;
  for (size_t first = 0, end = 0; first < sorted.size(); first = end) {
    for (end = first + 1; end < sorted.size() && sorted[end] <= sorted[end - 1] + 1;)
      ++end;
    AffineExpr lower = space.constant(sorted[first]), upper = space.constant(sorted[end - 1]);
    parts.push_back(lower == upper ? Formula::equal(x, lower) : Formula::between(lower, x, upper));
  }
  return Formula::any(parts);
}

//===----------------------------------------------------------------------===//
// Any domain
//===----------------------------------------------------------------------===//

Formula AllOp::buildFormula(FormulaSpace &) { return Formula::always(); }

Formula NoneOp::buildFormula(FormulaSpace &) { return Formula::never(); }

Formula CausalOp::buildFormula(FormulaSpace &space) {
  // From the last axis outwards: before at this axis, or equal and not after at the later ones.
  unsigned last = space.getKeyRank() - 1;
  Formula result = Formula::lessEqual(space.key(last), space.position(last, getFromStart()));
  for (unsigned axis = last; axis-- > 0;) {
    AffineExpr position = space.position(axis, getFromStart()), key = space.key(axis);
    result = Formula::less(key, position) | (Formula::equal(key, position) & result);
  }
  return result;
}

Formula AffineOp::buildFormula(FormulaSpace &space) {
  bool aligned = space.getQueryRank() == space.getKeyRank() && !getFromStart();
  SmallVector<AffineExpr> dims, symbols;
  for (unsigned axis = 0; axis < space.getQueryRank(); ++axis)
    dims.push_back(aligned ? space.position(axis, false) : space.query(axis));
  for (unsigned axis = 0; axis < space.getKeyRank(); ++axis)
    dims.push_back(space.key(axis));
  for (const Number &number : sparsity::getNumbers(getNumbers(), getStaticNumbers()))
    symbols.push_back(number.getExpr(space));
  IntegerSet set = getConstraints();
  Formula result = Formula::always();
  for (unsigned index = 0; index < set.getNumConstraints(); ++index) {
    AffineExpr expr = set.getConstraint(index).replaceDimsAndSymbols(dims, symbols);
    result = result & (set.isEq(index) ? Formula::zero(expr) : Formula::nonNegative(expr));
  }
  return result;
}

Formula WhereOp::buildFormula(FormulaSpace &) { return Formula::opaque(*this, 0); }

Value WhereOp::emitTerm(OpBuilder &builder, Location loc, unsigned, const PairContext &pair) {
  bool aligned = pair.query.size() == pair.key.size() && !getFromStart();
  IndexEmitter emit(builder, loc);
  SmallVector<Value> values = {pair.batch, pair.head};
  for (unsigned axis = 0; axis < pair.query.size(); ++axis)
    values.push_back(emit.position(pair, axis, !aligned));
  llvm::append_range(values, pair.key);
  Block &body = getPredicate().front();
  IRMapping map;
  map.map(body.getArguments(), values);
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(cast<YieldOp>(body.getTerminator()).getValue());
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Formula WindowOp::buildFormula(FormulaSpace &space) {
  Number left(getLeft(), getLeftValueAttr()), right(getRight(), getRightValueAttr());
  return inWindow(space.position(0, getFromStart()) - space.key(0),
                  left ? left.getExpr(space) : AffineExpr(),
                  right ? right.getExpr(space) : AffineExpr());
}

Formula PrefixOp::buildFormula(FormulaSpace &space) {
  return Formula::less(space.key(0), Number(getCount(), getCountValueAttr()).getExpr(space));
}

Formula SuffixOp::buildFormula(FormulaSpace &space) {
  AffineExpr count = Number(getCount(), getCountValueAttr()).getExpr(space);
  return Formula::lessEqual(space.keySize(0) - count, space.key(0));
}

Formula RowsOp::buildFormula(FormulaSpace &space) {
  AffineExpr position = space.position(0, getFromStart());
  if (getList())
    return isOneOf(space, position, *getList());
  return Formula::less(position, Number(getCount(), getCountValueAttr()).getExpr(space));
}

Formula ColumnsOp::buildFormula(FormulaSpace &space) {
  if (getList())
    return isOneOf(space, space.key(0), *getList());
  return Formula::less(space.key(0), Number(getCount(), getCountValueAttr()).getExpr(space));
}

Formula SlashesOp::buildFormula(FormulaSpace &space) {
  return isOneOf(space, space.position(0, getFromStart()) - space.key(0), getList());
}

/// distance mod step == 0, as term 0 of `op` when the step is known at run time only.
static Formula isMultiple(AffineExpr distance, const Number &step, Operation *op) {
  if (!step.constant)
    return Formula::opaque(op, 0);
  return Formula::zero(distance % *step.constant);
}

/// The value of that term.
static Value emitIsMultiple(IndexEmitter emit, const Number &step, bool fromStart,
                            const PairContext &pair) {
  Value distance = emit.sub(emit.position(pair, 0, fromStart), pair.key[0]);
  Value positive = emit.max(step.emit(emit.builder, emit.loc, pair), emit.constant(1));
  return emit.isMultiple(distance, positive);
}

Formula StrideOp::buildFormula(FormulaSpace &space) {
  AffineExpr distance = space.position(0, getFromStart()) - space.key(0);
  return isMultiple(distance, Number(getStep(), getStepValueAttr()), *this);
}

Value StrideOp::emitTerm(OpBuilder &builder, Location loc, unsigned, const PairContext &pair) {
  Number step(getStep(), getStepValueAttr());
  return emitIsMultiple(IndexEmitter(builder, loc), step, getFromStart(), pair);
}

Formula DilatedOp::buildFormula(FormulaSpace &space) {
  AffineExpr distance = space.position(0, getFromStart()) - space.key(0);
  Number step(getStep(), getStepValueAttr());
  // A product of two run-time numbers is a term of its own: 1 on the left, 2 on the right.
  auto reach = [&](const Number &side, unsigned term) -> AffineExpr {
    if (!side)
      return {};
    return step.constant ? side.getExpr(space) * *step.constant
                         : space.monotone(*this, term, /*queryAxis=*/0);
  };
  AffineExpr left = reach(Number(getLeft(), getLeftValueAttr()), 1);
  AffineExpr right = reach(Number(getRight(), getRightValueAttr()), 2);
  return inWindow(distance, left, right) & isMultiple(distance, step, *this);
}

Value DilatedOp::emitTerm(OpBuilder &builder, Location loc, unsigned term,
                          const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  Number step(getStep(), getStepValueAttr());
  if (term == 0)
    return emitIsMultiple(emit, step, getFromStart(), pair);
  Number side =
      term == 1 ? Number(getLeft(), getLeftValueAttr()) : Number(getRight(), getRightValueAttr());
  Value positive = emit.max(step.emit(builder, loc, pair), emit.constant(1));
  return emit.mul(side.emit(builder, loc, pair), positive);
}
