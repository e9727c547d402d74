//===- TileOpLowering.cpp - tile ops as calls and loops over buffers ------===//
#include "compiler/Cpu/KernelLowering.h"
#include "compiler/Cpu/PairRegions.h"

#include <limits>

using namespace mlir;
using namespace lacuna;

static constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

/// The layout in which an operand is read.
static TileLayout getLayout(OpOperand &use) {
  Operation *user = use.getOwner();
  bool channelsLast = (isa<tile::DotOp>(user) && use.getOperandNumber() == 1) ||
                      (isa<tile::SoftmaxStepOp>(user) && use.getOperandNumber() == 1);
  return channelsLast ? TileLayout::ChannelsLast : TileLayout::RowsLast;
}

LogicalResult KernelLowering::lowerLoad(VectorBuilder &b, tile::LoadOp op) {
  auto element = cast<RankedTensorType>(op.getSource().getType()).getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isF64())
    return op.emitOpError("expected elements of type f16, bf16, f32 or f64, got ") << element;
  SmallVector<Value> at = scalars(op.getAt()), sizes = scalars(op.getSizes());
  HelperFunctions::Box box = {scalar(op.getBatch()), scalar(op.getHead()), at, sizes,
                              scalar(op.getBase()),  op.getBox()};
  for (OpOperand &use : op->getUses()) {
    TileLayout layout = getLayout(use);
    if (tiles.contains({op.getResult(), int(layout)}))
      continue;
    MemRefType type = helpers.buffers.getType(op.getType(), layout);
    Value buffer = allocate(type, op.getLoc());
    helpers.callLoad(b, scalar(op.getSource()), box, buffer, layout);
    bind(op.getResult(), layout, buffer);
  }
  return success();
}

LogicalResult KernelLowering::lowerDot(VectorBuilder &b, tile::DotOp op) {
  Value query = find(op, op.getQuery(), TileLayout::RowsLast);
  Value key = find(op, op.getKey(), TileLayout::ChannelsLast);
  if (!query || !key)
    return failure();
  Value scores = allocate(op.getResult());
  int64_t channels = cast<tile::TileType>(op.getQuery().getType()).getColumns();
  helpers.callDot(b, query, key, scores, channels, op.getScale().convertToFloat());
  bind(op.getResult(), TileLayout::RowsLast, scores);
  return success();
}

template <typename OpT>
static PairRegion::Axes getAxes(OpT op, llvm::function_ref<SmallVector<Value>(ValueRange)> map) {
  return {map(op.getQueryAt()),  map(op.getQuerySizes()), map(op.getKeyAt()),
          map(op.getKeySizes()), op.getQueryBox(),        op.getKeyBox()};
}

LogicalResult KernelLowering::lowerScore(VectorBuilder &b, tile::ScoreOp op) {
  Value scores = consume(b, op, op.getScores());
  if (!scores)
    return failure();
  bind(op.getResult(), TileLayout::RowsLast, scores);
  PairRegion region(helpers.buffers, getAxes(op, [&](ValueRange v) { return scalars(v); }),
                    op.getBody(), values);
  return region.emitScore(b, scores, scalar(op.getBatch()), scalar(op.getHead()),
                          scalar(op.getQueryBase()), scalar(op.getKeyBase()));
}

LogicalResult KernelLowering::lowerMask(VectorBuilder &b, tile::MaskOp op) {
  if (op.getPredicate().empty())
    return op.emitOpError("expected a predicate, which lacuna-expand-masks writes");
  Value scores = consume(b, op, op.getScores());
  if (!scores)
    return failure();
  bind(op.getResult(), TileLayout::RowsLast, scores);
  PairRegion region(helpers.buffers, getAxes(op, [&](ValueRange v) { return scalars(v); }),
                    op.getPredicate(), values);
  return region.emitMask(b, scores);
}

