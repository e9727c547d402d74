//===- SkipLowering.cpp - tiles that are left out by their scores ---------===//
#include "compiler/Cpu/KernelLowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace lacuna;

/// Writes the largest score of each row into `tops`; NaN where there is one.
static void emitTops(HelperFunctions &helpers, VectorBuilder &builder, Value scores, Value tops,
                     int64_t keys) {
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    int64_t rows = cast<MemRefType>(tops.getType()).getDimSize(0);
    b.loop(rows, helpers.buffers.width, [&](Value row) {
      Value start = b.splat(-std::numeric_limits<float>::infinity());
      Value top =
          b.loop(keys, 1, start, [&](Value key, ValueRange carried) {
             Value score = b.load(arguments[0], {key, row});
             return SmallVector<Value>{arith::MaximumFOp::create(b, carried[0], score).getResult()};
           }).front();
      b.store(top, arguments[1], row);
    });
    return {};
  };
  helpers.call(builder, "tops", Twine(keys), {scores, tops}, {}, write);
}

/// Whether `row` of the tile lets the tile be skipped.
static Value emitAgreement(VectorBuilder &b, tile::SkipOp op, const IRMapping &values, Value query,
                           Value top, Value maximum) {
  using Predicate = arith::CmpFPredicate;
  auto isBelow = [&](Value limit) {
    return arith::CmpFOp::create(b, Predicate::OLT, top, limit).getResult();
  };
  Value nothing = b.scalar(-std::numeric_limits<float>::infinity());
  Value agrees = arith::CmpFOp::create(b, Predicate::OEQ, top, nothing);
  auto add = [&](Value more) { agrees = arith::OrIOp::create(b, agrees, more); };
  if (op.getBelow())
    add(isBelow(memref::LoadOp::create(
        b, values.lookup(op.getBelow()),
        ValueRange{values.lookup(op.getBatch()), values.lookup(op.getHead()), query})));
  if (FloatAttr margin = op.getMarginAttr()) {
    Value distance = b.scalar(margin.getValue().convertToFloat());
    add(isBelow(arith::SubFOp::create(b, maximum, distance)));
  }
  return agrees;
}

/// Sets the scores of rows from `first` on to -inf.
static void emitHide(HelperFunctions &helpers, VectorBuilder &builder, Value scores, Value first,
                     int64_t rows, int64_t keys) {
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    Value nothing = b.scalar(-std::numeric_limits<float>::infinity());
    b.loop(keys, 1, [&](Value key) {
      b.loop(rows, 1, [&](Value row) {
        Value at = arith::AddIOp::create(b, arguments[1], row);
        memref::StoreOp::create(b, nothing, arguments[0], ValueRange{key, at});
      });
    });
    return {};
  };
  helpers.call(builder, "hide", Twine(rows) + "_" + Twine(keys), {scores, first}, {}, write);
}

LogicalResult KernelLowering::lowerSkip(VectorBuilder &b, tile::SkipOp op) {
  auto type = cast<tile::TileType>(op.getScores().getType());
  auto blockRows = static_cast<int64_t>(op.getRows());
  Value scores = consume(b, op, op.getScores());
  Value maximum = find(op, op.getMaximum(), TileLayout::RowsLast);
  if (!scores || !maximum)
    return failure();
  Value tops = allocate(op.getMaximum());
  emitTops(helpers, b, scores, tops, type.getColumns());
  Value size = scalar(op.getQuerySize()), at = scalar(op.getQueryAt());
  Value column = arith::DivUIOp::create(b, scalar(op.getKeyAt()), b.index(type.getColumns()));
  auto truth = [&](bool value) -> Value {
    return arith::ConstantIntOp::create(b, b.getLoc(), value, 1);
  };
  auto visitBlock = [&](Value block, ValueRange carried) -> SmallVector<Value> {
    Value first = arith::MulIOp::create(b, block, b.index(blockRows));
    Value end =
        arith::MinSIOp::create(b, b.offset(first, blockRows), arith::SubIOp::create(b, size, at));
    Value isTaken =
        b.loop(first, end, 1, truth(false), [&](Value row, ValueRange refused) {
           Value top = memref::LoadOp::create(b, tops, row);
           Value largest = memref::LoadOp::create(b, maximum, row);
           Value query = arith::AddIOp::create(b, at, row);
           Value agrees = emitAgreement(b, op, values, query, top, largest);
           Value refuses = arith::XOrIOp::create(b, agrees, truth(true));
           return SmallVector<Value>{arith::OrIOp::create(b, refused[0], refuses).getResult()};
         }).front();
    auto mark = [&] {
      Value one = arith::ConstantIntOp::create(b, b.getLoc(), 1, 8);
      Value row =
          arith::AddIOp::create(b, arith::DivUIOp::create(b, at, b.index(blockRows)), block);
      memref::StoreOp::create(b, one, scalar(op.getTaken()),
                              ValueRange{scalar(op.getBatch()), scalar(op.getHead()), row, column});
    };
    b.branch(isTaken, mark,
             [&] { emitHide(helpers, b, scores, first, blockRows, type.getColumns()); });
    return {arith::OrIOp::create(b, carried[0], isTaken).getResult()};
  };
  taken[op.getResult()] =
      b.loop(b.index(0), b.index(type.getRows() / blockRows), 1, truth(false), visitBlock).front();
  bind(op.getResult(), TileLayout::RowsLast, scores);
  return success();
}

LogicalResult KernelLowering::lowerUnmark(VectorBuilder &b, tile::UnmarkOp op) {
  Value marks = scalar(op.getTaken());
  auto rows = static_cast<int64_t>(op.getRows());
  Value first = arith::DivUIOp::create(b, scalar(op.getQueryAt()), b.index(rows));
  Value end = arith::MinSIOp::create(b, b.offset(first, static_cast<int64_t>(op.getTile()) / rows),
                                     memref::DimOp::create(b, marks, 2));
  Value columns = memref::DimOp::create(b, marks, 3);
  b.loop(first, end, 1, [&](Value row) {
    b.loop(b.index(0), columns, 1, [&](Value column) {
      Value zero = arith::ConstantIntOp::create(b, b.getLoc(), 0, 8);
      memref::StoreOp::create(b, zero, marks,
                              ValueRange{scalar(op.getBatch()), scalar(op.getHead()), row, column});
    });
  });
  return success();
}
