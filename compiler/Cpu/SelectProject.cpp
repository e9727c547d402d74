//===- SelectProject.cpp - projections on vectors --------------------------===//
//
// The matrix lies in a buffer of f32 with features last, which vectors run over.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/KernelLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lacuna;

/// Rows that share what is loaded of the matrix.
static constexpr int64_t sharedRows = 4;

/// Some features of one matrix, as f32; columns of `buffer` behind them stay what they are.
static void loadMatrix(VectorBuilder &b, Value weights, Value matrix, Value column, Value columns,
                       Value buffer) {
  auto type = cast<MemRefType>(weights.getType());
  b.loop(type.getDimSize(1), 1, [&](Value channel) {
    b.loop(b.index(0), columns, 1, [&](Value place) {
      Value x =
          memref::LoadOp::create(b, weights, ValueRange{matrix, channel, b.add(column, place)});
      if (!type.getElementType().isF32())
        x = arith::ExtFOp::create(b, b.getF32Type(), x);
      memref::StoreOp::create(b, x, buffer, ValueRange{channel, place});
    });
  });
}

/// Products of `sharedRows` rows with the matrix.
static void multiplyRows(VectorBuilder &b, Value tokens, Value matrix, Value sums, int64_t channels,
                         int64_t width) {
  b.loop(width, b.getWidth(), [&](Value place) {
    SmallVector<Value> start(sharedRows, b.splat(0));
    SmallVector<Value> results = b.loop(channels, 1, start, [&](Value channel, ValueRange carried) {
      Value y = b.load(matrix, {channel, place});
      SmallVector<Value> next;
      for (auto [row, sum] : llvm::enumerate(carried)) {
        Value x = memref::LoadOp::create(b, tokens,
                                         ValueRange{b.index(static_cast<int64_t>(row)), channel});
        next.push_back(b.fma(b.broadcast(x), y, sum));
      }
      return next;
    });
    for (auto [row, sum] : llvm::enumerate(results))
      b.store(sum, sums, {b.index(static_cast<int64_t>(row)), place});
  });
}

LogicalResult KernelLowering::lowerProject(VectorBuilder &b, tile::ProjectOp op) {
  Value source = scalar(op.getSource()), weights = scalar(op.getWeights());
  Value target = scalar(op.getTarget()), batch = scalar(op.getBatch()), head = scalar(op.getHead());
  Value start = scalar(op.getRow()), column = scalar(op.getColumn()), zero = b.index(0);
  auto type = cast<MemRefType>(weights.getType());
  int64_t channels = type.getDimSize(1), rows = op.getTile()[0], width = op.getTile()[1];
  int64_t padded = helpers.buffers.padChannels(width);
  auto buffer = [&](ArrayRef<int64_t> shape) {
    return allocate(MemRefType::get(shape, b.getF32Type()), op.getLoc());
  };
  Value matrix = buffer({channels, padded}), sums = buffer({sharedRows, padded});
  Value tokens =
      buffer({helpers.buffers.padBlock(sharedRows), helpers.buffers.padChannels(channels)});

  // Neighbouring heads share a matrix.
  Value one = b.index(1);
  Value matrices = arith::MaxUIOp::create(b, memref::DimOp::create(b, weights, 0), one);
  Value share = arith::DivUIOp::create(b, memref::DimOp::create(b, source, 1), matrices);
  Value which = arith::DivUIOp::create(b, head, arith::MaxUIOp::create(b, share, one));
  Value left = arith::SubIOp::create(b, b.index(type.getDimSize(2)), column);
  Value columns = arith::MinSIOp::create(b, left, b.index(width));
  helpers.callFill(b, matrix, 0);
  loadMatrix(b, weights, which, column, columns, matrix);

  Value length = memref::DimOp::create(b, source, 2);
  Value end = arith::MinSIOp::create(b, b.add(start, b.index(rows)), length);
  Type element = cast<MemRefType>(target.getType()).getElementType();
  b.loop(start, end, sharedRows, [&](Value at) {
    const int64_t box[] = {sharedRows};
    HelperFunctions::Box place = {batch, head, at, length, zero, box};
    helpers.callLoad(b, source, place, tokens, TileLayout::ChannelsLast);
    multiplyRows(b, tokens, matrix, sums, channels, padded);
    Value count = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, at).getResult(),
                                         b.index(sharedRows));
    b.loop(zero, count, 1, [&](Value row) {
      b.loop(zero, columns, 1, [&](Value feature) {
        Value x = memref::LoadOp::create(b, sums, ValueRange{row, feature});
        if (!element.isF32())
          x = arith::TruncFOp::create(b, element, x);
        memref::StoreOp::create(b, x, target,
                                ValueRange{batch, head, b.add(at, row), b.add(column, feature)});
      });
    });
  });
  return success();
}
