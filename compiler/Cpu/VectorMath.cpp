//===- VectorMath.cpp - exponentials on vectors ---------------------------===//
#include "compiler/Cpu/VectorMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace lacuna;

static constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

Value lacuna::emitExpDifference(VectorBuilder &b, Value x, Value shift) {
  // exp(t) = 2^n exp(r) with n = round(t / log 2) and |r| <= log(2) / 2.
  constexpr float smallest = -87.0f, inverseLog2 = 1.44269504f;
  // log 2 in two parts: n times the first is exact.
  constexpr float log2High = 0.693359375f, log2Low = -2.12194440e-4f;
  // 1.5 * 2^23 makes the sum an integer in its low bits; 127 is the bias of the exponent.
  constexpr float magic = 12582912.0f + 127.0f;
  // Cephes' expf.
  constexpr float coefficients[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                    1.6666665459e-1f, 5.0000001201e-1f};

  Value t = arith::SubFOp::create(b, x, shift);
  Value low = b.splat(smallest);
  Value isLow = b.isLess(t, low);
  t = arith::SelectOp::create(b, isLow, low, t);
  Value biased = b.fma(t, b.splat(inverseLog2), b.splat(magic));
  Value n = arith::SubFOp::create(b, biased, b.splat(magic));
  Value r = b.fma(n, b.splat(-log2High), t);
  r = b.fma(n, b.splat(-log2Low), r);
  Value polynomial = b.splat(1.9875691500e-4f);
  for (float coefficient : coefficients)
    polynomial = b.fma(polynomial, r, b.splat(coefficient));
  Value square = arith::MulFOp::create(b, r, r);
  polynomial = b.fma(polynomial, square, r);
  polynomial = arith::AddFOp::create(b, polynomial, b.splat(1.0f));

  VectorType integers = b.vectorOf(b.getI32Type());
  Value bits = arith::BitcastOp::create(b, integers, biased);
  Value shiftBy = arith::ConstantOp::create(
      b, DenseElementsAttr::get(integers, b.getI32IntegerAttr(23).getValue()));
  bits = arith::ShLIOp::create(b, bits, shiftBy);
  Value power = arith::BitcastOp::create(b, b.vectorOf(b.getF32Type()), bits);
  Value result = arith::MulFOp::create(b, polynomial, power);
  Value masked = b.isEqual(x, b.splat(minusInfinity));
  return arith::SelectOp::create(b, masked, b.splat(0), result).getResult();
}

Value lacuna::emitFiniteShift(VectorBuilder &b, Value value) {
  Value empty = b.isEqual(value, b.splat(minusInfinity));
  return arith::SelectOp::create(b, empty, b.splat(0), value).getResult();
}

Value lacuna::emitLog(VectorBuilder &b, Value value) {
  return math::LogOp::create(b, value).getResult();
}
