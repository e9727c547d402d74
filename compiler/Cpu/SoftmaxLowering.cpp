//===- SoftmaxLowering.cpp - the online softmax on columns of scores ------===//
//
// Scores lie as keys x rows, so maxima and sums over keys go lane by lane.
//
//===----------------------------------------------------------------------===//
#include "compiler/Cpu/HelperFunctions.h"
#include "compiler/Cpu/VectorMath.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lacuna;

/// The largest of 4, 2, 1 that divides `count`: independent chains hide latency.
static int64_t getUnroll(int64_t count, int64_t most) {
  while (count % most != 0)
    most /= 2;
  return most;
}

/// The largest of `start` and the scores of `keys` keys.
static Value emitMaximum(VectorBuilder &b, Value scores, Value row, Value start, int64_t keys) {
  int64_t unroll = getUnroll(keys, 4);
  SmallVector<Value> largest =
      b.loop(keys, unroll, SmallVector<Value>(unroll, start), [&](Value key, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t u = 0; u < unroll; ++u)
          next.push_back(b.maximum(b.load(scores, {b.offset(key, u), row}), carried[u]));
        return next;
      });
  Value result = largest.front();
  for (Value other : ArrayRef(largest).drop_front())
    result = b.maximum(other, result);
  return result;
}

/// Replaces scores by exp(score - shift); the sum over keys.
static Value emitProbabilities(VectorBuilder &b, Value scores, Value row, Value shift,
                               int64_t keys) {
  int64_t unroll = getUnroll(keys, 4);
  SmallVector<Value> sums = b.loop(
      keys, unroll, SmallVector<Value>(unroll, b.splat(0)), [&](Value key, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t u = 0; u < unroll; ++u) {
          Value at = b.offset(key, u);
          Value p = emitExpDifference(b, b.load(scores, {at, row}), shift);
          b.store(p, scores, {at, row});
          next.push_back(b.add(carried[u], p));
        }
        return next;
      });
  Value total = sums.front();
  for (Value sum : ArrayRef(sums).drop_front())
    total = b.add(total, sum);
  return total;
}

void HelperFunctions::callStep(VectorBuilder &builder, Value scores, Value values, Value finite,
                               Value accumulator, Value maximum, Value sum, int64_t keys) {
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    Value s = arguments[0], v = arguments[1], acc = arguments[3], m = arguments[4],
          l = arguments[5];
    auto rowType = cast<MemRefType>(maximum.getType());
    Value rescale = memref::AllocaOp::create(b, rowType, b.getI64IntegerAttr(64));
    b.loop(rowType.getDimSize(0), buffers.width, [&](Value row) {
      Value oldMaximum = b.load(m, row);
      Value newMaximum = emitMaximum(b, s, row, oldMaximum, keys);
      // A row that has seen no key keeps -inf; its probabilities are 0 with any shift.
      Value shift = emitFiniteShift(b, newMaximum);
      Value factor = emitExpDifference(b, oldMaximum, shift);
      Value added = emitProbabilities(b, s, row, shift, keys);
      b.store(b.fma(factor, b.load(l, row), added), l, row);
      b.store(newMaximum, m, row);
      b.store(factor, rescale, row);
    });
    b.branch(
        arguments[2], [&] { callAccumulate(b, s, v, rescale, acc, keys, /*finite=*/true); },
        [&] { callAccumulate(b, s, v, rescale, acc, keys, /*finite=*/false); });
    return {};
  };
  call(builder, "softmax_step", Twine(keys), {scores, values, finite, accumulator, maximum, sum},
       {}, write);
}

/// 1 / value, and 0 for 0.
static Value emitReciprocal(VectorBuilder &b, Value value) {
  Value isZero = b.isEqual(value, b.splat(0));
  Value inverse = arith::DivFOp::create(b, b.splat(1), value);
  return arith::SelectOp::create(b, isZero, b.splat(0), inverse).getResult();
}

void HelperFunctions::callFinish(VectorBuilder &builder, Value accumulator, Value maximum,
                                 Value sum, Value sink, Value lse) {
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    auto shape = cast<MemRefType>(accumulator.getType()).getShape();
    b.loop(shape[1], buffers.width, [&](Value row) {
      Value m = b.load(arguments[1], row), l = b.load(arguments[2], row), factor;
      if (sink) {
        // The sink joins as one more score that has no value.
        Value t = b.broadcast(arguments[4]);
        Value larger = b.maximum(t, m);
        Value shift = emitFiniteShift(b, larger);
        Value weight = emitExpDifference(b, m, shift);
        l = b.fma(weight, l, emitExpDifference(b, t, shift));
        m = larger;
        factor = arith::MulFOp::create(b, weight, emitReciprocal(b, l));
      } else {
        factor = emitReciprocal(b, l);
      }
      b.store(b.add(m, emitLog(b, l)), arguments[3], row);
      b.loop(shape[0], 1, [&](Value channel) {
        Value value = b.load(arguments[0], {channel, row});
        value = arith::MulFOp::create(b, value, factor);
        b.store(value, arguments[0], {channel, row});
      });
    });
    return {};
  };
  SmallVector<Value> operands = {accumulator, maximum, sum, lse};
  if (sink)
    operands.push_back(sink);
  call(builder, "finish", "", operands, {}, write);
}

void HelperFunctions::callMerge(VectorBuilder &builder, ValueRange outputs, ValueRange lses,
                                Value output, Value lse) {
  size_t parts = outputs.size();
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    auto shape = cast<MemRefType>(output.getType()).getShape();
    ValueRange o = arguments.take_front(parts), e = arguments.slice(parts, parts);
    Value zero = b.splat(0);
    b.loop(shape[1], buffers.width, [&](Value row) {
      SmallVector<Value> weights;
      for (Value part : e)
        weights.push_back(b.load(part, row));
      Value largest = weights.front();
      for (Value weight : ArrayRef(weights).drop_front())
        largest = b.maximum(weight, largest);
      Value shift = emitFiniteShift(b, largest), total = zero;
      for (Value &weight : weights) {
        weight = emitExpDifference(b, weight, shift);
        total = b.add(total, weight);
      }
      Value factor = emitReciprocal(b, total);
      b.store(b.add(largest, emitLog(b, total)), arguments.back(), row);
      b.loop(shape[0], 1, [&](Value channel) {
        Value mix = zero;
        for (auto [part, weight] : llvm::zip_equal(o, weights)) {
          // An empty part adds nothing, whatever its output holds.
          Value term = arith::MulFOp::create(b, b.load(part, {channel, row}), weight);
          Value isEmpty = b.isEqual(weight, zero);
          mix = b.add(mix, arith::SelectOp::create(b, isEmpty, zero, term));
        }
        mix = arith::MulFOp::create(b, mix, factor);
        b.store(mix, arguments[2 * parts], {channel, row});
      });
    });
    return {};
  };
  SmallVector<Value> operands = llvm::to_vector(outputs);
  operands.append(lses.begin(), lses.end());
  operands.append({output, lse});
  call(builder, "merge", "", operands, {}, write);
}
