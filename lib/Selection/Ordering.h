//===- Ordering.h - the n greatest of many keys ----------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lacuna::selection {

/// A number's place among all others as an unsigned integer: rises with the number, 0 and -0 are
/// one, above 1 for every number. NaN is 1.
inline uint32_t orderOf(float number) {
  if (std::isnan(number))
    return 1;
  auto bits = std::bit_cast<uint32_t>(number + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// The place of a score among candidates; 0 for one that is none.
inline uint32_t candidateOrder(float score) { return score == -INFINITY ? 0 : orderOf(score); }

/// Where the n greatest keys end: all above `key`, and the first `ties` of those equal to it.
struct Cut {
  uint32_t key = UINT32_MAX;
  int64_t ties = 0;

  /// Whether the next element in order is taken.
  bool takes(uint32_t element) {
    if (element != key)
      return element > key;
    return ties > 0 && ties-- > 0;
  }
};

/// Bits of a key that one pass over the keys settles.
inline constexpr int digitBits = 8;
inline constexpr uint32_t digits = 1u << digitBits;

/// The cut after the `count` greatest keys, at least 1 and no more than there are. `forEach` calls
/// its argument with every key, and is run four times.
template <typename ForEach> Cut findCut(ForEach forEach, int64_t count) {
  uint32_t prefix = 0, known = 0;
  for (int shift = 32 - digitBits; shift >= 0; shift -= digitBits) {
    int64_t histogram[digits] = {};
    forEach([&](uint32_t key) {
      if ((key & known) == prefix)
        ++histogram[(key >> shift) & (digits - 1)];
    });
    uint32_t digit = digits - 1;
    for (; digit > 0 && histogram[digit] < count; --digit)
      count -= histogram[digit];
    prefix |= digit << shift;
    known |= (digits - 1) << shift;
  }
  return {prefix, count};
}

/// `share` of `count`, rounded up. Shares are multiples of 2^-32, so that every target computes
/// with integers and none of them makes 8 of 7 % of 100.
inline int64_t countOfShare(double share, int64_t count) {
  if (!(share > 0))
    return 0;
  auto multiple = static_cast<unsigned __int128>(std::floor(std::fmin(share, 0x1p30) * 0x1p32));
  constexpr unsigned __int128 below = (static_cast<unsigned __int128>(1) << 32) - 1;
  return static_cast<int64_t>((multiple * static_cast<uint64_t>(count) + below) >> 32);
}

} // namespace lacuna::selection
