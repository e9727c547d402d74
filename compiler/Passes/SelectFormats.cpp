//===- SelectFormats.cpp - kernels that convert lists ---------------------===//
#include "compiler/Passes/SelectLowering.h"

using namespace mlir;
using namespace lacuna;

namespace {
/// A kernel whose grid are the first axes of one of its tensors.
class FormatKernel {
public:
  FormatKernel(Operation *op, StringRef name, ArrayRef<RankedTensorType> outputs, unsigned gridRank)
      : op(op), loc(op->getLoc()), kernel(op, name, op->getOperands(), outputs, gridRank) {}

  Value extent(Value tensor, unsigned axis) {
    return getExtent(kernel.plan, loc, kernel.inPlan(tensor), axis);
  }
  /// A constant or a value of the function, at least 0 and small enough for the elements of lists.
  FailureOr<Value> number(Value value, std::optional<uint64_t> constant, StringRef what) {
    if (constant)
      return makeIndex(kernel.plan, loc, static_cast<int64_t>(*constant));
    Value given = kernel.inPlan(value);
    Value zero = makeIndex(kernel.plan, loc, 0), most = makeIndex(kernel.plan, loc, INT32_MAX);
    Value positive =
        kernel.plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, given, zero);
    if (failed(kernel.require(positive, ("expected " + what + " of at least 0, got {0}").str(),
                              {given})) ||
        failed(requireAtMost(given, most, what)))
      return failure();
    return given;
  }
  /// The extent of lists that can have `entries`.
  FailureOr<Value> capacity(Value entries, Value value, std::optional<uint64_t> constant) {
    if (!value && !constant)
      return entries;
    FailureOr<Value> given = number(value, constant, "a capacity");
    if (failed(given))
      return failure();
    return kernel.plan.createOrFold<arith::MinSIOp>(loc, entries, *given);
  }
  LogicalResult requireAtMost(Value value, Value most, StringRef what) {
    Value fits =
        kernel.plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, value, most);
    return kernel.require(fits, ("expected " + what + " of at most {1}, got {0}").str(),
                          {value, most});
  }
  /// Numbers of rows and columns fit the elements of lists.
  LogicalResult requireSmall(Value value, StringRef what) {
    return requireAtMost(value, makeIndex(kernel.plan, loc, INT32_MAX), what);
  }
  /// The first `axes` extents of two tensors are equal; `rule` says what was found and expected.
  LogicalResult requireRows(Value found, Value expected, StringRef rule, unsigned axes = 3) {
    for (unsigned axis = 0; axis < axes; ++axis)
      if (failed(requireEqualExtents(kernel, found, expected, axis, rule)))
        return failure();
    return success();
  }
  LogicalResult requireCounts(Value ids, Value counts) {
    return requireRows(counts, ids,
                       "expected counts of the lists that ids has, got {0} along an axis of {1}");
  }
  /// The axes of `tensor` that number its rows.
  SmallVector<Value> rowsOf(Value tensor) {
    return {extent(tensor, 0), extent(tensor, 1), extent(tensor, 2)};
  }
  LogicalResult finish(ValueRange grid, ValueRange shapes) {
    replaceByLaunch(op, kernel, grid, shapes);
    return success();
  }

  Operation *op;
  Location loc;
  KernelBuilder kernel;
};
} // namespace

