//===- SelectScores.cpp - scores of blocks and of lists -------------------===//
//
// Query rows come in groups whose scores one vector program computes, as in
// attention: buffers of keys x rows. Reductions over keys run on vectors of
// rows, reductions over rows on one number after the other.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/KernelLowering.h"
#include "compiler/Cpu/PairRegions.h"
#include "compiler/Cpu/ScalarLowering.h"
#include "compiler/Cpu/SelectReducer.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace lacuna;
using select::ScoreKind;

static constexpr float infinity = std::numeric_limits<float>::infinity();

namespace {
/// How many rows or keys are taken at once, and how many blocks they are. A panel is whole blocks;
/// a block that is longer than a step is a panel of its own, in several steps.
struct Panel {
  Panel(int64_t block, int64_t tile, int64_t longest)
      : extent(block >= longest ? block : std::min(tile, longest - longest % block)),
        step(std::min(extent, longest)), block(std::min(block, extent)), blocks(extent / block) {}

  int64_t extent, step, block, blocks;
  /// Rows or keys of one block within a step.
  int64_t perStep() const { return std::min(block, step); }
};
} // namespace

/// Buffers and numbers of one tile of scores, and the walk over it.
class ScoreTile {
public:
  using Allocate = llvm::function_ref<Value(MemRefType)>;
  ScoreTile(VectorBuilder &builder, HelperFunctions &helpers, const IRMapping &values,
            tile::ScoreBlocksOp op, Allocate allocate);
  LogicalResult write();

private:
  Value scalar(Value value) { return values.lookup(value); }
  Value dim(Value buffer, int64_t axis) { return memref::DimOp::create(b, buffer, axis); }
  Value least(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  MemRefType matrix(int64_t rows, int64_t columns, TileLayout layout) {
    auto type = tile::TileType::get(b.getContext(), {rows, columns}, b.getF32Type());
    return helpers.buffers.getType(type, layout);
  }
  int64_t lanes() { return helpers.buffers.padRows(rows.step); }

  /// One panel of rows with one panel of keys.
  void writePanel(Value row, Value key);
  void addHead(Value head, Value row, Value rowEnd, Value key, Value keyEnd);
  void addRows(Value head, Value row, Value rowEnd, Value key, Value keyEnd);
  void addKeys(Value head, Value keyHead, Value row, Value rowEnd, Value key, Value keyEnd);
  void computePairs(Value keyHead, Value key, Value keyEnd);
  void changePairs(Value head, Value row, Value rowEnd, Value key, Value keyEnd);
  void reduceKeys(Value key, Value keyEnd);
  void reduceRows(Value row, Value rowEnd);
  void store(Value row, Value rowEnd, Value key, Value keyEnd);
  void load(Value source, Value head, Value at, Value end, int64_t count, Value target,
            TileLayout layout);

  VectorBuilder &b;
  HelperFunctions &helpers;
  const IRMapping &values;
  tile::ScoreBlocksOp op;
  Panel rows, keys;
  Reducer rowReducer, keyReducer;
  Value query, key, companion, lse, weights, target, batch, zero;
  Value queryRows, keyRows;
  /// f32 buffers: rows and keys of a step, its scores and which of them are dead.
  Value queryTile, keyTile, companionTile, scores, dead, lseTile, weightTile;
  /// States of reductions, per block of keys and row, and per block of rows and block of keys.
  SmallVector<Value> keyState, rowState;
  LogicalResult result = success();
};

/// Longest steps: what keeps buffers in the cache.
static constexpr int64_t mostRows = 64, mostKeys = 64;

ScoreTile::ScoreTile(VectorBuilder &builder, HelperFunctions &helpers, const IRMapping &values,
                     tile::ScoreBlocksOp op, Allocate allocate)
    : b(builder), helpers(helpers), values(values), op(op),
      rows(static_cast<int64_t>(op.getRows()), op.getTile()[0], mostRows),
      keys(op.getColumns() == 0 ? mostKeys : static_cast<int64_t>(op.getColumns()),
           op.getColumns() == 0 ? mostKeys : op.getTile()[1], mostKeys),
      rowReducer(op.getRowReduction()), keyReducer(op.getColumnReduction()),
      query(scalar(op.getQuery())), key(scalar(op.getKey())), target(scalar(op.getTarget())),
      batch(scalar(op.getBatch())), zero(b.index(0)) {
  if (op.getColumns() == 0)
    keyReducer = Reducer(select::Reduction::LogSumExp);
  queryRows = dim(query, 2);
  keyRows = dim(key, 2);
  int64_t channels = cast<MemRefType>(query.getType()).getDimSize(3);
  MemRefType rowType = MemRefType::get({lanes()}, b.getF32Type());
  queryTile = allocate(matrix(rows.step, channels, TileLayout::RowsLast));
  keyTile = allocate(matrix(keys.step, channels, TileLayout::ChannelsLast));
  scores = allocate(matrix(rows.step, keys.step, TileLayout::RowsLast));
  dead = allocate(matrix(rows.step, keys.step, TileLayout::RowsLast));
  if (op.getCompanion()) {
    companion = scalar(op.getCompanion());
    companionTile = allocate(matrix(keys.step, cast<MemRefType>(companion.getType()).getDimSize(3),
                                    TileLayout::ChannelsLast));
  }
  if (op.getLse()) {
    lse = scalar(op.getLse());
    lseTile = allocate(rowType);
  }
  if (op.getWeights()) {
    weights = scalar(op.getWeights());
    weightTile = allocate(rowType);
  }
  for (int part = 0; part < Reducer::parts; ++part) {
    keyState.push_back(allocate(MemRefType::get({keys.blocks, lanes()}, b.getF32Type())));
    rowState.push_back(allocate(MemRefType::get({rows.blocks, keys.blocks}, b.getF32Type())));
  }
}

void ScoreTile::load(Value source, Value head, Value at, Value end, int64_t count, Value buffer,
                     TileLayout layout) {
  HelperFunctions::Box box = {batch, head, at, end, zero, count};
  helpers.callLoad(b, source, box, buffer, layout);
}

LogicalResult ScoreTile::write() {
  Value firstRow = scalar(op.getRowAt()), firstKey = scalar(op.getColumnAt());
  Value lastRow = least(queryRows, b.offset(firstRow, op.getTile()[0]));
  if (op.getColumns() == 0) {
    b.loop(firstRow, lastRow, rows.extent, [&](Value row) { writePanel(row, zero); });
    return result;
  }
  Value lastKey = least(keyRows, b.offset(firstKey, op.getTile()[1]));
  b.loop(firstRow, lastRow, rows.extent, [&](Value row) {
    b.loop(firstKey, lastKey, keys.extent, [&](Value key) { writePanel(row, key); });
  });
  return result;
}

void ScoreTile::writePanel(Value row, Value key) {
  Value rowEnd = least(queryRows, b.offset(row, rows.extent));
  Value keyEnd = op.getColumns() == 0 ? keyRows : least(keyRows, b.offset(key, keys.extent));
  b.loop(rows.blocks, 1, [&](Value rowBlock) {
    b.loop(keys.blocks, 1, [&](Value keyBlock) {
      for (auto [buffer, start] : llvm::zip_equal(rowState, rowReducer.start()))
        memref::StoreOp::create(b, b.scalar(start), buffer, ValueRange{rowBlock, keyBlock});
    });
  });
  auto group = static_cast<int64_t>(op.getGroup());
  Value firstHead = arith::MulIOp::create(b, scalar(op.getHead()), b.index(group));
  b.loop(group, 1,
         [&](Value member) { addHead(b.add(firstHead, member), row, rowEnd, key, keyEnd); });
  store(row, rowEnd, key, keyEnd);
}

void ScoreTile::addHead(Value head, Value row, Value rowEnd, Value key, Value keyEnd) {
  b.loop(row, rowEnd, rows.step, [&](Value start) { addRows(head, start, rowEnd, key, keyEnd); });
}

void ScoreTile::addRows(Value head, Value row, Value rowEnd, Value key, Value keyEnd) {
  load(query, head, row, rowEnd, rows.step, queryTile, TileLayout::RowsLast);
  if (lse)
    load(lse, head, row, rowEnd, rows.step, lseTile, TileLayout::RowsLast);
  if (weights)
    load(weights, head, row, rowEnd, rows.step, weightTile, TileLayout::RowsLast);
  for (auto [buffer, start] : llvm::zip_equal(keyState, keyReducer.start()))
    helpers.callFill(b, buffer, start);
  // Query heads share key heads; where there is none, nothing runs.
  Value share = arith::DivUIOp::create(b, dim(query, 1),
                                       arith::MaxUIOp::create(b, dim(this->key, 1), b.index(1)));
  Value keyHead = arith::DivUIOp::create(b, head, arith::MaxUIOp::create(b, share, b.index(1)));
  b.loop(key, keyEnd, keys.step,
         [&](Value start) { addKeys(head, keyHead, row, rowEnd, start, keyEnd); });
  reduceRows(row, rowEnd);
}

void ScoreTile::addKeys(Value head, Value keyHead, Value row, Value rowEnd, Value key,
                        Value keyEnd) {
  computePairs(keyHead, key, keyEnd);
  changePairs(head, row, rowEnd, key, keyEnd);
  reduceKeys(key, keyEnd);
}

void ScoreTile::computePairs(Value keyHead, Value at, Value keyEnd) {
  load(key, keyHead, at, keyEnd, keys.step, keyTile, TileLayout::ChannelsLast);
  if (companion)
    load(companion, keyHead, at, keyEnd, keys.step, companionTile, TileLayout::ChannelsLast);
  int64_t channels = cast<MemRefType>(query.getType()).getDimSize(3);
  float scale = op.getScale().convertToFloat();
  if (op.getKind() == ScoreKind::Dot)
    helpers.callDot(b, queryTile, keyTile, scores, channels, scale);
  else
    callPairScores(helpers, b, op.getKind(), queryTile, keyTile, companionTile, scores, channels,
                   scale);
}

void ScoreTile::changePairs(Value head, Value row, Value rowEnd, Value at, Value keyEnd) {
  const int64_t rowBox[] = {rows.step}, keyBox[] = {keys.step};
  PairRegion::Axes axes = {{row}, {rowEnd}, {at}, {keyEnd}, rowBox, keyBox};
  helpers.callFill(b, dead, 0);
  if (!op.getLive().empty() && succeeded(result))
    result = PairRegion(helpers.buffers, axes, op.getLive(), values).emitLive(b, dead, head);
  if (!op.getFunction().empty() && succeeded(result))
    result = PairRegion(helpers.buffers, axes, op.getFunction(), values)
                 .emitScore(b, scores, batch, head, zero, zero);
  if (!lse && !weights)
    return;
  b.loop(lanes(), b.getWidth(), [&](Value lane) {
    Value shift = lse ? b.load(lseTile, lane) : Value();
    Value weight = weights ? b.load(weightTile, lane) : Value();
    b.loop(keys.step, 1, [&](Value pair) {
      Value score = b.load(scores, {pair, lane});
      if (lse) {
        // Of an attention that saw nothing every share is 0.
        Value isNothing =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, shift, b.splat(-infinity));
        Value difference = arith::SubFOp::create(b, score, shift);
        Value share = math::ExpOp::create(b, difference);
        score = arith::SelectOp::create(b, isNothing, b.splat(0), share);
      }
      if (weights)
        score = arith::MulFOp::create(b, weight, score);
      b.store(score, scores, {pair, lane});
    });
  });
}

