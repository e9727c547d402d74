//===- Half.cpp - 16-bit floats as bits ------------------------------------===//
#include "lib/Support/Half.h"

#include <bit>
#include <cmath>

namespace lacuna {

namespace {
/// A binary format of one sign bit, `exponentBits` and `fractionBits`, 16 bits in all.
struct Format {
  int exponentBits, fractionBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint16_t infinity() const {
    return static_cast<uint16_t>(((1 << exponentBits) - 1) << fractionBits);
  }
};
constexpr Format f16Format{5, 10}, bf16Format{8, 7};

/// Rounds the bits of the f64. A carry adds up into the exponent by itself, and at the top of the
/// range gives infinity.
uint16_t encodeNormal(double magnitude, Format format) {
  constexpr int fractionBits = 52, bias = 1023;
  auto bits = std::bit_cast<uint64_t>(magnitude);
  int dropped = fractionBits - format.fractionBits;
  uint64_t isOdd = (bits >> dropped) & 1;
  uint64_t rounded = (bits + ((uint64_t{1} << (dropped - 1)) - 1) + isOdd) >> dropped;
  auto rebias = static_cast<uint64_t>(bias - format.bias()) << format.fractionBits;
  return static_cast<uint16_t>(rounded - rebias);
}

/// Counts in units of the smallest subnormal.
uint16_t encodeSubnormal(double magnitude, Format format) {
  double scaled = std::ldexp(magnitude, format.fractionBits - (1 - format.bias()));
  double whole = std::floor(scaled);
  double rest = scaled - whole;
  auto count = static_cast<uint16_t>(whole);
  return count + static_cast<uint16_t>(rest > 0.5 || (rest == 0.5 && (count & 1)));
}

uint16_t encode(double value, Format format) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) // The quiet bit keeps the fraction from becoming that of an infinity.
    return sign | format.infinity() | static_cast<uint16_t>(1 << (format.fractionBits - 1));
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | format.infinity();
  int exponent = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023;
  if (exponent > format.bias())
    return sign | format.infinity();
  return sign | (exponent < 1 - format.bias() ? encodeSubnormal(magnitude, format)
                                              : encodeNormal(magnitude, format));
}

} // namespace

uint16_t toF16(double value) { return encode(value, f16Format); }
double fromF16(uint16_t bits) {
  // Shifted into place, the bits are an f32 whose exponent is 112 too small; a product of powers of
  // two mends that exactly, subnormals included.
  auto magnitude = std::bit_cast<float>(static_cast<uint32_t>(bits & 0x7FFF) << 13);
  bool finite = (bits & 0x7C00) != 0x7C00;
  double value = finite ? magnitude * 0x1p112f : (bits & 0x03FF) ? std::nan("") : HUGE_VAL;
  return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
}
uint16_t toBF16(double value) { return encode(value, bf16Format); }
double fromBF16(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

} // namespace lacuna
