//===- Philox.h - random numbers by position -------------------------------===//
#pragma once

#include <array>
#include <cstdint>

namespace lacuna::selection {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3).
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  constexpr uint64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t steps[] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    uint64_t first = multipliers[0] * counter[0], second = multipliers[1] * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key = {key[0] + steps[0], key[1] + steps[1]};
  }
  return counter;
}

/// A number in [0, 1) with 24 bits, for one column of one row: the counter is (column, row, head,
/// batch), the key is the seed, low word first.
inline float uniformAt(int64_t seed, int64_t batch, int64_t head, int64_t row, int64_t column) {
  auto word = [](int64_t number) { return static_cast<uint32_t>(number); };
  uint32_t drawn = philox({word(column), word(row), word(head), word(batch)},
                          {word(seed), static_cast<uint32_t>(seed >> 32)})[0];
  return static_cast<float>(drawn >> 8) * 0x1p-24f;
}

} // namespace lacuna::selection
