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

uint16_t encode(double value, Format format) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) // The quiet bit keeps the fraction from becoming that of an infinity.
    return sign | format.infinity() | static_cast<uint16_t>(1 << (format.fractionBits - 1));
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | format.infinity();
  int exponent = std::ilogb(magnitude);
  int smallest = 1 - format.bias();
  if (exponent > format.bias() + 1)
    return sign | format.infinity();
  // Count in units of the last place; below the normal range the unit stays that of the subnormals.
  int unit = (exponent < smallest ? smallest : exponent) - format.fractionBits;
  double scaled = std::ldexp(magnitude, -unit);
  double whole = std::floor(scaled);
  double rest = scaled - whole;
  auto count = static_cast<int64_t>(whole);
  if (rest > 0.5 || (rest == 0.5 && (count & 1)))
    ++count;
  // A normal number's count includes the hidden bit, so a carry into the exponent adds up by
  // itself.
  int64_t biased = exponent < smallest ? 0 : exponent - smallest;
  int64_t bits = (biased << format.fractionBits) + count;
  if (bits > format.infinity())
    bits = format.infinity();
  return sign | static_cast<uint16_t>(bits);
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
