//===- MoveLowering.cpp - tiles from and to strided tensors ---------------===//
#include "compiler/Cpu/HelperFunctions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lacuna;

namespace {
/// What a load or store function knows about its tensor and box.
struct TensorRows {
  /// Reads batch, head, at, sizes and base from `scalars`.
  TensorRows(VectorBuilder &b, Value tensor, ValueRange scalars, ArrayRef<int64_t> box);

  /// The tokens' place inside the grid, for row `row` of the box: whether it is inside, and the
  /// token's number.
  std::pair<Value, Value> locate(VectorBuilder &b, Value row) const;
  /// One token's channels as a buffer of its own; `unit` says that they are neighbours.
  Value getChannels(VectorBuilder &b, Value token, bool unit) const;

  Value tensor, base, offset, hasUnitStride;
  SmallVector<Value> strides;
  ValueRange at, sizes;
  Value firstToken, start;
  ArrayRef<int64_t> box;
  MemRefType type;
};
} // namespace

TensorRows::TensorRows(VectorBuilder &b, Value tensor, ValueRange scalars, ArrayRef<int64_t> box)
    : tensor(tensor), at(scalars.slice(2, box.size())),
      sizes(scalars.slice(2 + box.size(), box.size())), firstToken(scalars.back()), box(box),
      type(cast<MemRefType>(tensor.getType())) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, tensor);
  base = metadata.getBaseBuffer();
  strides = llvm::to_vector_of<Value>(metadata.getStrides());
  Value start = metadata.getOffset();
  for (unsigned axis = 0; axis < 2; ++axis)
    start = b.add(start, arith::MulIOp::create(b, scalars[axis], strides[axis]));
  offset = start;
  if (type.getRank() == 4)
    hasUnitStride = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, strides[3], b.index(1));
}

std::pair<Value, Value> TensorRows::locate(VectorBuilder &b, Value row) const {
  Value inside, token = b.index(0), rest = row;
  SmallVector<Value> coordinates(box.size());
  for (int64_t axis = int64_t(box.size()) - 1; axis >= 0; --axis) {
    Value local = rest;
    if (axis > 0) {
      Value extent = b.index(box[axis]);
      local = arith::RemUIOp::create(b, rest, extent);
      rest = arith::DivUIOp::create(b, rest, extent);
    }
    coordinates[axis] = b.add(at[axis], local);
  }
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes)) {
    // Unsigned: a coordinate below 0 is outside too.
    Value below = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, size);
    inside = inside ? arith::AndIOp::create(b, inside, below).getResult() : below;
    token = b.add(arith::MulIOp::create(b, token, size), coordinate);
  }
  return {inside, b.add(firstToken, token)};
}

Value TensorRows::getChannels(VectorBuilder &b, Value token, bool unit) const {
  Value place = b.add(offset, arith::MulIOp::create(b, token, strides[2]));
  int64_t channels = type.getDimSize(3);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       {unit ? 1 : ShapedType::kDynamic});
  auto rowType = MemRefType::get({channels}, type.getElementType(), layout);
  OpFoldResult stride = unit ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(strides[3]);
  return memref::ReinterpretCastOp::create(b, rowType, base, OpFoldResult(place),
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(channels)},
                                           ArrayRef<OpFoldResult>{stride})
      .getResult();
}

/// `value` (a scalar or a vector) as f32.
static Value toF32(VectorBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType()), f32 = b.getF32Type();
  if (element.isF32())
    return value;
  Type target = f32;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    target = vector.clone(f32);
  if (element.getIntOrFloatBitWidth() < 32)
    return arith::ExtFOp::create(b, target, value).getResult();
  return arith::TruncFOp::create(b, target, value).getResult();
}

static Value fromF32(VectorBuilder &b, Value value, Type target) {
  if (target.isF32())
    return value;
  if (target.getIntOrFloatBitWidth() < 32)
    return arith::TruncFOp::create(b, target, value).getResult();
  return arith::ExtFOp::create(b, target, value).getResult();
}

