//===- VectorBuilder.cpp - short words for vector code --------------------===//
#include "compiler/Cpu/VectorBuilder.h"

using namespace mlir;
using namespace lacuna;

Value VectorBuilder::index(int64_t number) {
  return arith::ConstantIndexOp::create(*this, number).getResult();
}

Value VectorBuilder::scalar(float number) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(number)).getResult();
}

Value VectorBuilder::splat(float number) {
  VectorType type = vectorOf(getF32Type());
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(type, number)).getResult();
}

Value VectorBuilder::broadcast(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(*this, vectorOf(value.getType()), value).getResult();
}

Value VectorBuilder::add(Value a, Value b) {
  if (getElementTypeOrSelf(a.getType()).isF32())
    return createOrFold<arith::AddFOp>(a, b);
  return createOrFold<arith::AddIOp>(a, b);
}

Value VectorBuilder::offset(Value a, int64_t number) {
  return number == 0 ? a : createOrFold<arith::AddIOp>(a, index(number));
}

Value VectorBuilder::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(*this, a, b, c).getResult();
}

Value VectorBuilder::isLess(Value a, Value b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, a, b).getResult();
}

Value VectorBuilder::isEqual(Value a, Value b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, b).getResult();
}

Value VectorBuilder::maximum(Value a, Value b) {
  // This form, unlike maxnumf, is a single instruction.
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(*this, greater, a, b).getResult();
}

Value VectorBuilder::load(Value buffer, ValueRange at) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return vector::LoadOp::create(*this, vectorOf(element), buffer, at).getResult();
}

void VectorBuilder::store(Value vector, Value buffer, ValueRange at) {
  vector::StoreOp::create(*this, vector, buffer, at);
}

SmallVector<Value> VectorBuilder::loop(Value lower, Value upper, int64_t step, ValueRange init,
                                       Body body) {
  Value by = index(step);
  auto loop = scf::ForOp::create(*this, lower, upper, by, init);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Loops that carry nothing come with their terminator.
  if (!init.empty())
    scf::YieldOp::create(*this, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> VectorBuilder::loop(int64_t count, int64_t step, ValueRange init, Body body) {
  Value lower = index(0), upper = index(count);
  return loop(lower, upper, step, init, body);
}

void VectorBuilder::loop(Value lower, Value upper, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void VectorBuilder::loop(int64_t count, int64_t step, llvm::function_ref<void(Value)> body) {
  Value lower = index(0), upper = index(count);
  loop(lower, upper, step, body);
}

void VectorBuilder::branch(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto choice = scf::IfOp::create(*this, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(choice.thenBlock());
  then();
  if (otherwise) {
    setInsertionPointToStart(choice.elseBlock());
    otherwise();
  }
}
