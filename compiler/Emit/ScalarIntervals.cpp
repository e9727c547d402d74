//===- ScalarIntervals.cpp - which numbers a value may be -----------------===//
#include "compiler/Emit/ScalarPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace lacuna;

void ScalarPrinter::bind(Value value, std::string name, int64_t low, int64_t high) {
  names[value] = std::move(name);
  intervals[value] = {low, high};
}

ScalarPrinter::Interval ScalarPrinter::interval(Value value) {
  if (auto it = intervals.find(value); it != intervals.end())
    return it->second;
  APInt number;
  Interval result;
  if (matchPattern(value, m_ConstantInt(&number))) {
    int64_t v = value.getType().isInteger(1) ? number.getZExtValue() : number.getSExtValue();
    result = {v, v};
  } else if (Operation *op = value.getDefiningOp()) {
    result = intervalOf(op);
  } else {
    result = {-limit, limit};
  }
  intervals[value] = result;
  return result;
}

ScalarPrinter::Interval ScalarPrinter::intervalOf(Operation *op) {
  auto operand = [&](unsigned i) { return interval(op->getOperand(i)); };
  Interval full{-unbounded, unbounded};
  auto clampWide = [](__int128 value) {
    return static_cast<int64_t>(std::clamp<__int128>(value, -unbounded, unbounded));
  };
  Type type = op->getResult(0).getType();
  if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() <= 32)
    full = {-(int64_t{1} << (integer.getWidth() - 1)),
            (int64_t{1} << (integer.getWidth() - 1)) - 1};
  if (type.isInteger(1))
    full = {0, 1};
  Interval result =
      TypeSwitch<Operation *, Interval>(op)
          .Case<arith::AddIOp>([&](auto) -> Interval {
            return {clampWide(__int128(operand(0).low) + operand(1).low),
                    clampWide(__int128(operand(0).high) + operand(1).high)};
          })
          .Case<arith::SubIOp>([&](auto) -> Interval {
            return {clampWide(__int128(operand(0).low) - operand(1).high),
                    clampWide(__int128(operand(0).high) - operand(1).low)};
          })
          .Case<arith::MulIOp>([&](auto) -> Interval {
            Interval a = operand(0), b = operand(1);
            int64_t ends[] = {
                clampWide(__int128(a.low) * b.low), clampWide(__int128(a.low) * b.high),
                clampWide(__int128(a.high) * b.low), clampWide(__int128(a.high) * b.high)};
            return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
          })
          .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                arith::CeilDivUIOp>([&](auto) -> Interval {
            Interval a = operand(0), b = operand(1);
            if (isa<arith::DivUIOp, arith::CeilDivUIOp>(op) && (a.low < 0 || b.low < 0))
              return full;
            // By a positive constant both ends shrink; else a quotient is no larger than the
            // dividend, but for the sign.
            if (b.low == b.high && b.low > 0)
              return {a.low >= 0 ? a.low / b.low : a.low / b.low - 1, a.high / b.low + 1};
            int64_t bound = std::max(std::abs(a.low), std::abs(a.high));
            return {a.low >= 0 && b.low >= 0 ? 0 : -bound, bound};
          })
          .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) -> Interval {
            Interval a = operand(0), b = operand(1);
            if (isa<arith::RemUIOp>(op) && (a.low < 0 || b.low < 0))
              return b.low > 0 ? Interval{0, b.high} : full;
            int64_t bound = std::max(std::abs(b.low), std::abs(b.high));
            return {a.low >= 0 ? 0 : -bound, bound};
          })
          .Case<arith::MinSIOp>([&](auto) -> Interval {
            return {std::min(operand(0).low, operand(1).low),
                    std::min(operand(0).high, operand(1).high)};
          })
          .Case<arith::MaxSIOp>([&](auto) -> Interval {
            return {std::max(operand(0).low, operand(1).low),
                    std::max(operand(0).high, operand(1).high)};
          })
          .Case<arith::SelectOp>([&](auto) -> Interval {
            return {std::min(operand(1).low, operand(2).low),
                    std::max(operand(1).high, operand(2).high)};
          })
          .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto) { return operand(0); })
          .Case<tensor::DimOp>([&](auto) -> Interval { return {0, limit}; })
          .Default([&](Operation *) { return full; });
  if (type.isInteger() && !type.isInteger(64))
    result = {std::max(result.low, full.low), std::min(result.high, full.high)};
  return result;
}