/// One token's channels into a row of a tile with channels last.
static void copyChannels(VectorBuilder &b, const TensorRows &rows, Value token, Value target,
                         Value row) {
  int64_t channels = rows.type.getDimSize(3), width = b.getWidth();
  int64_t whole = channels - channels % width;
  auto copyScalars = [&](Value source, int64_t first) {
    Value lower = b.index(first), upper = b.index(channels);
    b.loop(lower, upper, 1, [&](Value channel) {
      Value value = memref::LoadOp::create(b, source, channel);
      memref::StoreOp::create(b, toF32(b, value), target, ValueRange{row, channel});
    });
  };
  if (whole < channels)
    b.store(b.splat(0), target, {row, b.index(whole)});
  b.branch(
      rows.hasUnitStride,
      [&] {
        Value source = rows.getChannels(b, token, /*unit=*/true);
        b.loop(whole, width, [&](Value channel) {
          b.store(toF32(b, b.load(source, channel)), target, {row, channel});
        });
        if (whole < channels)
          copyScalars(source, whole);
      },
      [&] { copyScalars(rows.getChannels(b, token, /*unit=*/false), 0); });
}

static SmallVector<Value> getOperands(Value tensor, const HelperFunctions::Box &box, Value tile) {
  SmallVector<Value> operands = {tensor, tile, box.batch, box.head};
  operands.append(box.at.begin(), box.at.end());
  operands.append(box.sizes.begin(), box.sizes.end());
  operands.push_back(box.base);
  return operands;
}

static std::string getKey(ArrayRef<int64_t> box) {
  std::string key;
  for (int64_t extent : box)
    key += std::to_string(extent) + "x";
  return key;
}

void HelperFunctions::callLoad(VectorBuilder &builder, Value source, const Box &box, Value target,
                               TileLayout layout) {
  int64_t count = 1;
  for (int64_t extent : box.box)
    count *= extent;
  auto type = cast<MemRefType>(source.getType());
  auto writeChannelsLast = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    TensorRows rows(b, arguments[0], arguments.drop_front(2), box.box);
    Value tile = arguments[1];
    int64_t columns = cast<MemRefType>(target.getType()).getDimSize(1);
    b.loop(count, 1, [&](Value row) {
      auto [inside, token] = rows.locate(b, row);
      b.branch(
          inside, [&, token = token] { copyChannels(b, rows, token, tile, row); },
          [&] {
            b.loop(columns, buffers.width,
                   [&](Value channel) { b.store(b.splat(0), tile, {row, channel}); });
          });
    });
    return {};
  };
  auto writeRowsLast = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    TensorRows rows(b, arguments[0], arguments.drop_front(2), box.box);
    Value tile = arguments[1];
    callFill(b, tile, 0);
    b.loop(count, 1, [&](Value row) {
      auto [inside, token] = rows.locate(b, row);
      b.branch(inside, [&, token = token] {
        if (type.getRank() == 3) {
          Value value =
              memref::LoadOp::create(b, rows.tensor, ValueRange{arguments[2], arguments[3], token});
          memref::StoreOp::create(b, toF32(b, value), tile, row);
          return;
        }
        Value channelsOfToken = rows.getChannels(b, token, /*unit=*/false);
        b.loop(type.getDimSize(3), 1, [&](Value channel) {
          Value value = memref::LoadOp::create(b, channelsOfToken, channel);
          memref::StoreOp::create(b, toF32(b, value), tile, ValueRange{channel, row});
        });
      });
    });
    return {};
  };
  bool rowsLast = type.getRank() == 3 || layout == TileLayout::RowsLast;
  if (rowsLast)
    call(builder, "load_rows_last", getKey(box.box), getOperands(source, box, target), {},
         writeRowsLast);
  else
    call(builder, "load_channels_last", getKey(box.box), getOperands(source, box, target), {},
         writeChannelsLast);
}

void HelperFunctions::callStore(VectorBuilder &builder, Value tile, Value target, const Box &box) {
  int64_t count = 1;
  for (int64_t extent : box.box)
    count *= extent;
  auto type = cast<MemRefType>(target.getType());
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    TensorRows rows(b, arguments[0], arguments.drop_front(2), box.box);
    b.loop(count, 1, [&](Value row) {
      auto [inside, token] = rows.locate(b, row);
      b.branch(inside, [&, token = token] {
        SmallVector<Value> at = {arguments[2], arguments[3], token};
        auto put = [&](ValueRange from) {
          Value value = memref::LoadOp::create(b, arguments[1], from);
          memref::StoreOp::create(b, fromF32(b, value, type.getElementType()), arguments[0], at);
        };
        if (type.getRank() == 3)
          return put(row);
        b.loop(type.getDimSize(3), 1, [&](Value channel) {
          at.push_back(channel);
          put({channel, row});
          at.pop_back();
        });
      });
    });
    return {};
  };
  call(builder, "store", getKey(box.box), getOperands(target, box, tile), {}, write);
}
