//===- Metrics.h - what Lacuna has done in this process --------------------===//
#pragma once

#include "lacuna/CacheCounters.h"

#include <cstdint>

namespace lacuna {

/// Since the process started, over all GPUs, programs and threads.
struct Metrics {
  /// Runs of GPU programs that were queued, and runs that were refused or failed.
  uint64_t runs = 0, failedRuns = 0;
  /// Runs whose shapes and numbers were new: launches were worked out anew.
  uint64_t plannedRuns = 0;
  /// Kernels queued.
  uint64_t launches = 0;
  /// Programs put on a GPU, and their kernels.
  uint64_t loadedPrograms = 0, loadedKernels = 0;
  /// Kernels that NVRTC compiled or refused, and how long it took in all.
  uint64_t compiles = 0, failedCompiles = 0, compileNanoseconds = 0;
  /// Device memory that runs asked their allocator for: bytes in all, and how often.
  uint64_t allocatedBytes = 0, allocations = 0;
  /// All stores of the process together.
  CacheCounters cache;
};

/// The numbers now. Each is exact; they may be of slightly different moments.
Metrics metrics();

} // namespace lacuna
