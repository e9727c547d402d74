//===- Segments.cpp - the segments that an attend's tokens fall into ------===//
#include "compiler/Passes/Segments.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lacuna;

int64_t lacuna::countTokens(ArrayRef<int64_t> box) {
  int64_t tokens = 1;
  for (int64_t extent : box)
    tokens *= extent;
  return tokens;
}

Value lacuna::materialize(OpBuilder &builder, Location loc, OpFoldResult size,
                          const IRMapping &map) {
  if (auto value = dyn_cast<Value>(size))
    return map.lookup(value);
  return arith::ConstantIndexOp::create(builder, loc, *getConstantIntValue(size));
}

/// A domain that `set` was made over, or null. All of them have the same type.
static Value findDomain(Value set) {
  llvm::SetVector<Value> pending;
  pending.insert(set);
  for (size_t next = 0; next < pending.size(); ++next) {
    Operation *definition = pending[next].getDefiningOp();
    if (!definition)
      continue;
    for (Value operand : definition->getOperands()) {
      if (isa<sparsity::DomainType>(operand.getType()))
        return operand;
      if (isa<sparsity::SetType>(operand.getType()))
        pending.insert(operand);
    }
  }
  return {};
}

LogicalResult Segments::readDomain(attn::AttendOp op, Value domain) {
  Operation *definition = domain.getDefiningOp();
  if (auto grid = dyn_cast_or_null<sparsity::GridOp>(definition)) {
    Builder builder(op.getContext());
    sizes.push_back(getMixedValues(grid.getStaticSizes(), grid.getSizes(), builder));
    ranks.push_back(grid.getStaticSizes().size());
    return success();
  }
  if (auto sequence = dyn_cast_or_null<sparsity::SequenceDomainOp>(definition)) {
    Builder builder(op.getContext());
    sizes.push_back(getMixedValues(sequence.getStaticSizes(), sequence.getSizes(), builder));
    ranks.push_back(1);
    return success();
  }
  return op.emitOpError("expected a domain whose definition is visible");
}

LogicalResult Segments::read(attn::AttendOp op) {
  auto type = cast<sparsity::SetType>(op.getSet().getType());
  sets = {op.getSet()};
  if (type.isSequence()) {
    ranks = {1};
    return success();
  }
  Value domain = findDomain(op.getSet());
  if (!domain)
    return op.emitOpError("expected a set of type ")
           << type << " to name its domain, which gives the sizes of the axes";
  return readDomain(op, domain);
}

ArrayRef<int64_t> Segments::getBox(ArrayRef<int64_t> boxes, unsigned segment) const {
  int64_t first = 0;
  for (int64_t rank : ArrayRef(ranks).take_front(segment))
    first += rank;
  return boxes.slice(first, ranks[segment]);
}

ArrayRef<Value> Segments::getSets(unsigned querySegment) const {
  return ArrayRef(sets).slice(querySegment * size(), size());
}

void Segments::appendValues(SmallVectorImpl<Value> &values) const {
  for (ArrayRef<OpFoldResult> segment : sizes)
    for (OpFoldResult size : segment)
      if (auto value = dyn_cast<Value>(size))
        values.push_back(value);
}
