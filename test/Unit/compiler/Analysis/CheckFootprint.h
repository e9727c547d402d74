//===- CheckFootprint.h - boxes of key tiles against brute force ----------===//
#pragma once

#include "compiler/Analysis/Footprint.h"

#include "RandomFormula.h"

namespace lacuna::test {

/// Sanitizers cost a factor that limits on time must not count.
#if defined(__SANITIZE_ADDRESS__)
constexpr double slowdown = 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr double slowdown = 10;
#else
constexpr double slowdown = 1;
#endif
#else
constexpr double slowdown = 1;
#endif

/// What a series of checks has seen.
struct Counts {
  uint64_t cases = 0, exact = 0, bounded = 0, liveTiles = 0, fullTiles = 0, lostTiles = 0;
  uint64_t extraTiles = 0;
  size_t maxBoxes = 0;
  double slowest = 0;
  uint64_t slowestSeed = 0;
};

/// Expects of every query tile that each live key tile is visited once, that none is missed, that
/// full tiles have live pairs only, that partial is live without full, and that an exact footprint
/// visits no tile without live pairs.
void checkFootprint(const Footprint &footprint, const SetValues &values,
                    const sparsity::Formula &formula, const TileShape &shape, Counts &counts);

} // namespace lacuna::test