void ScoreTile::reduceKeys(Value at, Value keyEnd) {
  Value left = arith::SubIOp::create(b, keyEnd, at);
  Value count = least(left, b.index(keys.step));
  b.loop(keys.blocks, 1, [&](Value block) {
    Value first = arith::MulIOp::create(b, block, b.index(keys.perStep()));
    Value last = least(count, b.offset(first, keys.perStep()));
    b.loop(lanes(), b.getWidth(), [&](Value lane) {
      SmallVector<Value> state;
      for (Value buffer : keyState)
        state.push_back(b.load(buffer, {block, lane}));
      state = b.loop(first, last, 1, state, [&](Value pair, ValueRange carried) {
        Value live = b.isEqual(b.load(dead, {pair, lane}), b.splat(0));
        return keyReducer.add(b, carried, b.load(scores, {pair, lane}), live);
      });
      for (auto [value, buffer] : llvm::zip_equal(state, keyState))
        b.store(value, buffer, {block, lane});
    });
  });
}

void ScoreTile::reduceRows(Value row, Value rowEnd) {
  // Each row's result, in place of the first part of its state; the last part says whether it is
  // there.
  b.loop(keys.blocks, 1, [&](Value block) {
    b.loop(lanes(), b.getWidth(), [&](Value lane) {
      SmallVector<Value> state;
      for (Value buffer : keyState)
        state.push_back(b.load(buffer, {block, lane}));
      b.store(keyReducer.finish(b, state), keyState[0], {block, lane});
    });
  });
  Value left = arith::SubIOp::create(b, rowEnd, row);
  Value count = least(left, b.index(rows.step));
  b.loop(rows.blocks, 1, [&](Value rowBlock) {
    Value first = arith::MulIOp::create(b, rowBlock, b.index(rows.perStep()));
    Value last = least(count, b.offset(first, rows.perStep()));
    b.loop(keys.blocks, 1, [&](Value keyBlock) {
      SmallVector<Value> at = {rowBlock, keyBlock}, state;
      for (Value buffer : rowState)
        state.push_back(memref::LoadOp::create(b, buffer, at));
      state = b.loop(first, last, 1, state, [&](Value lane, ValueRange carried) {
        SmallVector<Value> place = {keyBlock, lane};
        Value value = memref::LoadOp::create(b, keyState[0], place);
        Value pairs = memref::LoadOp::create(b, keyState[Reducer::countPart], place);
        Value live = b.isLess(b.scalar(0), pairs);
        return rowReducer.add(b, carried, value, live);
      });
      for (auto [value, buffer] : llvm::zip_equal(state, rowState))
        memref::StoreOp::create(b, value, buffer, at);
    });
  });
}

