//===- LinearLowering.cpp - linear attention on vectors -------------------===//
//
// A state is a matrix of f32 with value channels last, which vectors run over.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/KernelLowering.h"
#include "compiler/Cpu/ScalarLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace lacuna;
using attn::Feature;

static constexpr float infinity = std::numeric_limits<float>::infinity();
/// Keys that are loaded at once.
static constexpr int64_t chunkKeys = 16;

/// Calls `body` for vectors of `count` channels, then for what is left one by one.
static void forChannels(VectorBuilder &b, Value count,
                        llvm::function_ref<void(Value channel, bool isVector)> body) {
  Value rest = arith::RemUIOp::create(b, count, b.index(b.getWidth()));
  Value whole = arith::SubIOp::create(b, count, rest);
  b.loop(b.index(0), whole, b.getWidth(), [&](Value channel) { body(channel, true); });
  b.loop(whole, count, 1, [&](Value channel) { body(channel, false); });
}

static Value loadPart(VectorBuilder &b, Value buffer, ValueRange at, bool isVector) {
  return isVector ? b.load(buffer, at) : memref::LoadOp::create(b, buffer, at).getResult();
}
static void storePart(VectorBuilder &b, Value value, Value buffer, ValueRange at, bool isVector) {
  if (isVector)
    b.store(value, buffer, at);
  else
    memref::StoreOp::create(b, value, buffer, at);
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

namespace {
/// Turns rows of a buffer into features, in place.
class FeatureMap {
public:
  FeatureMap(VectorBuilder &builder, Feature feature, Type element, int64_t channels)
      : b(builder), feature(feature), element(element), channels(channels) {}

  void apply(Value buffer, Value row) {
    Value count = b.index(channels), most, sum;
    if (feature == Feature::Softmax) {
      most = reduce(buffer, row, -infinity, [&](Value a, Value x) {
        return arith::MaximumFOp::create(b, a, x).getResult();
      });
      update(buffer, row, count, [&](Value x) { return exp(subtract(x, most)); });
      sum = reduce(buffer, row, 0, [&](Value a, Value x) { return b.add(a, x); });
    }
    update(buffer, row, count, [&](Value x) { return round(map(x, sum)); });
  }

private:
  Value like(float number, Value x) {
    return isa<VectorType>(x.getType()) ? b.splat(number) : b.scalar(number);
  }
  Value spread(Value number, Value x) {
    return isa<VectorType>(x.getType()) ? b.broadcast(number) : number;
  }
  Value exp(Value x) { return math::ExpOp::create(b, x).getResult(); }
  Value subtract(Value x, Value number) {
    return arith::SubFOp::create(b, x, spread(number, x)).getResult();
  }

  Value map(Value x, Value sum) {
    Value zero = like(0, x), isLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
    switch (feature) { // No default: a new feature must break this build.
    case Feature::Softmax:
      return arith::DivFOp::create(b, x, spread(sum, x));
    case Feature::Relu:
      return arith::SelectOp::create(b, isLow, zero, x);
    case Feature::Elu: {
      Value low = arith::SelectOp::create(b, isLow, x, zero);
      Value above = arith::AddFOp::create(b, x, like(1, x));
      return arith::SelectOp::create(b, isLow, exp(low), above);
    }
    case Feature::Exp:
      return exp(x);
    case Feature::Identity:
      return x;
    }
    return {};
  }

  /// As the products of a target with matrices of 16 bits see it.
  Value round(Value x) {
    if (element.isF32() || feature == Feature::Identity)
      return x;
    Type type = element;
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      type = VectorType::get(vector.getShape(), element);
    Value rounded = arith::TruncFOp::create(b, type, x);
    return arith::ExtFOp::create(b, x.getType(), rounded);
  }

  Value reduce(Value buffer, Value row, float start, llvm::function_ref<Value(Value, Value)> join) {
    return b.loop(channels, 1, b.scalar(start), [&](Value channel, ValueRange carried) {
      Value x = memref::LoadOp::create(b, buffer, ValueRange{row, channel});
      return SmallVector<Value>{join(carried[0], x)};
    })[0];
  }

  void update(Value buffer, Value row, Value count, llvm::function_ref<Value(Value)> next) {
    forChannels(b, count, [&](Value channel, bool isVector) {
      Value x = loadPart(b, buffer, {row, channel}, isVector);
      storePart(b, next(x), buffer, {row, channel}, isVector);
    });
  }

  VectorBuilder &b;
  Feature feature;
  Type element;
  int64_t channels;
};
} // namespace

static Type elementOf(Value memory) { return cast<MemRefType>(memory.getType()).getElementType(); }

/// How many channels there are from `column` on, `width` at most.
static Value countColumns(VectorBuilder &b, Value column, int64_t channels, int64_t width) {
  Value left = arith::SubIOp::create(b, b.index(channels), column);
  return arith::MinSIOp::create(b, left, b.index(width));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerLinearState(VectorBuilder &b, tile::LinearStateOp op) {
  Value key = scalar(op.getKey()), value = scalar(op.getValue());
  Value states = scalar(op.getStates()), norms = scalar(op.getNorms());
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), block = scalar(op.getBlock());
  Value column = scalar(op.getColumn()), zero = b.index(0);
  int64_t channels = cast<MemRefType>(key.getType()).getDimSize(3);
  int64_t valueChannels = cast<MemRefType>(value.getType()).getDimSize(3);
  auto width = static_cast<int64_t>(op.getWidth()), size = static_cast<int64_t>(op.getSize());
  auto buffer = [&](ArrayRef<int64_t> shape) {
    return allocate(MemRefType::get(shape, b.getF32Type()), op.getLoc());
  };
  // Vectors may start at any column.
  int64_t pad = b.getWidth(), padded = helpers.buffers.padChannels(width);
  Value keys = buffer({chunkKeys, helpers.buffers.padChannels(channels)});
  Value values = buffer({chunkKeys, helpers.buffers.padChannels(valueChannels) + padded + pad});
  Value sums = buffer({channels, padded});
  Value keySums = buffer({helpers.buffers.padChannels(channels)});
  helpers.callFill(b, sums, 0);
  helpers.callFill(b, keySums, 0);

  Value length = memref::DimOp::create(b, key, 2);
  Value start = arith::MulIOp::create(b, block, b.index(size));
  Value end = arith::MinSIOp::create(b, b.add(start, b.index(size)), length);
  FeatureMap features(b, op.getFeature(), elementOf(key), channels);
  b.loop(start, end, chunkKeys, [&](Value at) {
    const int64_t rows[] = {chunkKeys};
    HelperFunctions::Box box = {batch, head, at, length, zero, rows};
    helpers.callLoad(b, key, box, keys, TileLayout::ChannelsLast);
    helpers.callLoad(b, value, box, values, TileLayout::ChannelsLast);
    Value left = arith::SubIOp::create(b, end, at);
    Value count = arith::MinSIOp::create(b, left, b.index(chunkKeys));
    b.loop(zero, count, 1, [&](Value row) { features.apply(keys, row); });
    b.loop(channels, 1, [&](Value channel) {
      b.loop(width, b.getWidth(), [&](Value place) {
        Value from = b.add(column, place);
        Value sum = b.loop(zero, count, 1, b.load(sums, {channel, place}),
                           [&](Value row, ValueRange carried) {
                             Value x = memref::LoadOp::create(b, keys, ValueRange{row, channel});
                             Value y = b.load(values, {row, from});
                             return SmallVector<Value>{b.fma(b.broadcast(x), y, carried[0])};
                           })[0];
        b.store(sum, sums, {channel, place});
      });
    });
    b.loop(zero, count, 1, [&](Value row) {
      b.loop(channels, 1, [&](Value channel) {
        Value x = memref::LoadOp::create(b, keys, ValueRange{row, channel});
        Value sum = memref::LoadOp::create(b, keySums, channel);
        memref::StoreOp::create(b, b.add(sum, x), keySums, channel);
      });
    });
  });

  Value columns = countColumns(b, column, valueChannels, width);
  b.loop(channels, 1, [&](Value channel) {
    forChannels(b, columns, [&](Value place, bool isVector) {
      storePart(b, loadPart(b, sums, {channel, place}, isVector), states,
                {batch, head, block, channel, b.add(column, place)}, isVector);
    });
  });
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column, zero);
  b.branch(isFirst, [&] {
    b.loop(channels, 1, [&](Value channel) {
      Value sum = memref::LoadOp::create(b, keySums, channel);
      memref::StoreOp::create(b, sum, norms, ValueRange{batch, head, block, channel});
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Sums of states
//===----------------------------------------------------------------------===//

/// `sums[place] += source[at, first + place]` for `count` places; vectors where elements are
/// neighbours.
static void addRow(VectorBuilder &b, Value source, ValueRange at, Value first, Value count,
                   Value sums, ValueRange row) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, source);
  Value start = metadata.getOffset(), step = metadata.getStrides().back();
  for (auto [coordinate, stride] : llvm::zip(at, metadata.getStrides()))
    start = b.add(start, arith::MulIOp::create(b, coordinate, stride));
  start = b.add(start, arith::MulIOp::create(b, first, step));
  auto add = [&](bool isUnit) {
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                         {isUnit ? 1 : ShapedType::kDynamic});
    auto type = MemRefType::get(ShapedType::kDynamic, elementOf(source), layout);
    OpFoldResult stride = isUnit ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(step);
    Value elements = memref::ReinterpretCastOp::create(
        b, type, metadata.getBaseBuffer(), OpFoldResult(start),
        ArrayRef<OpFoldResult>{OpFoldResult(count)}, ArrayRef<OpFoldResult>{stride});
    auto addPart = [&](Value place, bool isVector) {
      SmallVector<Value> to(row);
      to.push_back(place);
      Value sum = b.add(loadPart(b, sums, to, isVector), loadPart(b, elements, place, isVector));
      storePart(b, sum, sums, to, isVector);
    };
    if (isUnit)
      return forChannels(b, count, addPart);
    b.loop(b.index(0), count, 1, [&](Value place) { addPart(place, /*isVector=*/false); });
  };
  Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step, b.index(1));
  b.branch(isUnit, [&] { add(true); }, [&] { add(false); });
}

/// Writes `count` f32 of a row of a buffer.
static void writeRow(VectorBuilder &b, Value sums, Value count, Value target, ValueRange at) {
  forChannels(b, count, [&](Value place, bool isVector) {
    SmallVector<Value> to(at);
    to.push_back(place);
    storePart(b, loadPart(b, sums, place, isVector), target, to, isVector);
  });
}

LogicalResult KernelLowering::lowerLinearPrefix(VectorBuilder &b, tile::LinearPrefixOp op) {
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), row = scalar(op.getRow());
  Value zero = b.index(0);
  auto type = cast<MemRefType>(scalar(op.getStates()).getType());
  int64_t rows = type.getDimSize(3), columns = type.getDimSize(4);
  Value sums = allocate(
      MemRefType::get({helpers.buffers.padChannels(std::max(rows, columns))}, b.getF32Type()),
      op.getLoc());
  helpers.callFill(b, sums, 0);
  Value count = memref::DimOp::create(b, scalar(op.getStates()), 2);
  auto scan = [&](Value source, Value target, Value length, ValueRange behind) {
    auto place = [&](Value state) {
      SmallVector<Value> at = {batch, head, state};
      llvm::append_range(at, behind);
      return at;
    };
    writeRow(b, sums, length, target, place(zero));
    b.loop(zero, count, 1, [&](Value state) {
      addRow(b, source, place(state), zero, length, sums, {});
      writeRow(b, sums, length, target, place(b.add(state, b.index(1))));
    });
  };
  Value isState = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, b.index(rows));
  b.branch(
      isState, [&] { scan(scalar(op.getStates()), scalar(op.getSums()), b.index(columns), row); },
      [&] { scan(scalar(op.getNorms()), scalar(op.getNormSums()), b.index(rows), {}); });
  return success();
}

