//===- SelectSummaries.cpp - summaries of blocks of tokens ----------------===//
#include "compiler/Cpu/KernelLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace lacuna;
using select::Summary;

static constexpr float infinity = std::numeric_limits<float>::infinity();

namespace {
/// One summary: tokens come in chunks of neighbouring rows, as f32 with channels last.
class SummaryWriter {
public:
  /// The buffers of a summary; `state` is one number.
  struct Buffers {
    Value chunk, sum, second, state;
  };
  SummaryWriter(VectorBuilder &builder, HelperFunctions &helpers, tile::SummarizeOp op,
                HelperFunctions::Box box, Value source, Buffers buffers);

  static int64_t chunkRows(tile::SummarizeOp op) {
    return std::min<int64_t>(op.getBox().back(), 16);
  }
  void write(Value target, Value block);

private:
  /// Calls `visit` with the row of the chunk that holds a token, for each token of the block.
  void forEachToken(llvm::function_ref<void(Value row)> visit);
  void forEachRun(unsigned axis, Value token, llvm::function_ref<void(Value row)> visit);
  void forEachInRun(Value token, llvm::function_ref<void(Value row)> visit);

  /// The token's channels from `channel` on, as a vector or a single one.
  Value read(Value row, Value channel, bool isVector);
  Value readFrom(Value buffer, Value channel, bool isVector);
  /// `buffer[channel] = next(buffer[channel], channel)` for vectors of all channels.
  void update(Value buffer, llvm::function_ref<Value(Value old, Value channel)> next);
  /// The sum of the squares of `term` over the channels.
  Value sumOfSquares(llvm::function_ref<Value(Value channel, bool isVector)> term);
  void fill(Value buffer, float number);
  Value loadState() { return memref::LoadOp::create(b, buffers.state, zero).getResult(); }
  void storeState(Value number) { memref::StoreOp::create(b, number, buffers.state, zero); }

  void accumulate();
  void average();
  void addDeviations();
  void findRadius();
  void addSquares();
  void addDirections();
  /// The finished channel.
  Value finish(Value channel);

  VectorBuilder &b;
  HelperFunctions &helpers;
  tile::SummarizeOp op;
  HelperFunctions::Box box;
  Value source;
  Buffers buffers;
  int64_t first, channels;
  Value zero, tokens;
  /// How far the block reaches on each axis.
  SmallVector<Value> extents;
};
} // namespace

static Value toFloat(VectorBuilder &b, Value number) {
  Value word = arith::IndexCastOp::create(b, b.getI64Type(), number);
  return arith::SIToFPOp::create(b, b.getF32Type(), word);
}

SummaryWriter::SummaryWriter(VectorBuilder &builder, HelperFunctions &helpers, tile::SummarizeOp op,
                             HelperFunctions::Box box, Value source, Buffers buffers)
    : b(builder), helpers(helpers), op(op), box(box), source(source), buffers(buffers),
      first(op.getChannels()[0]), channels(op.getChannels()[1] - op.getChannels()[0]),
      zero(b.index(0)) {
  Value count;
  for (auto [at, size, extent] : llvm::zip_equal(box.at, box.sizes, box.box)) {
    Value left = arith::SubIOp::create(b, size, at);
    extents.push_back(arith::MinSIOp::create(b, left, b.index(extent)));
    count = count ? arith::MulIOp::create(b, count, extents.back()).getResult() : extents.back();
  }
  tokens = toFloat(b, count);
}

void SummaryWriter::forEachInRun(Value token, llvm::function_ref<void(Value)> visit) {
  Value run = extents.back(), end = b.add(token, run);
  int64_t rows = chunkRows(op);
  b.loop(zero, run, rows, [&](Value start) {
    Value at = b.add(token, start);
    HelperFunctions::Box chunk = {box.batch, box.head, at, end, zero, rows};
    helpers.callLoad(b, source, chunk, buffers.chunk, TileLayout::ChannelsLast);
    Value left = arith::SubIOp::create(b, run, start);
    Value upper = arith::MinSIOp::create(b, left, b.index(rows));
    b.loop(zero, upper, 1, visit);
  });
}

