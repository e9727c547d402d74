//===- Text.cpp - numbers as people write them -----------------------------===//
#include "lib/Support/Text.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace lacuna {

std::string groupedText(int64_t number) {
  std::string digits = std::to_string(number);
  size_t first = number < 0 ? 1 : 0;
  for (size_t position = digits.size(); position > first + 3;)
    digits.insert(position -= 3, ",");
  return digits;
}

/// Three significant digits of a number below 1000.
static std::string threeDigits(double number) {
  int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", number, decimals);
}

std::string siText(double number) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; std::fabs(number) >= 999.5 && prefix + 1 < std::size(prefixes); ++prefix)
    number /= 1000;
  if (prefix == 0 && number == std::floor(number))
    return fmt::format("{:.0f}", number);
  return threeDigits(number) + prefixes[prefix];
}

std::string durationText(double seconds) {
  if (seconds < 0.9995e-3)
    return threeDigits(seconds * 1e6) + " us";
  if (seconds < 0.9995)
    return threeDigits(seconds * 1e3) + " ms";
  return threeDigits(seconds) + " s";
}

std::optional<int64_t> parseInteger(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-')
    text.remove_prefix(1);
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::optional<double> parseNumber(std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::optional<uint64_t> parseBytes(std::string_view text) {
  constexpr std::string_view prefixes = "KMGT";
  size_t power = text.empty() ? prefixes.npos : prefixes.find(text.back());
  if (power != prefixes.npos)
    text.remove_suffix(1);
  int64_t unit = int64_t{1} << (power == prefixes.npos ? 0 : 10 * (power + 1)), bytes = 0;
  std::optional<int64_t> number = parseInteger(text);
  if (!number || *number < 0 || __builtin_mul_overflow(*number, unit, &bytes))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::optional<std::vector<int64_t>> parseShape(std::string_view text) {
  std::vector<int64_t> shape;
  while (true) {
    size_t end = text.find('x');
    std::optional<int64_t> extent = parseInteger(text.substr(0, end));
    if (!extent || *extent < 0)
      return std::nullopt;
    shape.push_back(*extent);
    if (end == std::string_view::npos)
      return shape;
    text.remove_prefix(end + 1);
  }
}

} // namespace lacuna
