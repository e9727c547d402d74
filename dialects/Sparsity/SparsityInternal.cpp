//===- SparsityInternal.cpp - numbers, and index arithmetic as IR ---------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace lacuna::sparsity;

AffineExpr Number::getExpr(FormulaSpace &space) const {
  if (constant)
    return space.constant(*constant);
  return operand.getType().isIndex() ? space.scalar(operand) : space.perHead(operand);
}

Value Number::emit(OpBuilder &builder, Location loc, const PairContext &pair) const {
  if (constant)
    return arith::ConstantIndexOp::create(builder, loc, *constant);
  if (operand.getType().isIndex())
    return operand;
  return emitSymbol(builder, loc, {Symbol::Kind::PerHead, 0, operand}, pair);
}

SmallVector<Number> lacuna::sparsity::getNumbers(OperandRange operands,
                                                 ArrayRef<int64_t> constants) {
  SmallVector<Number> numbers;
  auto operand = operands.begin();
  for (int64_t constant : constants) {
    if (ShapedType::isDynamic(constant))
      numbers.push_back(Number(*operand++, {}));
    else
      numbers.push_back(Number(constant));
  }
  return numbers;
}

Value IndexEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value IndexEmitter::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value IndexEmitter::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value IndexEmitter::mul(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
Value IndexEmitter::min(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}
Value IndexEmitter::max(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}

Value IndexEmitter::floorDiv(Value a, Value b) {
  if (matchPattern(b, m_One()))
    return a;
  Value quotient = builder.createOrFold<arith::DivSIOp>(loc, a, b);
  Value rest = builder.createOrFold<arith::RemSIOp>(loc, a, b);
  Value negative = compare(arith::CmpIPredicate::slt, rest, constant(0));
  return select(negative, sub(quotient, constant(1)), quotient);
}

Value IndexEmitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}

Value IndexEmitter::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}

Value IndexEmitter::isMultiple(Value a, Value step) {
  Value rest = builder.createOrFold<arith::RemSIOp>(loc, a, step);
  return compare(arith::CmpIPredicate::eq, rest, constant(0));
}

Value IndexEmitter::position(const PairContext &pair, unsigned axis, bool fromStart) {
  if (fromStart)
    return pair.query[axis];
  return add(pair.query[axis], sub(pair.keySizes[axis], pair.querySizes[axis]));
}