void ScoreTile::store(Value row, Value rowEnd, Value at, Value keyEnd) {
  auto blocksOf = [&](Value start, Value end, int64_t block) {
    Value left = arith::SubIOp::create(b, end, start);
    return arith::CeilDivSIOp::create(b, left, b.index(block)).getResult();
  };
  bool isRowValue = op.getColumns() == 0;
  Value firstRow = arith::DivUIOp::create(b, row, b.index(rows.block));
  Value firstKey =
      isRowValue ? zero : arith::DivUIOp::create(b, at, b.index(keys.block)).getResult();
  Value keyBlocks = isRowValue ? b.index(1) : blocksOf(at, keyEnd, keys.block);
  b.loop(zero, blocksOf(row, rowEnd, rows.block), 1, [&](Value rowBlock) {
    b.loop(zero, keyBlocks, 1, [&](Value keyBlock) {
      SmallVector<Value> state;
      for (Value buffer : rowState)
        state.push_back(memref::LoadOp::create(b, buffer, ValueRange{rowBlock, keyBlock}));
      SmallVector<Value> place = {batch, scalar(op.getHead()), b.add(firstRow, rowBlock)};
      if (!isRowValue)
        place.push_back(b.add(firstKey, keyBlock));
      memref::StoreOp::create(b, rowReducer.finish(b, state), target, place);
    });
  });
}

