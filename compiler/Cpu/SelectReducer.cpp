//===- SelectReducer.cpp - reductions of scores, on numbers or vectors ----===//
#include "compiler/Cpu/SelectReducer.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace lacuna;
using select::Reduction;
using select::ScoreKind;

static constexpr float infinity = std::numeric_limits<float>::infinity();

/// A constant of the type of `like`.
static Value constantLike(VectorBuilder &b, float number, Value like) {
  return isa<VectorType>(like.getType()) ? b.splat(number) : b.scalar(number);
}

static Value choose(VectorBuilder &b, Value condition, Value a, Value other) {
  return arith::SelectOp::create(b, condition, a, other).getResult();
}

std::array<float, Reducer::parts> Reducer::start() const {
  bool isGreatest = kind == Reduction::Max || kind == Reduction::LogSumExp;
  return {isGreatest ? -infinity : 0, 0, 0};
}

/// exp(x) + sum of the exponentials so far, both relative to the greatest exponent.
static std::pair<Value, Value> addExponential(VectorBuilder &b, Value greatest, Value sum,
                                              Value x) {
  Value next = arith::MaximumFOp::create(b, greatest, x);
  Value difference = arith::SubFOp::create(b, x, greatest);
  Value distance = arith::NegFOp::create(b, math::AbsFOp::create(b, difference));
  Value factor = math::ExpOp::create(b, distance);
  Value grows = b.isLess(greatest, x);
  Value scaled = arith::MulFOp::create(b, sum, factor);
  Value one = constantLike(b, 1, x);
  Value sumIfGrows = b.add(scaled, one), sumIfNot = b.add(sum, factor);
  Value result = choose(b, grows, sumIfGrows, sumIfNot);
  // exp(-inf) is 0, whatever was there before.
  Value isNone = b.isEqual(x, constantLike(b, -infinity, x));
  return {choose(b, isNone, greatest, next), choose(b, isNone, sum, result)};
}

SmallVector<Value> Reducer::add(VectorBuilder &b, ValueRange state, Value score, Value live) const {
  Value value = state[0], sum = state[1];
  switch (kind) { // No default: a new kind must break this build.
  case Reduction::Sum:
  case Reduction::Mean:
    value = b.add(value, score);
    break;
  case Reduction::Max:
    value = arith::MaximumFOp::create(b, value, score);
    break;
  case Reduction::LogSumExp:
    std::tie(value, sum) = addExponential(b, value, sum, score);
    break;
  }
  Value count = b.add(state[2], constantLike(b, 1, score));
  return {choose(b, live, value, state[0]), choose(b, live, sum, state[1]),
          choose(b, live, count, state[2])};
}

Value Reducer::finish(VectorBuilder &b, ValueRange state) const {
  Value value = state[0], none = constantLike(b, -infinity, value);
  if (kind == Reduction::Mean)
    value = arith::DivFOp::create(b, value, state[2]);
  if (kind == Reduction::LogSumExp) {
    // Sums relative to an infinity have no meaning: then it is the result itself.
    Value sum = b.add(value, math::LogOp::create(b, state[1]));
    Value isInfinite = b.isEqual(value, constantLike(b, infinity, value));
    Value isNone = b.isEqual(value, none);
    value = choose(b, isNone, none, choose(b, isInfinite, value, sum));
  }
  Value isEmpty = b.isEqual(state[2], constantLike(b, 0, value));
  return choose(b, isEmpty, none, value);
}

void lacuna::callPairScores(HelperFunctions &helpers, VectorBuilder &builder, ScoreKind kind,
                            Value query, Value key, Value companion, Value scores, int64_t channels,
                            float scale) {
  Value factor = builder.scalar(scale);
  auto write = [&](VectorBuilder &b, ValueRange arguments) -> SmallVector<Value> {
    Value q = arguments[0], k = arguments[1], c = arguments[2], s = arguments[3];
    Value scaling = b.broadcast(arguments[4]), zero = b.splat(0);
    auto shape = cast<MemRefType>(scores.getType()).getShape();
    auto element = [&](VectorBuilder &at, Value buffer, Value row, Value channel) {
      return at.broadcast(memref::LoadOp::create(at, buffer, ValueRange{row, channel}));
    };
    b.loop(shape[1], b.getWidth(), [&](Value row) {
      b.loop(shape[0], 1, [&](Value pair) {
        // The sum over keys, and the one over the companion or over squares of the query.
        SmallVector<Value> sums =
            b.loop(channels, 1, {zero, zero}, [&](Value channel, ValueRange carried) {
              Value x = b.load(q, {channel, row}), y = element(b, k, pair, channel);
              if (kind == ScoreKind::Box) {
                Value one = arith::MulFOp::create(b, x, y);
                Value other = arith::MulFOp::create(b, x, element(b, c, pair, channel));
                Value most = arith::MaximumFOp::create(b, one, other);
                return SmallVector<Value>{b.add(carried[0], most), carried[1]};
              }
              Value square = arith::MulFOp::create(b, x, x);
              Value second = kind == ScoreKind::Ball
                                 ? b.add(carried[1], square)
                                 : b.fma(square, element(b, c, pair, channel), carried[1]);
              return SmallVector<Value>{b.fma(x, y, carried[0]), second};
            });
        Value score = arith::MulFOp::create(b, sums[0], scaling);
        if (kind == ScoreKind::Ball) {
          Value length = math::SqrtOp::create(b, sums[1]);
          Value reach = arith::MulFOp::create(b, length, element(b, c, pair, b.index(0)));
          score = arith::MulFOp::create(b, b.add(sums[0], reach), scaling);
        } else if (kind == ScoreKind::Quadratic) {
          Value half = arith::MulFOp::create(b, scaling, b.splat(0.5f));
          Value squared = arith::MulFOp::create(b, scaling, half);
          score = b.fma(sums[1], squared, score);
        }
        b.store(score, s, {pair, row});
      });
    });
    return {};
  };
  helpers.call(builder, "pair_scores", select::stringifyScoreKind(kind) + " " + Twine(channels),
               {query, key, companion, scores, factor}, {}, write);
}
