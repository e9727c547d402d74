//===- MergeLowering.cpp - the kernel of one attn.merge -------------------===//
#include "compiler/Passes/AttendLowering.h"

using namespace mlir;
using namespace lacuna;

/// Rows that one program merges.
static constexpr int64_t mergeRows = 64;

/// All parts must have the run-time shape of the first.
static LogicalResult requireEqualShapes(attn::MergeOp op, KernelBuilder &kernel) {
  Location loc = op.getLoc();
  OpBuilder &plan = kernel.plan;
  Value first = op.getOutputs().front();
  auto type = cast<RankedTensorType>(first.getType());
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    Value expected = getExtent(plan, loc, kernel.inPlan(first), axis);
    for (Value part : op->getOperands().drop_front()) {
      if (part == first)
        continue;
      Value found = getExtent(plan, loc, kernel.inPlan(part), axis);
      Value equal = arith::CmpIOp::create(plan, loc, arith::CmpIPredicate::eq, expected, found);
      if (failed(kernel.require(equal,
                                "expected all parts of a merge to have one shape, got {0} and {1}",
                                {expected, found})))
        return failure();
    }
  }
  return success();
}

LogicalResult lacuna::lowerMerge(attn::MergeOp op, StringRef name) {
  Location loc = op.getLoc();
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  auto lseType = cast<RankedTensorType>(op.getLse().getType());
  KernelBuilder kernel(op, name, op->getOperands(), {outputType, lseType}, /*gridRank=*/3);
  if (failed(requireEqualShapes(op, kernel)))
    return failure();

  OpBuilder &plan = kernel.plan;
  SmallVector<Value> shape;
  for (unsigned axis = 0; axis < 4; ++axis)
    shape.push_back(getExtent(plan, loc, kernel.inPlan(op.getOutputs().front()), axis));
  Value up = arith::AddIOp::create(plan, loc, shape[2], makeIndex(plan, loc, mergeRows - 1));
  Value tiles = arith::DivUIOp::create(plan, loc, up, makeIndex(plan, loc, mergeRows));
  SmallVector<Value> grid = {shape[0], shape[1], tiles};
  shape.append({shape[0], shape[1], shape[2]});

  OpBuilder &body = kernel.body;
  Value batch = kernel.getGrid(0), head = kernel.getGrid(1);
  Value size = getExtent(body, loc, kernel.inBody(op.getOutputs().front()), 2);
  Value at = arith::MulIOp::create(body, loc, kernel.getGrid(2), makeIndex(body, loc, mergeRows));
  Value base = makeIndex(body, loc, 0);
  ArrayRef<int64_t> box = mergeRows;
  auto load = [&](Value source, ArrayRef<int64_t> shape) -> Value {
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    return tile::LoadOp::create(body, loc, tile::TileType::get(op.getContext(), shape, element),
                                kernel.inBody(source), batch, head, at, size, base, box);
  };
  int64_t channels = outputType.getDimSize(3);
  SmallVector<Value> outputs, lses;
  for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses())) {
    outputs.push_back(load(output, {mergeRows, channels}));
    lses.push_back(load(lse, {mergeRows}));
  }
  Type f32 = body.getF32Type();
  auto merged = tile::MergeOp::create(
      body, loc, tile::TileType::get(op.getContext(), {mergeRows, channels}, f32),
      tile::TileType::get(op.getContext(), {mergeRows}, f32), outputs, lses);
  tile::StoreOp::create(body, loc, merged.getOutput(), kernel.getOutput(0), batch, head, at, size,
                        base, box);
  tile::StoreOp::create(body, loc, merged.getLse(), kernel.getOutput(1), batch, head, at, size,
                        base, box);

  kernel.finish(grid, shape);
  op->replaceAllUsesWith(kernel.launch({}));
  op->erase();
  return success();
}