LogicalResult KernelLowering::lowerLinearFold(VectorBuilder &b, tile::LinearFoldOp op) {
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), place = scalar(op.getC());
  auto type = cast<MemRefType>(scalar(op.getStates()).getType());
  int64_t rows = type.getDimSize(3), columns = type.getDimSize(4);
  Value sums = allocate(
      MemRefType::get({helpers.buffers.padChannels(std::max(rows, columns))}, b.getF32Type()),
      op.getLoc());
  Value by = b.index(static_cast<int64_t>(op.getBy()));
  Value start = arith::MulIOp::create(b, place, by);
  Value states = memref::DimOp::create(b, scalar(op.getStates()), 2);
  Value end = arith::MinSIOp::create(b, b.add(start, by), states);
  auto sum = [&](Value source, Value target, Value length, ValueRange behind) {
    helpers.callFill(b, sums, 0);
    auto at = [&](Value state) {
      SmallVector<Value> result = {batch, head, state};
      llvm::append_range(result, behind);
      return result;
    };
    b.loop(start, end, 1,
           [&](Value state) { addRow(b, source, at(state), b.index(0), length, sums, {}); });
    writeRow(b, sums, length, target, at(place));
  };
  b.loop(rows, 1, [&](Value row) {
    sum(scalar(op.getStates()), scalar(op.getSums()), b.index(columns), row);
  });
  sum(scalar(op.getNorms()), scalar(op.getNormSums()), b.index(rows), {});
  return success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// `count` f32 of a buffer, times `factor`, as elements of a row of a result.
