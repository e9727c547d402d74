//===- TileLinear.cpp - verifiers of programs of linear attention ---------===//
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace lacuna::tile;

/// linear-1: memory of a rank, with floats.
static LogicalResult verifyFloats(Operation *op, StringRef what, Type type, int64_t rank) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasRank() && shaped.getRank() == rank &&
      isa<Float16Type, BFloat16Type, Float32Type>(shaped.getElementType()) &&
      !shaped.isDynamicDim(rank - 1))
    return success();
  return op->emitOpError("expected ") << what << " of rank " << rank
                                      << " with a constant number of floats in a row, got " << type;
}

/// States and norms of f32, whose channels belong together.
static LogicalResult verifyStates(Operation *op, Type states, Type norms) {
  if (failed(verifyFloats(op, "states", states, 5)) || failed(verifyFloats(op, "norms", norms, 4)))
    return failure();
  // linear-2
  auto shape = cast<ShapedType>(states), length = cast<ShapedType>(norms);
  if (!shape.getElementType().isF32() || !length.getElementType().isF32() ||
      shape.getDimSize(3) != length.getDimSize(3))
    return op->emitOpError("expected states and norms of f32 with the same key channels, got ")
           << states << " and " << norms;
  return success();
}

/// linear-3: what one program takes is positive.
static LogicalResult verifyExtents(Operation *op, ArrayRef<int64_t> extents) {
  if (llvm::all_of(extents, [](int64_t extent) { return extent >= 1; }))
    return success();
  return op->emitOpError("expected positive extents, got [") << extents << "]";
}

LogicalResult LinearStateOp::verify() {
  if (failed(verifyFloats(*this, "a key", getKey().getType(), 4)) ||
      failed(verifyFloats(*this, "a value", getValue().getType(), 4)) ||
      failed(verifyStates(*this, getStates().getType(), getNorms().getType())))
    return failure();
  return verifyExtents(*this, {static_cast<int64_t>(getSize()), static_cast<int64_t>(getWidth())});
}

LogicalResult LinearPrefixOp::verify() {
  return success(succeeded(verifyStates(*this, getStates().getType(), getNorms().getType())) &&
                 succeeded(verifyStates(*this, getSums().getType(), getNormSums().getType())));
}

LogicalResult LinearFoldOp::verify() {
  if (failed(verifyStates(*this, getStates().getType(), getNorms().getType())) ||
      failed(verifyStates(*this, getSums().getType(), getNormSums().getType())))
    return failure();
  return verifyExtents(*this, static_cast<int64_t>(getBy()));
}

LogicalResult LinearReadOp::verify() {
  if (failed(verifyFloats(*this, "a query", getQuery().getType(), 4)) ||
      failed(verifyStates(*this, getStates().getType(), getNorms().getType())) ||
      failed(verifyFloats(*this, "an output", getOutput().getType(), 4)))
    return failure();
  // linear-4
  if (getTile().size() != 2)
    return emitOpError("expected a tile of rows and value channels, got ")
           << getTile().size() << " extents";
  return verifyExtents(*this, getTile());
}

LogicalResult LinearReadOp::verifyRegions() {
  // linear-5
  Type index = IndexType::get(getContext());
  auto yield = dyn_cast<YieldOp>(getMember().front().back());
  if (getMember().getArgumentTypes() != TypeRange({index, index}) || !yield ||
      yield.getValues().getTypes() != TypeRange(IntegerType::get(getContext(), 1)))
    return emitOpError("expected region member to be a function from a row and a state to i1");
  return success();
}

LogicalResult GatedMergeOp::verify() {
  // linear-6
  if (getOutputs().empty() || getOutputs().size() != getGates().size())
    return emitOpError("expected a gate for each of at least one part, got ")
           << getOutputs().size() << " parts and " << getGates().size() << " gates";
  for (Value part : getOutputs())
    if (failed(verifyFloats(*this, "a part", part.getType(), 4)))
      return failure();
  if (failed(verifyFloats(*this, "a target", getTarget().getType(), 4)))
    return failure();
  return verifyExtents(*this, static_cast<int64_t>(getRows()));
}
