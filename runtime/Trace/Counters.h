//===- Counters.h - counting what happens in this process ------------------===//
#pragma once

#include <atomic>
#include <cstdint>

namespace lacuna {

/// What `metrics()` shows, but for caches, which count themselves.
struct Counters {
  std::atomic<uint64_t> runs = 0, failedRuns = 0, plannedRuns = 0, launches = 0;
  std::atomic<uint64_t> loadedPrograms = 0, loadedKernels = 0;
  std::atomic<uint64_t> compiles = 0, failedCompiles = 0, compileNanoseconds = 0;
  std::atomic<uint64_t> allocatedBytes = 0, allocations = 0;
};

/// Those of this process.
Counters &counters();

/// Adds to one; orders nothing.
inline void count(std::atomic<uint64_t> Counters::*member, uint64_t by = 1) {
  (counters().*member).fetch_add(by, std::memory_order_relaxed);
}

} // namespace lacuna
