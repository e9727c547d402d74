//===- SelectFormats.cpp - the rules of conversions of lists --------------===//
#include "dialects/Select/SelectInternal.h"

using namespace mlir;
using namespace lacuna::select;

/// number-1: a number that is written down or given, and fits the elements that it bounds.
static LogicalResult verifyNumber(Operation *op, StringRef what, Value value,
                                  std::optional<uint64_t> constant) {
  if (value && constant)
    return op->emitOpError("expected either a constant or a value for ") << what;
  if (auto number = static_cast<int64_t>(constant.value_or(0)); number < 0 || number > INT32_MAX)
    return op->emitOpError("expected ") << what << " from 0 to 2147483647, got " << number;
  return success();
}

/// number-2: the same where there must be one.
static LogicalResult verifyNeeded(Operation *op, StringRef what, Value value,
                                  std::optional<uint64_t> constant) {
  if (!value && !constant)
    return op->emitOpError("expected a number for ") << what;
  return verifyNumber(op, what, value, constant);
}

/// What a number says about an extent at compile time.
static int64_t knownExtent(std::optional<uint64_t> constant) {
  return constant ? static_cast<int64_t>(*constant) : ShapedType::kDynamic;
}

/// The extent of lists of at most `entries`: all of them unless there is a capacity.
static int64_t capacityOf(int64_t entries, Value capacity, std::optional<uint64_t> constant) {
  if (!capacity && !constant)
    return entries;
  return ShapedType::isDynamic(entries) || !constant ? ShapedType::kDynamic
                                                     : std::min(entries, knownExtent(constant));
}

/// cut-1: nothing is cut off without a capacity.
static LogicalResult verifyCut(Operation *op, bool cut, Value capacity,
                               std::optional<uint64_t> constant) {
  if (cut && !capacity && !constant)
    return op->emitOpError("expected a capacity to cut lists to");
  return success();
}

/// choose-1: counts belong to the rows of the ids.
static LogicalResult verifyCounts(Operation *op, RankedTensorType ids, RankedTensorType counts) {
  return verifyShape(op, "counts", counts, ids.getShape().drop_back());
}

LogicalResult ListOfMaskOp::verify() {
  if (failed(verifyNumber(*this, "a capacity", getCapacity(), getCapacityValue())) ||
      failed(verifyCut(*this, getCut(), getCapacity(), getCapacityValue())) ||
      failed(verifyCounts(*this, getIds().getType(), getCounts().getType())))
    return failure();
  RankedTensorType mask = getMask().getType();
  int64_t rows = mask.getDimSize(getTransposed() ? 3 : 2),
          entries = mask.getDimSize(getTransposed() ? 2 : 3);
  return verifyShape(*this, "ids", getIds().getType(),
                     {mask.getDimSize(0), mask.getDimSize(1), rows,
                      capacityOf(entries, getCapacity(), getCapacityValue())});
}

LogicalResult MaskOfListOp::verify() {
  RankedTensorType ids = getIds().getType();
  if (failed(verifyNeeded(*this, "columns", getColumns(), getColumnsValue())) ||
      failed(verifyCounts(*this, ids, getCounts().getType())))
    return failure();
  return verifyShape(
      *this, "a mask", getMask().getType(),
      {ids.getDimSize(0), ids.getDimSize(1), ids.getDimSize(2), knownExtent(getColumnsValue())});
}

LogicalResult ListOfCsrOp::verify() {
  RankedTensorType rowPtr = getRowPtr().getType(), columns = getColumns().getType();
  if (failed(verifyNeeded(*this, "a capacity", getCapacity(), getCapacityValue())) ||
      failed(verifyCounts(*this, getIds().getType(), getCounts().getType())))
    return failure();
  // csr-1
  int64_t pointers = rowPtr.getDimSize(2);
  if (pointers == 0)
    return emitOpError("expected one row pointer more than rows, got ") << rowPtr;
  if (failed(verifyShape(*this, "column ids", columns,
                         {rowPtr.getDimSize(0), rowPtr.getDimSize(1), columns.getDimSize(2)})))
    return failure();
  int64_t rows = ShapedType::isDynamic(pointers) ? pointers : pointers - 1;
  return verifyShape(
      *this, "ids", getIds().getType(),
      {rowPtr.getDimSize(0), rowPtr.getDimSize(1), rows, knownExtent(getCapacityValue())});
}