void SummaryWriter::forEachRun(unsigned axis, Value token, llvm::function_ref<void(Value)> visit) {
  // The token's number so far, row-major over the axes before this one.
  Value line = arith::MulIOp::create(b, token, box.sizes[axis]);
  Value start = b.add(line, box.at[axis]);
  if (axis + 1 == box.box.size())
    return forEachInRun(start, visit);
  b.loop(zero, extents[axis], 1,
         [&](Value step) { forEachRun(axis + 1, b.add(start, step), visit); });
}

void SummaryWriter::forEachToken(llvm::function_ref<void(Value)> visit) {
  forEachRun(0, zero, visit);
}

Value SummaryWriter::read(Value row, Value channel, bool isVector) {
  Value column = b.offset(channel, first);
  if (isVector)
    return b.load(buffers.chunk, {row, column});
  return memref::LoadOp::create(b, buffers.chunk, ValueRange{row, column});
}

Value SummaryWriter::readFrom(Value buffer, Value channel, bool isVector) {
  return isVector ? b.load(buffer, channel)
                  : memref::LoadOp::create(b, buffer, channel).getResult();
}

void SummaryWriter::update(Value buffer, llvm::function_ref<Value(Value, Value)> next) {
  b.loop(channels, b.getWidth(),
         [&](Value channel) { b.store(next(b.load(buffer, channel), channel), buffer, channel); });
}

Value SummaryWriter::sumOfSquares(llvm::function_ref<Value(Value, bool)> term) {
  int64_t whole = channels - channels % b.getWidth();
  Value sum = b.scalar(0);
  if (whole > 0) {
    SmallVector<Value> lanes =
        b.loop(whole, b.getWidth(), b.splat(0), [&](Value channel, ValueRange carried) {
          Value x = term(channel, /*isVector=*/true);
          return SmallVector<Value>{b.fma(x, x, carried[0])};
        });
    sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, lanes[0]);
  }
  if (whole == channels)
    return sum;
  Value lower = b.index(whole), upper = b.index(channels);
  return b.loop(lower, upper, 1, sum, [&](Value channel, ValueRange carried) {
    Value x = term(channel, /*isVector=*/false);
    Value square = arith::MulFOp::create(b, x, x);
    return SmallVector<Value>{b.add(carried[0], square)};
  })[0];
}

void SummaryWriter::fill(Value buffer, float number) {
  if (buffer)
    helpers.callFill(b, buffer, number);
}

void SummaryWriter::accumulate() {
  Summary kind = op.getKind();
  fill(buffers.sum, kind == Summary::Min ? infinity : kind == Summary::Max ? -infinity : 0);
  forEachToken([&](Value row) {
    update(buffers.sum, [&](Value old, Value channel) -> Value {
      Value x = read(row, channel, /*isVector=*/true);
      if (kind == Summary::Min)
        return arith::MinimumFOp::create(b, old, x);
      if (kind == Summary::Max)
        return arith::MaximumFOp::create(b, old, x);
      return b.add(old, x);
    });
  });
}

void SummaryWriter::average() {
  Value lanes = b.broadcast(tokens);
  update(buffers.sum,
         [&](Value old, Value) -> Value { return arith::DivFOp::create(b, old, lanes); });
}

void SummaryWriter::addDeviations() {
  fill(buffers.second, 0);
  forEachToken([&](Value row) {
    update(buffers.second, [&](Value old, Value channel) -> Value {
      Value x = read(row, channel, /*isVector=*/true);
      Value deviation = arith::SubFOp::create(b, x, b.load(buffers.sum, channel));
      return b.fma(deviation, deviation, old);
    });
  });
}

