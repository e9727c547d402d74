//===- Half.h - 16-bit floats as bits --------------------------------------===//
#pragma once

#include <cstdint>

namespace lacuna {

/// The nearest f16 (ties to even), as bits. Values beyond the range become infinities, a NaN stays
/// a NaN. Rounds once: going through f32 first could round twice.
uint16_t toF16(double value);
double fromF16(uint16_t bits);

/// The nearest bf16 (ties to even), as bits; the same rules.
uint16_t toBF16(double value);
double fromBF16(uint16_t bits);

} // namespace lacuna
