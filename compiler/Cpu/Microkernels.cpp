//===- Microkernels.cpp - the two products of attention -------------------===//
//
// Both multiply a broadcast scalar (one channel of one key) with vectors of
// query rows, and keep a register block of accumulators over the whole
// innermost loop.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/HelperFunctions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lacuna;

/// Loads `count` neighbouring vectors of one row.
static SmallVector<Value> loadVectors(VectorBuilder &b, Value buffer, Value row, Value column,
                                      int64_t count) {
  SmallVector<Value> vectors;
  for (int64_t v = 0; v < count; ++v)
    vectors.push_back(b.load(buffer, {row, b.offset(column, v * b.getWidth())}));
  return vectors;
}

/// acc[i, v] += broadcast(scalars[i]) * vectors[v].
static SmallVector<Value> outerProduct(VectorBuilder &b, ArrayRef<Value> scalars,
                                       ArrayRef<Value> vectors, ValueRange accumulators) {
  SmallVector<Value> next;
  for (auto [i, scalar] : llvm::enumerate(scalars)) {
    Value lanes = b.broadcast(scalar);
    for (auto [v, vector] : llvm::enumerate(vectors))
      next.push_back(b.fma(lanes, vector, accumulators[i * vectors.size() + v]));
  }
  return next;
}

void HelperFunctions::callDot(VectorBuilder &builder, Value query, Value key, Value scores,
                              int64_t channels, float scale) {
  Value factor = builder.scalar(scale);
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    Value q = arguments[0], k = arguments[1], s = arguments[2];
    auto shape = cast<MemRefType>(scores.getType()).getShape();
    int64_t block = buffers.getBlock(), vectors = buffers.vectorsPerBlock(shape[1]);
    Value zero = b.splat(0), scaleLanes = b.broadcast(arguments[3]);
    b.loop(shape[1], vectors * buffers.width, [&](Value row) {
      b.loop(shape[0], block, [&](Value firstKey) {
        SmallVector<Value> keys;
        for (int64_t i = 0; i < block; ++i)
          keys.push_back(b.offset(firstKey, i));
        SmallVector<Value> sums = b.loop(
            channels, 1, SmallVector<Value>(block * vectors, zero),
            [&](Value channel, ValueRange carried) {
              SmallVector<Value> rows = loadVectors(b, q, channel, row, vectors), scalars;
              for (Value keyIndex : keys)
                scalars.push_back(memref::LoadOp::create(b, k, ValueRange{keyIndex, channel}));
              return outerProduct(b, scalars, rows, carried);
            });
        for (int64_t i = 0; i < block; ++i)
          for (int64_t v = 0; v < vectors; ++v) {
            Value sum = arith::MulFOp::create(b, sums[i * vectors + v], scaleLanes);
            b.store(sum, s, {keys[i], b.offset(row, v * buffers.width)});
          }
      });
    });
    return {};
  };
  call(builder, "dot", Twine(channels), {query, key, scores, factor}, {}, write);
}

/// The register-blocked second product.
static void accumulateFinite(VectorBuilder &b, const TileBuffers &buffers, Value probabilities,
                             Value values, Value rescale, Value accumulator, int64_t keys) {
  auto shape = cast<MemRefType>(accumulator.getType()).getShape();
  int64_t block = buffers.getBlock(), vectors = buffers.vectorsPerBlock(shape[1]);
  b.loop(shape[1], vectors * buffers.width, [&](Value row) {
    b.loop(shape[0], block, [&](Value firstChannel) {
      SmallVector<Value> channels, init;
      for (int64_t i = 0; i < block; ++i) {
        channels.push_back(b.offset(firstChannel, i));
        for (auto [v, old] :
             llvm::enumerate(loadVectors(b, accumulator, channels.back(), row, vectors))) {
          Value factor = b.load(rescale, b.offset(row, v * buffers.width));
          init.push_back(arith::MulFOp::create(b, old, factor));
        }
      }
      SmallVector<Value> sums = b.loop(keys, 1, init, [&](Value key, ValueRange carried) {
        SmallVector<Value> rows = loadVectors(b, probabilities, key, row, vectors), scalars;
        for (Value channel : channels)
          scalars.push_back(memref::LoadOp::create(b, values, ValueRange{key, channel}));
        return outerProduct(b, scalars, rows, carried);
      });
      for (int64_t i = 0; i < block; ++i)
        for (int64_t v = 0; v < vectors; ++v)
          b.store(sums[i * vectors + v], accumulator,
                  {channels[i], b.offset(row, v * buffers.width)});
    });
  });
}

/// The same with NaN or infinity among the values: a probability of 0, which only a masked pair
/// has, must not meet them.
static void accumulateSelected(VectorBuilder &b, const TileBuffers &buffers, Value probabilities,
                               Value values, Value rescale, Value accumulator, int64_t keys) {
  auto shape = cast<MemRefType>(accumulator.getType()).getShape();
  Value zero = b.splat(0);
  b.loop(shape[1], buffers.width, [&](Value row) {
    Value factor = b.load(rescale, row);
    b.loop(shape[0], 1, [&](Value channel) {
      Value old = b.load(accumulator, {channel, row});
      Value init = arith::MulFOp::create(b, old, factor);
      Value sum = b.loop(keys, 1, init, [&](Value key, ValueRange carried) -> SmallVector<Value> {
                     Value p = b.load(probabilities, {key, row});
                     Value v = memref::LoadOp::create(b, values, ValueRange{key, channel});
                     Value product = arith::MulFOp::create(b, p, b.broadcast(v));
                     Value dead = b.isEqual(p, zero);
                     Value term = arith::SelectOp::create(b, dead, zero, product);
                     return {b.add(carried[0], term)};
                   }).front();
      b.store(sum, accumulator, {channel, row});
    });
  });
}

void HelperFunctions::callAccumulate(VectorBuilder &builder, Value probabilities, Value values,
                                     Value rescale, Value accumulator, int64_t keys, bool finite) {
  call(builder, finite ? "accumulate" : "accumulate_selected", Twine(keys),
       {probabilities, values, rescale, accumulator}, {},
       [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
         auto write = finite ? accumulateFinite : accumulateSelected;
         write(b, buffers, arguments[0], arguments[1], arguments[2], arguments[3], keys);
         return {};
       });
}
