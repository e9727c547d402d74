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

/// The domains that `set` and the sets below it were made over, nearest first.
static llvm::SetVector<Value> findDomains(Value set) {
  llvm::SetVector<Value> sets, domains;
  sets.insert(set);
  for (size_t next = 0; next < sets.size(); ++next) {
    Operation *definition = sets[next].getDefiningOp();
    if (!definition)
      continue;
    for (Value operand : definition->getOperands()) {
      if (isa<sparsity::DomainType>(operand.getType()))
        domains.insert(operand);
      if (isa<sparsity::SetType>(operand.getType()))
        sets.insert(operand);
    }
  }
  return domains;
}

LogicalResult lacuna::appendSegments(Value domain,
                                     SmallVectorImpl<SmallVector<OpFoldResult>> &segments) {
  SmallVector<Value> pending = {domain};
  while (!pending.empty()) {
    Operation *definition = pending.pop_back_val().getDefiningOp();
    if (auto concat = dyn_cast_or_null<sparsity::ConcatOp>(definition)) {
      llvm::append_range(pending, llvm::reverse(concat.getDomains()));
      continue;
    }
    Builder builder(domain.getContext());
    if (auto grid = dyn_cast_or_null<sparsity::GridOp>(definition))
      segments.push_back(getMixedValues(grid.getStaticSizes(), grid.getSizes(), builder));
    else if (auto sequence = dyn_cast_or_null<sparsity::SequenceDomainOp>(definition))
      segments.push_back(getMixedValues(sequence.getStaticSizes(), sequence.getSizes(), builder));
    else
      return failure();
  }
  return success();
}

LogicalResult Segments::readDomain(attn::AttendOp op) {
  auto type = cast<sparsity::SetType>(op.getSet().getType());
  ranks.assign(type.getQuery().begin(), type.getQuery().end());
  if (type.isSequence())
    return success();
  for (Value domain : findDomains(op.getSet())) {
    if (cast<sparsity::DomainType>(domain.getType()).getSegments() != type.getQuery())
      continue;
    if (succeeded(appendSegments(domain, sizes)))
      return success();
    return op.emitOpError("expected a domain that domain ops define, got one from outside");
  }
  return op.emitOpError("expected a set of type ")
         << type << " to name its domain, which gives the sizes of the axes";
}

LogicalResult Segments::readSets(attn::AttendOp op) {
  sets = {op.getSet()};
  if (size() == 1)
    return success();
  auto segments = op.getSet().getDefiningOp<sparsity::SegmentsOp>();
  if (!segments)
    return op.emitOpError(
        "expected one set per pair of segments, which lacuna-split-segments makes");
  sets.assign(segments.getSets().begin(), segments.getSets().end());
  return success();
}

LogicalResult Segments::read(attn::AttendOp op) {
  if (failed(readDomain(op)))
    return failure();
  return readSets(op);
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
