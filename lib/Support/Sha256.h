//===- Sha256.h - digests of bytes -----------------------------------------===//
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lacuna {

/// 256 bits that stand for a text.
struct Digest {
  std::array<uint8_t, 32> bytes = {};
  /// 64 digits, lower case.
  std::string hex() const;
  /// The digest that `hex` has written, or nothing.
  static std::optional<Digest> parse(std::string_view hex);
  friend auto operator<=>(const Digest &, const Digest &) = default;
};

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
class Sha256 {
public:
  /// Instructions of the processor are used where it has them, unless `portable` says otherwise.
  explicit Sha256(bool portable = false);
  Sha256 &update(std::string_view bytes);
  /// The digest of everything so far; nothing may follow.
  Digest finish();

private:
  void compress(const uint8_t *blocks, size_t count);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending = {};
  uint64_t length = 0;
  bool usesInstructions;
};

Digest sha256(std::string_view bytes);

/// A digest over named fields. Lengths are part of it, so that no two lists of fields collide.
class FieldDigest {
public:
  FieldDigest &field(std::string_view name, std::string_view value);
  FieldDigest &field(std::string_view name, int64_t value);
  Digest finish() { return hash.finish(); }

private:
  Sha256 hash;
};

} // namespace lacuna