void SummaryWriter::findRadius() {
  storeState(b.scalar(0));
  forEachToken([&](Value row) {
    Value square = sumOfSquares([&](Value channel, bool isVector) -> Value {
      Value x = read(row, channel, isVector), mean = readFrom(buffers.sum, channel, isVector);
      return arith::SubFOp::create(b, x, mean);
    });
    storeState(arith::MaximumFOp::create(b, loadState(), square));
  });
}

void SummaryWriter::addSquares() {
  storeState(b.scalar(0));
  forEachToken([&](Value row) {
    Value square =
        sumOfSquares([&](Value channel, bool isVector) { return read(row, channel, isVector); });
    storeState(b.add(loadState(), square));
  });
}

void SummaryWriter::addDirections() {
  fill(buffers.sum, 0);
  forEachToken([&](Value row) {
    Value square =
        sumOfSquares([&](Value channel, bool isVector) { return read(row, channel, isVector); });
    // A token of zeros has no direction: 0 / 1.
    Value isZero = b.isEqual(square, b.scalar(0));
    Value length = math::SqrtOp::create(b, square);
    length = b.broadcast(arith::SelectOp::create(b, isZero, b.scalar(1), length));
    update(buffers.sum, [&](Value old, Value channel) {
      Value x = read(row, channel, /*isVector=*/true);
      return b.add(old, arith::DivFOp::create(b, x, length));
    });
  });
  Value square = sumOfSquares(
      [&](Value channel, bool isVector) { return readFrom(buffers.sum, channel, isVector); });
  storeState(square);
}

Value SummaryWriter::finish(Value channel) {
  switch (op.getKind()) { // No default: a new kind must break this build.
  case Summary::Mean:
  case Summary::Sum:
  case Summary::Min:
  case Summary::Max:
    return readFrom(buffers.sum, channel, /*isVector=*/false);
  case Summary::Variance:
    return arith::DivFOp::create(b, readFrom(buffers.second, channel, /*isVector=*/false), tokens);
  case Summary::First:
    return read(zero, channel, /*isVector=*/false);
  case Summary::Radius:
  case Summary::Norm:
    return math::SqrtOp::create(b, loadState());
  case Summary::Similarity: {
    Value pairs = arith::MulFOp::create(b, tokens, tokens);
    return arith::DivFOp::create(b, loadState(), pairs);
  }
  case Summary::Count:
    return tokens;
  }
  return {};
}

void SummaryWriter::write(Value target, Value block) {
  Summary kind = op.getKind();
  if (kind == Summary::Norm)
    addSquares();
  else if (kind == Summary::Similarity)
    addDirections();
  else if (kind == Summary::First)
    forEachToken([](Value) {}); // Only the first chunk is asked for, which a block of one has.
  else if (kind != Summary::Count)
    accumulate();
  if (kind == Summary::Mean || kind == Summary::Variance || kind == Summary::Radius)
    average();
  if (kind == Summary::Variance)
    addDeviations();
  if (kind == Summary::Radius)
    findRadius();
  auto type = cast<MemRefType>(target.getType());
  bool isOne = kind == Summary::Radius || kind == Summary::Norm || kind == Summary::Similarity ||
               kind == Summary::Count;
  b.loop(isOne ? 1 : channels, 1, [&](Value channel) {
    Value result = finish(channel);
    if (!type.getElementType().isF32())
      result = arith::TruncFOp::create(b, type.getElementType(), result);
    memref::StoreOp::create(b, result, target, ValueRange{box.batch, box.head, block, channel});
  });
}