LogicalResult KernelLowering::lowerClassify(VectorBuilder &b, tile::ClassifyOp op) {
  if (op.getPredicate().empty())
    return op.emitOpError("expected a predicate, which lacuna-expand-masks writes");
  auto count = [](ArrayRef<int64_t> box) {
    int64_t tokens = 1;
    for (int64_t extent : box)
      tokens *= extent;
    return tokens;
  };
  auto type = tile::TileType::get(op.getContext(), {count(op.getQueryBox()), count(op.getKeyBox())},
                                  b.getF32Type());
  Value scores = allocate(helpers.buffers.getType(type, TileLayout::RowsLast), op.getLoc());
  helpers.callFill(b, scores, 0);
  PairRegion region(helpers.buffers, getAxes(op, [&](ValueRange v) { return scalars(v); }),
                    op.getPredicate(), values);
  if (failed(region.emitMask(b, scores)))
    return failure();
  values.map(op.getResult(), region.emitClass(b, scores));
  return success();
}

LogicalResult KernelLowering::lowerBegin(VectorBuilder &b, tile::BeginOp op) {
  const float starts[] = {0, minusInfinity, 0};
  for (auto [result, start] : llvm::zip_equal(op.getResults(), starts)) {
    Value buffer = allocate(result);
    helpers.callFill(b, buffer, start);
    bind(result, TileLayout::RowsLast, buffer);
  }
  return success();
}

LogicalResult KernelLowering::lowerStep(VectorBuilder &b, tile::SoftmaxStepOp op) {
  Value scores = consume(b, op, op.getScores());
  Value values = find(op, op.getValues(), TileLayout::ChannelsLast);
  if (!scores || !values)
    return failure();
  SmallVector<Value> state;
  for (auto [value, result] : llvm::zip_equal(op->getOperands().drop_front(2), op->getResults())) {
    state.push_back(consume(b, op, value));
    if (!state.back())
      return failure();
    bind(result, TileLayout::RowsLast, state.back());
  }
  int64_t keys = cast<tile::TileType>(op.getScores().getType()).getColumns();
  auto step = [&] {
    Value finite = helpers.callIsFinite(b, values);
    helpers.callStep(b, scores, values, finite, state[0], state[1], state[2], keys);
  };
  if (Value isTaken = taken.lookup(op.getScores()))
    b.branch(isTaken, step);
  else
    step();
  return success();
}

LogicalResult KernelLowering::lowerFinish(VectorBuilder &b, tile::FinishOp op) {
  Value accumulator = consume(b, op, op.getAccumulator());
  Value maximum = find(op, op.getMaximum(), TileLayout::RowsLast);
  Value sum = find(op, op.getSum(), TileLayout::RowsLast);
  if (!accumulator || !maximum || !sum)
    return failure();
  Value lse = allocate(op.getLse());
  Value sink = op.getSink() ? scalar(op.getSink()) : Value();
  helpers.callFinish(b, accumulator, maximum, sum, sink, lse);
  bind(op.getOutput(), TileLayout::RowsLast, accumulator);
  bind(op.getLse(), TileLayout::RowsLast, lse);
  return success();
}

LogicalResult KernelLowering::lowerMerge(VectorBuilder &b, tile::MergeOp op) {
  SmallVector<Value> outputs, lses;
  for (Value part : op.getOutputs())
    outputs.push_back(find(op, part, TileLayout::RowsLast));
  for (Value part : op.getLses())
    lses.push_back(find(op, part, TileLayout::RowsLast));
  if (llvm::is_contained(outputs, Value()) || llvm::is_contained(lses, Value()))
    return failure();
  Value output = allocate(op.getOutput()), lse = allocate(op.getLse());
  helpers.callMerge(b, outputs, lses, output, lse);
  bind(op.getOutput(), TileLayout::RowsLast, output);
  bind(op.getLse(), TileLayout::RowsLast, lse);
  return success();
}

LogicalResult KernelLowering::lowerStore(VectorBuilder &b, tile::StoreOp op) {
  auto element = cast<MemRefType>(op.getTarget().getType()).getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isF64())
    return op.emitOpError("expected elements of type f16, bf16, f32 or f64, got ") << element;
  Value tile = find(op, op.getTile(), TileLayout::RowsLast);
  if (!tile)
    return failure();
  SmallVector<Value> at = scalars(op.getAt()), sizes = scalars(op.getSizes());
  HelperFunctions::Box box = {scalar(op.getBatch()), scalar(op.getHead()), at, sizes,
                              scalar(op.getBase()),  op.getBox()};
  helpers.callStore(b, tile, scalar(op.getTarget()), box);
  return success();
}
