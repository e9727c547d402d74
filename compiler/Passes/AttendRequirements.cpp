//===- AttendRequirements.cpp - what a launch of attention checks ---------===//
//
// What a verifier cannot see of shapes and sizes that are known at run time
// only. Every kernel of an attend checks all of it: the first one that runs
// must not touch memory outside its tensors.
//
//===----------------------------------------------------------------------===//
#include "compiler/Passes/AttendLowering.h"
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/SetRequirements.h"

using namespace mlir;
using namespace lacuna;

namespace {
/// Writes the requirements of one kernel into its plan.
class Requirements {
public:
  Requirements(attn::AttendOp op, const Segments &segments, unsigned querySegment, ValueRange sets,
               KernelBuilder &kernel)
      : op(op), segments(segments), querySegment(querySegment), sets(sets), kernel(kernel),
        plan(kernel.plan), loc(op.getLoc()) {}

  LogicalResult emit();

private:
  LogicalResult emitTensors();
  LogicalResult emitHeads();
  LogicalResult emitSkip();
  LogicalResult emitTokens();
  LogicalResult emitSets();

  LogicalResult requireEqual(Value a, Value b, StringRef message) {
    return kernel.require(compare(arith::CmpIPredicate::eq, a, b), message, {a, b});
  }
  LogicalResult requireEqualExtents(Value a, Value b, unsigned axis, StringRef message);

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return plan.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  }
  Value extent(Value tensor, unsigned axis) {
    return getExtent(plan, loc, kernel.inPlan(tensor), axis);
  }
  SmallVector<Value> sizesOf(ArrayRef<OpFoldResult> sizes) {
    return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
      return materialize(plan, loc, size, kernel.getPlanMap());
    });
  }

  attn::AttendOp op;
  const Segments &segments;
  unsigned querySegment;
  ValueRange sets;
  KernelBuilder &kernel;
  OpBuilder &plan;
  Location loc;
};
} // namespace

LogicalResult Requirements::requireEqualExtents(Value a, Value b, unsigned axis,
                                                StringRef message) {
  auto typeA = cast<RankedTensorType>(a.getType()), typeB = cast<RankedTensorType>(b.getType());
  if (!typeA.isDynamicDim(axis) && !typeB.isDynamicDim(axis))
    return success(); // The verifier has compared them.
  return requireEqual(extent(a, axis), extent(b, axis), message);
}

LogicalResult Requirements::emitTensors() {
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue();
  if (op->hasAttr(attn::AttnDialect::queriesWithinKeys)) {
    Value queries = extent(query, 2), keys = extent(key, 2);
    if (failed(kernel.require(compare(arith::CmpIPredicate::sle, queries, keys),
                              "expected no more queries than keys under a hierarchy from the "
                              "start, got {0} and {1}",
                              {queries, keys})))
      return failure();
  }
  return success(
      succeeded(requireEqualExtents(
          query, key, 0, "expected query and key to share the batch, got {0} and {1}")) &&
      succeeded(requireEqualExtents(
          key, value, 0, "expected key and value to share the batch, got {0} and {1}")) &&
      succeeded(requireEqualExtents(
          key, value, 1,
          "expected key and value to have the same number of heads, got {0} and {1}")) &&
      succeeded(requireEqualExtents(
          key, value, 2, "expected key and value to have the same length, got {0} and {1}")));
}

LogicalResult Requirements::emitHeads() {
  Value heads = extent(op.getQuery(), 1), keyHeads = extent(op.getKey(), 1);
  if (failed(requireKeyHeads(kernel, heads, keyHeads)))
    return failure();
  if (!op.getSinks())
    return success();
  return requireEqual(extent(op.getSinks(), 0), heads,
                      "expected one sink per query head, got {0} sinks and {1} heads");
}

LogicalResult Requirements::emitSkip() {
  if (Value below = op.getBelow())
    for (unsigned axis = 0; axis < 3; ++axis)
      if (failed(requireEqualExtents(below, op.getQuery(), axis,
                                     "expected a limit per row of the query, got {0} and {1} "
                                     "along one axis")))
        return failure();
  return success();
}

LogicalResult Requirements::emitTokens() {
  if (segments.isLoneSequence())
    return success();
  Value zero = makeIndex(plan, loc, 0), total = zero;
  for (unsigned segment = 0; segment < segments.size(); ++segment) {
    SmallVector<Value> sizes = sizesOf(segments.getSizes(segment));
    for (Value size : sizes)
      if (failed(kernel.require(compare(arith::CmpIPredicate::sge, size, zero),
                                "expected sizes of a domain to be at least 0, got {0}", {size})))
        return failure();
    total = plan.createOrFold<arith::AddIOp>(loc, total, makeProduct(plan, loc, sizes));
  }
  return success(
      succeeded(requireEqual(total, extent(op.getQuery(), 2),
                             "expected as many queries as the domain has tokens, got {1} queries "
                             "and {0} tokens")) &&
      succeeded(requireEqual(
          total, extent(op.getKey(), 2),
          "expected as many keys as the domain has tokens, got {1} keys and {0} tokens")));
}

LogicalResult Requirements::emitSets() {
  SmallVector<Value> sizes = segments.isLoneSequence()
                                 ? SmallVector<Value>{extent(op.getQuery(), 2)}
                                 : sizesOf(segments.getSizes(querySegment));
  Value queries = kernel.inPlan(op.getQuery());
  if (failed(requireSets(kernel, sets, queries, sizes)))
    return failure();
  for (auto [segment, set] : llvm::enumerate(segments.getSets(querySegment)))
    if (llvm::is_contained(sets, set)) {
      SmallVector<Value> keys = segments.isLoneSequence()
                                    ? SmallVector<Value>{extent(op.getKey(), 2)}
                                    : sizesOf(segments.getSizes(segment));
      if (failed(requireBitmaps(kernel, set, queries, sizes, keys)))
        return failure();
    }
  return success();
}

LogicalResult Requirements::emit() {
  return success(succeeded(emitTensors()) && succeeded(emitHeads()) && succeeded(emitSkip()) &&
                 succeeded(emitTokens()) && succeeded(emitSets()));
}

LogicalResult lacuna::emitRequirements(attn::AttendOp op, const Segments &segments,
                                       unsigned querySegment, ValueRange sets,
                                       KernelBuilder &kernel) {
  return Requirements(op, segments, querySegment, sets, kernel).emit();
}
