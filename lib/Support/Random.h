//===- Random.h - the same numbers on every machine ------------------------===//
#pragma once

#include "lacuna/Tensor.h"

#include <cstdint>

namespace lacuna {

/// xoshiro256** seeded through splitmix64. Only integer arithmetic and exact conversions take part,
/// so that a printed seed gives the same inputs everywhere; the standard library's distributions
/// and libm's logarithm do not promise that.
class Random {
public:
  /// Generators with the same seed and different streams are independent.
  explicit Random(uint64_t seed, uint64_t stream = 0);

  uint64_t next();
  /// Uniform in [0, bound); `bound` is positive.
  int64_t below(int64_t bound);
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// Uniform in [0, 1).
  double uniform();
  /// Mean 0, variance 1: the centred sum of twelve uniform numbers, so never beyond 6.
  double normal();

private:
  uint64_t state[4];
};

/// Overwrites a float tensor with normal numbers, in row-major order of its indices.
void fillNormal(Tensor &tensor, Random &random);

} // namespace lacuna