LogicalResult KernelLowering::lowerSummarize(VectorBuilder &b, tile::SummarizeOp op) {
  if (op.getUnit() || op.getPartial())
    return op.emitOpError("expected summaries of tokens themselves on a CPU");
  auto source = cast<RankedTensorType>(op.getSource().getType());
  Type f32 = b.getF32Type();
  SmallVector<Value> at = scalars(op.getAt()), sizes = scalars(op.getSizes());
  SmallVector<int64_t> extents(op.getBox());
  // A block of which one token is asked is that token's.
  if (op.getKind() == select::Summary::First)
    extents.assign(extents.size(), 1);
  HelperFunctions::Box box = {
      scalar(op.getBatch()), scalar(op.getHead()), at, sizes, b.index(0), extents};
  // Vectors may start anywhere in a row.
  int64_t columns = helpers.buffers.padChannels(source.getDimSize(3)) + b.getWidth();
  int64_t channels = helpers.buffers.padChannels(op.getChannels()[1] - op.getChannels()[0]);
  SummaryWriter::Buffers buffers = {
      allocate(MemRefType::get({SummaryWriter::chunkRows(op), columns}, f32), op.getLoc()),
      allocate(MemRefType::get({channels}, f32), op.getLoc()),
      allocate(MemRefType::get({channels}, f32), op.getLoc()),
      allocate(MemRefType::get({1}, f32), op.getLoc())};
  SummaryWriter(b, helpers, op, box, scalar(op.getSource()), buffers)
      .write(scalar(op.getTarget()), scalar(op.getBlock()));
  return success();
}

//===----------------------------------------------------------------------===//
// Folding and restricting
//===----------------------------------------------------------------------===//

/// Copies `channels` neighbouring elements; vectors where they are neighbours in memory.
static void copyToken(VectorBuilder &b, Value source, ValueRange token, Value target, ValueRange to,
                      int64_t channels) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, source);
  Value start = metadata.getOffset();
  for (auto [coordinate, stride] : llvm::zip(token, metadata.getStrides()))
    start = b.add(start, arith::MulIOp::create(b, coordinate, stride));
  Value step = metadata.getStrides()[3];
  Type element = cast<MemRefType>(source.getType()).getElementType();
  auto copy = [&](bool unit) {
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                         {unit ? 1 : ShapedType::kDynamic});
    auto type = MemRefType::get({channels}, element, layout);
    OpFoldResult stride = unit ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(step);
    Value row = memref::ReinterpretCastOp::create(
        b, type, metadata.getBaseBuffer(), OpFoldResult(start),
        ArrayRef<OpFoldResult>{b.getIndexAttr(channels)}, ArrayRef<OpFoldResult>{stride});
    auto place = [&](Value channel) {
      return SmallVector<Value>{to[0], to[1], to[2], b.add(to[3], channel)};
    };
    int64_t whole = unit ? channels - channels % b.getWidth() : 0;
    if (whole > 0)
      b.loop(whole, b.getWidth(),
             [&](Value channel) { b.store(b.load(row, channel), target, place(channel)); });
    Value lower = b.index(whole), upper = b.index(channels);
    b.loop(lower, upper, 1, [&](Value channel) {
      Value value = memref::LoadOp::create(b, row, channel);
      memref::StoreOp::create(b, value, target, place(channel));
    });
  };
  Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step, b.index(1));
  b.branch(isUnit, [&] { copy(/*unit=*/true); }, [&] { copy(/*unit=*/false); });
}

LogicalResult KernelLowering::lowerFold(VectorBuilder &b, tile::FoldOp op) {
  Value source = scalar(op.getSource()), target = scalar(op.getTarget());
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), row = scalar(op.getRow());
  auto type = cast<MemRefType>(source.getType());
  int64_t channels = type.getDimSize(3), by = static_cast<int64_t>(op.getBy());
  Value length = memref::DimOp::create(b, source, 2);
  Value start = arith::MulIOp::create(b, row, b.index(by));
  b.loop(by, 1, [&](Value place) {
    Value local = place;
    if (op.getReversed())
      local = arith::SubIOp::create(b, b.index(by - 1), place);
    Value token = b.add(start, local);
    Value column = arith::MulIOp::create(b, place, b.index(channels));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, token, length);
    auto clear = [&] {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
      b.loop(channels, 1, [&](Value channel) {
        memref::StoreOp::create(b, zero, target,
                                ValueRange{batch, head, row, b.add(column, channel)});
      });
    };
    b.branch(
        inside,
        [&] {
          copyToken(b, source, {batch, head, token}, target, {batch, head, row, column}, channels);
        },
        clear);
  });
  return success();
}