LogicalResult CsrOfListOp::verify() {
  RankedTensorType ids = getIds().getType();
  if (failed(verifyCounts(*this, ids, getCounts().getType())))
    return failure();
  int64_t rows = ids.getDimSize(2), entries = ids.getDimSize(3);
  bool isKnown = !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(entries);
  int64_t most = isKnown && (entries == 0 || rows <= INT32_MAX / entries) ? rows * entries
                                                                          : ShapedType::kDynamic;
  if (failed(verifyShape(
          *this, "row pointers", getRowPtr().getType(),
          {ids.getDimSize(0), ids.getDimSize(1),
           ShapedType::isDynamic(rows) || rows == INT64_MAX ? ShapedType::kDynamic : rows + 1})))
    return failure();
  return verifyShape(*this, "column ids", getColumns().getType(),
                     {ids.getDimSize(0), ids.getDimSize(1), most});
}

LogicalResult TransposeOp::verify() {
  RankedTensorType ids = getIds().getType();
  if (failed(verifyNeeded(*this, "columns", getColumns(), getColumnsValue())) ||
      failed(verifyNumber(*this, "a capacity", getCapacity(), getCapacityValue())) ||
      failed(verifyCut(*this, getCut(), getCapacity(), getCapacityValue())) ||
      failed(verifyCounts(*this, ids, getCounts().getType())) ||
      failed(verifyCounts(*this, getRowIds().getType(), getRowCounts().getType())))
    return failure();
  return verifyShape(*this, "row ids", getRowIds().getType(),
                     {ids.getDimSize(0), ids.getDimSize(1), knownExtent(getColumnsValue()),
                      capacityOf(ids.getDimSize(2), getCapacity(), getCapacityValue())});
}

//===----------------------------------------------------------------------===//
// Choices among candidates
//===----------------------------------------------------------------------===//

LogicalResult ChildrenOp::verify() {
  RankedTensorType ids = getIds().getType();
  auto by = static_cast<int64_t>(getBy());
  if (failed(verifyBlock(*this, "children of a node", by)) ||
      failed(verifyNeeded(*this, "columns", getColumns(), getColumnsValue())) ||
      failed(verifyCounts(*this, ids, getCounts().getType())) ||
      failed(verifyCounts(*this, getChildIds().getType(), getChildCounts().getType())))
    return failure();
  int64_t entries = ids.getDimSize(3);
  bool isKnown = !ShapedType::isDynamic(entries) && entries <= INT32_MAX / by;
  return verifyShape(*this, "ids of children", getChildIds().getType(),
                     {ids.getDimSize(0), ids.getDimSize(1), ids.getDimSize(2),
                      isKnown ? entries * by : ShapedType::kDynamic});
}

LogicalResult PickOp::verify() {
  RankedTensorType ids = getIds().getType(), places = getPlaces().getType();
  SmallVector<int64_t> shape(ids.getShape());
  shape.back() = places.getDimSize(3);
  if (failed(verifyCounts(*this, ids, getCounts().getType())) ||
      failed(verifyShape(*this, "places", places, shape)))
    return failure();
  for (auto [axis, extent] : llvm::enumerate(places.getShape()))
    if (!ShapedType::isDynamic(extent))
      shape[axis] = extent;
  return verifyShape(*this, "a result", getResult().getType(), shape);
}

LogicalResult WithoutOp::verify() {
  SmallVector<int64_t> shape(getScores().getType().getShape());
  shape.back() = getIds().getType().getDimSize(3);
  if (failed(verifyCounts(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyShape(*this, "ids", getIds().getType(), shape);
}
