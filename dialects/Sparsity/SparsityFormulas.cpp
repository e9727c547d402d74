//===- SparsityFormulas.cpp - the meaning of each set op as a formula -----===//
#include "dialects/Sparsity/Sparsity.h"

using namespace mlir;
using namespace lacuna::sparsity;

/// The number given as an operand or as a constant; null when neither is there (unbounded).
static AffineExpr number(FormulaSpace &space, Value operand, std::optional<uint64_t> constant) {
  if (constant)
    return space.constant(static_cast<int64_t>(*constant));
  if (!operand)
    return {};
  if (operand.getType().isIndex())
    return space.scalar(operand);
  return space.perHead(operand);
}

Formula AllOp::buildFormula(FormulaSpace &) { return Formula::always(); }

Formula NoneOp::buildFormula(FormulaSpace &) { return Formula::never(); }

Formula WindowOp::buildFormula(FormulaSpace &space) {
  AffineExpr distance = space.position(0, getFromStart()) - space.key(0);
  Formula result = Formula::always();
  if (AffineExpr left = number(space, getLeft(), getLeftValue()))
    result = result & Formula::lessEqual(distance, left);
  if (AffineExpr right = number(space, getRight(), getRightValue()))
    result = result & Formula::lessEqual(-right, distance);
  return result;
}

Formula UnionOp::buildFormula(FormulaSpace &space) {
  SmallVector<Formula> parts;
  for (Value set : getSets())
    parts.push_back(set.getDefiningOp<SetOpInterface>().buildFormula(space));
  return Formula::any(parts);
}