LogicalResult lacuna::lowerListOfMask(select::ListOfMaskOp op, StringRef name) {
  FormatKernel format(op, name, {op.getIds().getType(), op.getCounts().getType()}, /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  Value mask = op.getMask();
  Value rows = format.extent(mask, op.getTransposed() ? 3 : 2),
        entries = format.extent(mask, op.getTransposed() ? 2 : 3);
  if (failed(format.requireSmall(entries, "columns")))
    return failure();
  FailureOr<Value> capacity = format.capacity(entries, op.getCapacity(), op.getCapacityValue());
  if (failed(capacity))
    return failure();
  tile::ListOfMaskOp::create(kernel.body, format.loc, kernel.inBody(mask), kernel.getGrid(0),
                             kernel.getGrid(1), kernel.getGrid(2), op.getCut(), op.getTransposed(),
                             kernel.getOutput(0), kernel.getOutput(1));
  SmallVector<Value> grid = {format.extent(mask, 0), format.extent(mask, 1), rows}, shapes = grid;
  shapes.push_back(*capacity);
  llvm::append_range(shapes, grid);
  return format.finish(grid, shapes);
}

LogicalResult lacuna::lowerMaskOfList(select::MaskOfListOp op, StringRef name) {
  FormatKernel format(op, name, op.getMask().getType(), /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  if (failed(format.requireCounts(op.getIds(), op.getCounts())))
    return failure();
  FailureOr<Value> columns = format.number(op.getColumns(), op.getColumnsValue(), "columns");
  if (failed(columns))
    return failure();
  tile::MaskOfListOp::create(kernel.body, format.loc, kernel.inBody(op.getIds()),
                             kernel.inBody(op.getCounts()), kernel.getGrid(0), kernel.getGrid(1),
                             kernel.getGrid(2), kernel.getOutput(0));
  SmallVector<Value> grid;
  for (unsigned axis = 0; axis < 3; ++axis)
    grid.push_back(format.extent(op.getIds(), axis));
  SmallVector<Value> shapes = grid;
  shapes.push_back(*columns);
  return format.finish(grid, shapes);
}

LogicalResult lacuna::lowerListOfCsr(select::ListOfCsrOp op, StringRef name) {
  FormatKernel format(op, name, {op.getIds().getType(), op.getCounts().getType()}, /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  OpBuilder &plan = kernel.plan;
  if (failed(format.requireRows(op.getColumns(), op.getRowPtr(),
                                "expected column ids of the lists that row pointers have, got "
                                "{0} along an axis of {1}",
                                /*axes=*/2)))
    return failure();
  Value one = makeIndex(plan, format.loc, 1), pointers = format.extent(op.getRowPtr(), 2);
  Value some =
      plan.createOrFold<arith::CmpIOp>(format.loc, arith::CmpIPredicate::sge, pointers, one);
  if (failed(
          kernel.require(some, "expected one row pointer more than rows, got {0}", {pointers})) ||
      failed(format.requireSmall(format.extent(op.getColumns(), 2), "column ids")))
    return failure();
  FailureOr<Value> capacity = format.number(op.getCapacity(), op.getCapacityValue(), "a capacity");
  if (failed(capacity))
    return failure();
  tile::ListOfCsrOp::create(kernel.body, format.loc, kernel.inBody(op.getRowPtr()),
                            kernel.inBody(op.getColumns()), kernel.getGrid(0), kernel.getGrid(1),
                            kernel.getGrid(2), op.getCut(), kernel.getOutput(0),
                            kernel.getOutput(1));
  SmallVector<Value> grid = {format.extent(op.getRowPtr(), 0), format.extent(op.getRowPtr(), 1),
                             plan.createOrFold<arith::SubIOp>(format.loc, pointers, one)};
  SmallVector<Value> shapes = grid;
  shapes.push_back(*capacity);
  llvm::append_range(shapes, grid);
  return format.finish(grid, shapes);
}

LogicalResult lacuna::lowerCsrOfList(select::CsrOfListOp op, StringRef name) {
  FormatKernel format(op, name, {op.getRowPtr().getType(), op.getColumns().getType()},
                      /*gridRank=*/2);
  KernelBuilder &kernel = format.kernel;
  OpBuilder &plan = kernel.plan;
  if (failed(format.requireCounts(op.getIds(), op.getCounts())))
    return failure();
  Value rows = format.extent(op.getIds(), 2);
  Value entries = plan.createOrFold<arith::MulIOp>(format.loc, rows, format.extent(op.getIds(), 3));
  if (failed(format.requireSmall(entries, "entries of the rows together")))
    return failure();
  tile::CsrOfListOp::create(kernel.body, format.loc, kernel.inBody(op.getIds()),
                            kernel.inBody(op.getCounts()), kernel.getGrid(0), kernel.getGrid(1),
                            kernel.getOutput(0), kernel.getOutput(1));
  SmallVector<Value> grid = {format.extent(op.getIds(), 0), format.extent(op.getIds(), 1)};
  SmallVector<Value> shapes = grid;
  shapes.push_back(
      plan.createOrFold<arith::AddIOp>(format.loc, rows, makeIndex(plan, format.loc, 1)));
  llvm::append_range(shapes, grid);
  shapes.push_back(entries);
  return format.finish(grid, shapes);
}

//===----------------------------------------------------------------------===//
// Choices among candidates
//===----------------------------------------------------------------------===//

LogicalResult lacuna::lowerChildren(select::ChildrenOp op, StringRef name) {
  FormatKernel format(op, name, {op.getChildIds().getType(), op.getChildCounts().getType()},
                      /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  if (failed(format.requireCounts(op.getIds(), op.getCounts())))
    return failure();
  FailureOr<Value> columns = format.number(op.getColumns(), op.getColumnsValue(), "columns");
  if (failed(columns))
    return failure();
  auto by = static_cast<int64_t>(op.getBy());
  Value capacity = kernel.plan.createOrFold<arith::MulIOp>(
      format.loc, format.extent(op.getIds(), 3), makeIndex(kernel.plan, format.loc, by));
  if (failed(format.requireSmall(capacity, "children of a list")))
    return failure();
  Value most = op.getColumns() ? kernel.inBody(op.getColumns())
                               : makeIndex(kernel.body, format.loc,
                                           static_cast<int64_t>(*op.getColumnsValue()));
  tile::ChildrenOp::create(kernel.body, format.loc, kernel.inBody(op.getIds()),
                           kernel.inBody(op.getCounts()), kernel.getGrid(0), kernel.getGrid(1),
                           kernel.getGrid(2), by, most, kernel.getOutput(0), kernel.getOutput(1));
  SmallVector<Value> grid = format.rowsOf(op.getIds()), shapes = grid;
  shapes.push_back(capacity);
  llvm::append_range(shapes, grid);
  return format.finish(grid, shapes);
}

LogicalResult lacuna::lowerPick(select::PickOp op, StringRef name) {
  FormatKernel format(op, name, op.getResult().getType(), /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  if (failed(format.requireCounts(op.getIds(), op.getCounts())) ||
      failed(format.requireRows(op.getPlaces(), op.getIds(),
                                "expected places in the lists that ids has, got {0} along an "
                                "axis of {1}")))
    return failure();
  tile::PickOp::create(kernel.body, format.loc, kernel.inBody(op.getIds()),
                       kernel.inBody(op.getCounts()), kernel.inBody(op.getPlaces()),
                       kernel.getGrid(0), kernel.getGrid(1), kernel.getGrid(2),
                       kernel.getOutput(0));
  SmallVector<Value> grid = format.rowsOf(op.getPlaces()), shapes = grid;
  shapes.push_back(format.extent(op.getPlaces(), 3));
  return format.finish(grid, shapes);
}

LogicalResult lacuna::lowerWithout(select::WithoutOp op, StringRef name) {
  FormatKernel format(op, name, op.getResult().getType(), /*gridRank=*/3);
  KernelBuilder &kernel = format.kernel;
  if (failed(format.requireCounts(op.getIds(), op.getCounts())) ||
      failed(format.requireRows(op.getIds(), op.getScores(),
                                "expected a list for each row of scores, got {0} along an axis "
                                "of {1}")))
    return failure();
  tile::WithoutOp::create(kernel.body, format.loc, kernel.inBody(op.getScores()),
                          kernel.inBody(op.getIds()), kernel.inBody(op.getCounts()),
                          kernel.getGrid(0), kernel.getGrid(1), kernel.getGrid(2),
                          kernel.getOutput(0));
  SmallVector<Value> grid = format.rowsOf(op.getScores()), shapes = grid;
  shapes.push_back(format.extent(op.getScores(), 3));
  return format.finish(grid, shapes);
}

//===----------------------------------------------------------------------===//
// Transposed lists
//===----------------------------------------------------------------------===//

void lacuna::expandTranspose(select::TransposeOp op) {
  // Rows of a map are as easy to read as its columns.
  OpBuilder builder(op);
  ArrayRef<int64_t> rows = op.getIds().getType().getShape();
  int64_t columns = op.getRowIds().getType().getDimSize(2);
  if (std::optional<uint64_t> known = op.getColumnsValue())
    columns = static_cast<int64_t>(*known);
  auto type = RankedTensorType::get({rows[0], rows[1], rows[2], columns}, builder.getI8Type());
  Value mask = select::MaskOfListOp::create(builder, op.getLoc(), type, op.getIds(), op.getCounts(),
                                            op.getColumns(), op.getColumnsValueAttr());
  auto lists = select::ListOfMaskOp::create(
      builder, op.getLoc(), op.getRowIds().getType(), op.getRowCounts().getType(), mask,
      op.getCapacity(), op.getCapacityValueAttr(), op.getCut(), /*transposed=*/true);
  op->replaceAllUsesWith(lists->getResults());
  op->erase();
}