LogicalResult KernelLowering::lowerScoreBlocks(VectorBuilder &b, tile::ScoreBlocksOp op) {
  auto allocateFor = [&](MemRefType type) { return allocate(type, op.getLoc()); };
  return ScoreTile(b, helpers, values, op, allocateFor).write();
}

//===----------------------------------------------------------------------===//
// Restricting
//===----------------------------------------------------------------------===//

/// The score of one pair where the regions of `op` may force or hide it.
template <typename Op>
static FailureOr<Value> emitRestricted(VectorBuilder &b, Op op, const IRMapping &map, Value row,
                                       Value column, Value score) {
  FailureOr<Value> force = emitPredicate(b, op.getForce(), map, {row, column});
  FailureOr<Value> within = emitPredicate(b, op.getWithin(), map, {row, column});
  if (failed(force) || failed(within))
    return failure();
  if (*force)
    score = arith::SelectOp::create(b, *force, b.scalar(infinity), score);
  if (*within)
    score = arith::SelectOp::create(b, *within, score, b.scalar(-infinity));
  return score;
}

LogicalResult KernelLowering::lowerRestrict(VectorBuilder &b, tile::RestrictOp op) {
  Value source = scalar(op.getSource()), target = scalar(op.getTarget());
  Value row = scalar(op.getRow());
  SmallVector<Value> at = {scalar(op.getBatch()), scalar(op.getHead()), row, Value()};
  Value columns = memref::DimOp::create(b, source, 3), first = b.index(0);
  LogicalResult result = success();
  b.loop(first, columns, 1, [&](Value column) {
    at.back() = column;
    Value score = memref::LoadOp::create(b, source, at);
    FailureOr<Value> restricted = emitRestricted(b, op, values, row, column, score);
    if (failed(restricted))
      result = failure();
    else
      memref::StoreOp::create(b, *restricted, target, at);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Scores of what lists name
//===----------------------------------------------------------------------===//

/// The product of two rows of `channels` f32.
static Value emitProduct(VectorBuilder &b, Value query, Value key, int64_t channels) {
  Value zero = b.index(0), sum = b.scalar(0);
  int64_t whole = channels - channels % b.getWidth();
  if (whole > 0) {
    SmallVector<Value> lanes =
        b.loop(whole, b.getWidth(), b.splat(0), [&](Value channel, ValueRange carried) {
          Value q = b.load(query, {zero, channel}), k = b.load(key, {zero, channel});
          return SmallVector<Value>{b.fma(q, k, carried[0])};
        });
    sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, lanes[0]);
  }
  if (whole == channels)
    return sum;
  Value lower = b.index(whole), upper = b.index(channels);
  return b.loop(lower, upper, 1, sum, [&](Value channel, ValueRange carried) {
    Value q = memref::LoadOp::create(b, query, ValueRange{zero, channel});
    Value k = memref::LoadOp::create(b, key, ValueRange{zero, channel});
    Value product = arith::MulFOp::create(b, q, k);
    return SmallVector<Value>{b.add(carried[0], product)};
  })[0];
}

LogicalResult KernelLowering::lowerScoreList(VectorBuilder &b, tile::ScoreListOp op) {
  Value query = scalar(op.getQuery()), key = scalar(op.getKey()), ids = scalar(op.getIds());
  Value target = scalar(op.getTarget()), batch = scalar(op.getBatch()), head = scalar(op.getHead());
  Value row = scalar(op.getRow()), zero = b.index(0), one = b.index(1);
  int64_t channels = cast<MemRefType>(query.getType()).getDimSize(3);
  auto type = tile::TileType::get(b.getContext(), {1, channels}, b.getF32Type());
  MemRefType rowType = helpers.buffers.getType(type, TileLayout::ChannelsLast);
  Value queryRow = allocate(rowType, op.getLoc()), keyRow = allocate(rowType, op.getLoc());
  auto load = [&](Value source, Value sourceHead, Value at, Value buffer) {
    Value end = b.add(at, one);
    const int64_t single[] = {1};
    HelperFunctions::Box box = {batch, sourceHead, at, end, zero, single};
    helpers.callLoad(b, source, box, buffer, TileLayout::ChannelsLast);
  };
  load(query, head, row, queryRow);
  // Query heads share key heads; where there is none, no id names a key row.
  Value keyHeads = arith::MaxUIOp::create(b, memref::DimOp::create(b, key, 1), one);
  Value share = arith::DivUIOp::create(b, memref::DimOp::create(b, query, 1), keyHeads);
  Value keyHead = arith::DivUIOp::create(b, head, arith::MaxUIOp::create(b, share, one));
  Value keyRows = memref::DimOp::create(b, key, 2), entries = memref::DimOp::create(b, ids, 3);
  Value counted = memref::LoadOp::create(b, scalar(op.getCounts()), ValueRange{batch, head, row});
  Value count = arith::IndexCastOp::create(b, b.getIndexType(), counted);
  float scale = op.getScale().convertToFloat();
  LogicalResult result = success();
  b.loop(zero, entries, 1, [&](Value entry) {
    SmallVector<Value> place = {batch, head, row, entry};
    memref::StoreOp::create(b, b.scalar(-infinity), target, place);
    Value id = memref::LoadOp::create(b, ids, place);
    Value column = arith::IndexCastOp::create(b, b.getIndexType(), id);
    Value isListed = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, entry, count);
    // Negative ids are large unsigned ones.
    Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, keyRows);
    b.branch(arith::AndIOp::create(b, isListed, isRow), [&] {
      load(key, keyHead, column, keyRow);
      Value product = emitProduct(b, queryRow, keyRow, channels);
      Value score = arith::MulFOp::create(b, product, b.scalar(scale));
      FailureOr<Value> restricted = emitRestricted(b, op, values, row, column, score);
      if (failed(restricted))
        result = failure();
      else
        memref::StoreOp::create(b, *restricted, target, place);
    });
  });
  return result;
}
