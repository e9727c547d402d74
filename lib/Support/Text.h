//===- Text.h - numbers as people write them -------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// "1,048,576".
std::string groupedText(int64_t number);
/// Three digits and a prefix: "1.05M", "12.3G"; for rates and FLOP counts.
std::string siText(double number);
/// "850 us", "12.3 ms", "1.45 s".
std::string durationText(double seconds);

/// A whole decimal integer with an optional sign and nothing after it, or nothing.
std::optional<int64_t> parseInteger(std::string_view text);
/// A whole number with a fraction or exponent, or nothing.
std::optional<double> parseNumber(std::string_view text);
/// Bytes, perhaps with K, M, G or T behind the number (2^10 and so on); nothing when it is no such
/// number or beyond 63 bits.
std::optional<uint64_t> parseBytes(std::string_view text);
/// "1x8x4096x64": non-negative extents between `x`.
std::optional<std::vector<int64_t>> parseShape(std::string_view text);

} // namespace lacuna
