//===- RunReport.h - what a run found, as text or JSON ---------------------===//
#pragma once

#include "compiler/Driver/CheckResults.h"

namespace lacuna::tool {

/// Everything that `lacuna run` prints.
struct RunReport {
  std::string function, target;
  /// The line of `--sets` that this run is of.
  std::string set;
  const BoundSpec *spec = nullptr;
  int64_t threads = 0;
  /// Live pairs over all attends, heads and batch entries; all pairs.
  int64_t livePairs = 0, allPairs = 0;
  /// Multiply-adds of live pairs count as two.
  double flops = 0;
  double compileSeconds = 0, runSeconds = 0;
  int64_t repeats = 1;
  /// With --check.
  std::optional<CheckReport> check;
  uint64_t sampleSeed = 0;

  std::string text() const;
  std::string json() const;
};

} // namespace lacuna::tool
