//===- EmitFormula.cpp - formulas as IR, one pair at a time ---------------===//
#include "dialects/Sparsity/Formula.h"
#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace lacuna::sparsity;

/// Whether ops promise that no pair of `set` lies beyond the last key.
static bool isWithinKeys(Value set) {
  Operation *op = set.getDefiningOp();
  if (auto affine = dyn_cast_or_null<AffineOp>(op))
    return affine.getWithinKeys();
  if (isa_and_nonnull<IntersectOp>(op))
    return llvm::any_of(op->getOperands(), isWithinKeys);
  return isa_and_nonnull<UnionOp>(op) && llvm::all_of(op->getOperands(), isWithinKeys);
}

FailureOr<Formula> lacuna::sparsity::buildFormula(Value set, FormulaSpace &space) {
  auto type = cast<SetType>(set.getType());
  if (!type.isSingle())
    return emitError(set.getLoc(),
                     "expected a set between one segment of queries and one of keys, got ")
           << type;
  auto op = set.getDefiningOp<SetOpInterface>();
  if (!op)
    return emitError(
        set.getLoc(),
        "expected a set whose definition is visible, got a value that no set op defines");
  Formula formula = op.buildFormula(space);
  space.setWithinKeys(isWithinKeys(set));
  return formula;
}

Value lacuna::sparsity::emitSymbol(OpBuilder &builder, Location loc, const Symbol &symbol,
                                   const PairContext &pair) {
  switch (symbol.kind) {
  case Symbol::Kind::QuerySize:
    return pair.querySizes[symbol.axis];
  case Symbol::Kind::KeySize:
    return pair.keySizes[symbol.axis];
  case Symbol::Kind::Scalar:
    return symbol.value;
  case Symbol::Kind::PerHead: {
    Value element = tensor::ExtractOp::create(builder, loc, symbol.value, pair.head);
    if (element.getType().isIndex())
      return element;
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element);
  }
  case Symbol::Kind::Monotone:
    return cast<SetOpInterface>(symbol.op).emitTerm(builder, loc, symbol.term, pair);
  }
  llvm_unreachable("all kinds are handled");
}

namespace {
/// Emits one formula; symbols are materialised once, at their first use.
class PredicateEmitter {
public:
  PredicateEmitter(OpBuilder &builder, Location loc, const FormulaSpace &space,
                   const PairContext &pair)
      : builder(builder), loc(loc), space(space), pair(pair) {
    dims.append(pair.query.begin(), pair.query.end());
    dims.append(pair.key.begin(), pair.key.end());
    symbols.resize(space.getSymbols().size());
  }

  Value emit(const Formula &formula) {
    switch (formula.getKind()) {
    case Formula::Kind::True:
    case Formula::Kind::False:
      return arith::ConstantIntOp::create(builder, loc, formula.isAlways(), 1);
    case Formula::Kind::NonNegative:
      return compare(arith::CmpIPredicate::sge, formula.getExpr());
    case Formula::Kind::Zero:
      return compare(arith::CmpIPredicate::eq, formula.getExpr());
    case Formula::Kind::Opaque: {
      auto op = cast<SetOpInterface>(formula.getOp());
      Value result = op.emitTerm(builder, loc, formula.getTerm(), pair);
      if (!formula.isNegated())
        return result;
      Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
      return arith::XOrIOp::create(builder, loc, result, one);
    }
    case Formula::Kind::And:
    case Formula::Kind::Or: {
      Value result;
      for (const Formula &part : formula.getParts()) {
        Value value = emit(part);
        if (!result)
          result = value;
        else if (formula.getKind() == Formula::Kind::And)
          result = arith::AndIOp::create(builder, loc, result, value);
        else
          result = arith::OrIOp::create(builder, loc, result, value);
      }
      return result;
    }
    }
    llvm_unreachable("all kinds are handled");
  }

private:
  Value compare(arith::CmpIPredicate predicate, AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part)) {
        Value &value = symbols[symbol.getPosition()];
        if (!value)
          value = emitSymbol(builder, loc, space.getSymbols()[symbol.getPosition()], pair);
      }
    });
    Value value = affine::expandAffineExpr(builder, loc, expr, dims, symbols);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return arith::CmpIOp::create(builder, loc, predicate, value, zero);
  }

  OpBuilder &builder;
  Location loc;
  const FormulaSpace &space;
  const PairContext &pair;
  SmallVector<Value> dims, symbols;
};
} // namespace

Value lacuna::sparsity::emitPredicate(OpBuilder &builder, Location loc, const Formula &formula,
                                      const FormulaSpace &space, const PairContext &pair) {
  return PredicateEmitter(builder, loc, space, pair).emit(formula);
}
