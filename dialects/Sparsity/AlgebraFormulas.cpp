//===- AlgebraFormulas.cpp - sets made of sets as formulas ----------------===//
#include "dialects/Sparsity/SparsityInternal.h"

using namespace mlir;
using namespace lacuna::sparsity;

/// The formula of an operand; algebra-2 guarantees that a set op defines it.
static Formula formulaOf(Value set, FormulaSpace &space) {
  return set.getDefiningOp<SetOpInterface>().buildFormula(space);
}

static SmallVector<Formula> formulasOf(ValueRange sets, FormulaSpace &space) {
  SmallVector<Formula> parts;
  for (Value set : sets)
    parts.push_back(formulaOf(set, space));
  return parts;
}

Formula UnionOp::buildFormula(FormulaSpace &space) {
  return Formula::any(formulasOf(getSets(), space));
}

Formula IntersectOp::buildFormula(FormulaSpace &space) {
  return Formula::all(formulasOf(getSets(), space));
}

Formula SubtractOp::buildFormula(FormulaSpace &space) {
  return formulaOf(getFrom(), space) & !formulaOf(getRemoved(), space);
}

Formula ComplementOp::buildFormula(FormulaSpace &space) { return !formulaOf(getRemoved(), space); }

Formula PerHeadOp::buildFormula(FormulaSpace &space) {
  // A constant list is a term that depends on the head alone.
  AffineExpr chosen = getClasses() ? space.perHead(getClasses())
                                   : space.monotone(*this, /*term=*/0, /*queryAxis=*/0);
  SmallVector<Formula> parts;
  for (auto [index, part] : llvm::enumerate(formulasOf(getSets(), space)))
    parts.push_back(Formula::equal(chosen, space.constant(index)) & part);
  return Formula::any(parts);
}

Value PerHeadOp::emitTerm(OpBuilder &builder, Location loc, unsigned, const PairContext &pair) {
  IndexEmitter emit(builder, loc);
  Value result = emit.constant(-1);
  for (auto [head, chosen] : llvm::enumerate(*getClassValues())) {
    Value isHead = emit.compare(arith::CmpIPredicate::eq, pair.head, emit.constant(head));
    result = emit.select(isHead, emit.constant(chosen), result);
  }
  return result;
}

Value SegmentsOp::getEntry(unsigned query, unsigned key) {
  size_t count = cast<DomainType>(getDomain().getType()).getSegments().size();
  return getSets()[query * count + key];
}
