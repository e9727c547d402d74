//===- ByteCoder.h - values as bytes, and back -----------------------------===//
//
// One description of a type serves both directions: a function `code(coder, value)` that hands each
// member to the coder. Numbers are little-endian; lists and texts start with a 32-bit length.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Status.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lacuna {

/// Appends values to bytes.
class ByteWriter {
public:
  template <typename T> using Value = const T;

  template <typename T> void integer(T value) {
    for (size_t byte = 0; byte < sizeof(T); ++byte)
      bytes += static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * byte) & 255);
  }
  template <typename T> void enumeration(T value, T, const char *) {
    integer(static_cast<uint8_t>(value));
  }
  void text(std::string_view value) {
    integer(static_cast<uint32_t>(value.size()));
    bytes += value;
  }
  template <typename T, typename Each> void list(const std::vector<T> &values, Each each) {
    integer(static_cast<uint32_t>(values.size()));
    for (const T &value : values)
      each(value);
  }
  template <typename T> void optional(const std::optional<T> &value) {
    integer(static_cast<uint8_t>(value.has_value()));
    if (value)
      integer(*value);
  }

  std::string bytes;
};

/// Takes values from bytes. After the first thing that is wrong every value is empty and `status`
/// says what it was. Lists grow with the bytes that are there, whatever length they claim.
class ByteReader {
public:
  template <typename T> using Value = T;

  explicit ByteReader(std::string_view bytes) : rest(bytes), size(bytes.size()) {}

  template <typename T> void integer(T &value) {
    value = 0;
    std::string_view taken = take(sizeof(T));
    std::make_unsigned_t<T> bits = 0;
    for (size_t byte = 0; byte < taken.size(); ++byte)
      bits |= static_cast<std::make_unsigned_t<T>>(
          static_cast<std::make_unsigned_t<T>>(static_cast<uint8_t>(taken[byte])) << (8 * byte));
    value = static_cast<T>(bits);
  }
  template <typename T> void enumeration(T &value, T last, const char *what) {
    uint8_t number = 0;
    integer(number);
    if (number > static_cast<uint8_t>(last))
      fail(fmt::format("expected {} to be a number up to {}, got {}", what,
                       static_cast<unsigned>(last), number));
    value = static_cast<T>(failed() ? 0 : number);
  }
  void text(std::string &value) { value = take(length("a text")); }
  template <typename T, typename Each> void list(std::vector<T> &values, Each each) {
    values.clear();
    for (uint32_t count = length("a list"); count > 0 && !failed(); --count)
      each(values.emplace_back());
  }
  template <typename T> void optional(std::optional<T> &value) {
    uint8_t has = 0;
    integer(has);
    if (has > 1)
      fail(fmt::format("expected 0 or 1 before an optional number, got {}", has));
    value.reset();
    if (has == 1 && !failed())
      integer(value.emplace());
  }

  void fail(std::string what) {
    if (!failed())
      message = fmt::format("byte {}: {}", size - rest.size(), what);
    rest = {};
  }
  bool failed() const { return !message.empty(); }
  /// Corrupt at the first thing that was wrong, or when bytes are left.
  Status finish() {
    if (!failed() && !rest.empty())
      fail(fmt::format("expected the end, got {} more bytes", rest.size()));
    return failed() ? Status::error(StatusCode::Corrupt, message) : Status::ok();
  }

private:
  std::string_view take(size_t count) {
    if (count > rest.size())
      fail(fmt::format("expected {} bytes, got {}", count, rest.size()));
    std::string_view taken = failed() ? std::string_view() : rest.substr(0, count);
    rest.remove_prefix(taken.size());
    return taken;
  }
  /// Every element has at least one byte.
  uint32_t length(const char *what) {
    uint32_t count = 0;
    integer(count);
    if (count > rest.size())
      fail(fmt::format("expected {} of at most {} elements, got {}", what, rest.size(), count));
    return failed() ? 0 : count;
  }

  std::string_view rest;
  size_t size;
  std::string message;
};

} // namespace lacuna