static void writeScaled(VectorBuilder &b, Value buffer, Value factor, Value count, Value target,
                        ArrayRef<Value> at, Value column) {
  b.loop(b.index(0), count, 1, [&](Value place) {
    Value x = memref::LoadOp::create(b, buffer, place);
    if (factor)
      x = arith::MulFOp::create(b, x, factor);
    if (!elementOf(target).isF32())
      x = arith::TruncFOp::create(b, elementOf(target), x);
    memref::StoreOp::create(b, x, target, ValueRange{at[0], at[1], at[2], b.add(column, place)});
  });
}

LogicalResult KernelLowering::lowerLinearRead(VectorBuilder &b, tile::LinearReadOp op) {
  Value query = scalar(op.getQuery()), states = scalar(op.getStates());
  Value norms = scalar(op.getNorms()), column = scalar(op.getColumn()), zero = b.index(0);
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), start = scalar(op.getRow());
  auto stateType = cast<MemRefType>(states.getType());
  int64_t channels = stateType.getDimSize(3), rows = op.getTile()[0], width = op.getTile()[1];
  int64_t padded = helpers.buffers.padChannels(width);
  auto buffer = [&](ArrayRef<int64_t> shape) {
    return allocate(MemRefType::get(shape, b.getF32Type()), op.getLoc());
  };
  Value sums = buffer({channels, padded});
  Value normSums = buffer({helpers.buffers.padChannels(channels)});
  Value features = buffer({helpers.buffers.padBlock(1), helpers.buffers.padChannels(channels)});
  Value output = buffer({padded});
  helpers.callFill(b, sums, 0);
  helpers.callFill(b, normSums, 0);
  helpers.callFill(b, output, 0);

  // Query heads share heads of states.
  Value one = b.index(1);
  Value stateHeads = arith::MaxUIOp::create(b, memref::DimOp::create(b, states, 1), one);
  Value share = arith::DivUIOp::create(b, memref::DimOp::create(b, query, 1), stateHeads);
  Value stateHead = arith::DivUIOp::create(b, head, arith::MaxUIOp::create(b, share, one));
  Value columns = countColumns(b, column, stateType.getDimSize(4), width);
  LogicalResult result = success();
  b.loop(scalar(op.getFrom()), scalar(op.getTo()), 1, [&](Value state) {
    FailureOr<Value> isMember =
        emitPredicate(b, op.getMember(), values, {scalar(op.getFirst()), state});
    if (failed(isMember)) {
      result = failure();
      return;
    }
    b.branch(*isMember, [&] {
      b.loop(channels, 1, [&](Value channel) {
        addRow(b, states, {batch, stateHead, state, channel}, column, columns, sums, channel);
      });
      addRow(b, norms, {batch, stateHead, state}, zero, b.index(channels), normSums, {});
    });
  });
  if (failed(result))
    return failure();

  Value length = memref::DimOp::create(b, query, 2);
  Value end = arith::MinSIOp::create(b, b.add(start, b.index(rows)), length);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column, zero);
  FeatureMap map(b, op.getFeature(), elementOf(query), channels);
  b.loop(start, end, 1, [&](Value row) {
    const int64_t single[] = {1};
    HelperFunctions::Box box = {batch, head, row, length, zero, single};
    helpers.callLoad(b, query, box, features, TileLayout::ChannelsLast);
    map.apply(features, zero);
    Value weight = b.loop(channels, 1, b.scalar(0), [&](Value channel, ValueRange carried) {
      Value x = memref::LoadOp::create(b, features, ValueRange{zero, channel});
      Value z = memref::LoadOp::create(b, normSums, channel);
      return SmallVector<Value>{b.add(carried[0], arith::MulFOp::create(b, x, z))};
    })[0];
    b.loop(width, b.getWidth(), [&](Value place) {
      Value sum = b.loop(channels, 1, b.splat(0), [&](Value channel, ValueRange carried) {
        Value x = memref::LoadOp::create(b, features, ValueRange{zero, channel});
        Value y = b.load(sums, {channel, place});
        return SmallVector<Value>{b.fma(b.broadcast(x), y, carried[0])};
      })[0];
      b.store(sum, output, place);
    });
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, weight, b.scalar(0));
    SmallVector<Value> at = {batch, head, row};
    Value target = scalar(op.getOutput());
    auto write = [&](Value factor) { writeScaled(b, output, factor, columns, target, at, column); };
    if (op.getUndivided()) {
      write(Value());
    } else {
      b.branch(
          isEmpty,
          [&] {
            helpers.callFill(b, output, 0);
            write(Value());
          },
          [&] { write(arith::DivFOp::create(b, b.scalar(1), weight)); });
    }
    b.branch(isFirst, [&] {
      Value lse = math::LogOp::create(b, weight);
      lse = arith::SelectOp::create(b, isEmpty, b.scalar(-infinity), lse);
      memref::StoreOp::create(b, lse, scalar(op.getLse()), at);
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerGatedMerge(VectorBuilder &b, tile::GatedMergeOp op) {
  Value batch = scalar(op.getBatch()), head = scalar(op.getHead()), start = scalar(op.getRow());
  Value target = scalar(op.getTarget()), zero = b.index(0);
  int64_t channels = cast<MemRefType>(target.getType()).getDimSize(3);
  int64_t padded = helpers.buffers.padChannels(channels);
  auto buffer = [&](ArrayRef<int64_t> shape) {
    return allocate(MemRefType::get(shape, b.getF32Type()), op.getLoc());
  };
  Value part = buffer({helpers.buffers.padBlock(1), padded}), sum = buffer({padded});
  Value length = memref::DimOp::create(b, scalar(op.getOutputs().front()), 2);
  Value rows = b.index(static_cast<int64_t>(op.getRows()));
  Value end = arith::MinSIOp::create(b, b.add(start, rows), length);
  b.loop(start, end, 1, [&](Value row) {
    helpers.callFill(b, sum, 0);
    SmallVector<Value> at = {batch, head, row};
    for (auto [output, gates] : llvm::zip_equal(op.getOutputs(), op.getGates())) {
      bool isPerHead = cast<RankedTensorType>(gates.getType()).getRank() == 1;
      Value gate =
          memref::LoadOp::create(b, scalar(gates), isPerHead ? ValueRange(head) : ValueRange(at));
      Value isShut = b.isEqual(gate, b.scalar(0));
      Value isOpen = arith::XOrIOp::create(b, isShut, arith::ConstantIntOp::create(b, 1, 1));
      b.branch(isOpen, [&, output = output] {
        const int64_t single[] = {1};
        HelperFunctions::Box box = {batch, head, row, length, zero, single};
        helpers.callLoad(b, scalar(output), box, part, TileLayout::ChannelsLast);
        Value factor = b.broadcast(gate);
        b.loop(channels, b.getWidth(), [&](Value channel) {
          Value x = b.load(part, {zero, channel});
          b.store(b.fma(factor, x, b.load(sum, channel)), sum, channel);
        });
      });
    }
    writeScaled(b, sum, Value(), b.index(channels), target, at, zero);
  });
  return success();
}
