//===- ParallelFor.h - independent rows on several threads -----------------===//
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lacuna::reference {

/// Calls `work(index)` for 0 .. count-1 on `threads` threads (0: one per core). Each call may write
/// only what belongs to its index.
template <typename Work> void parallelFor(int64_t count, unsigned threads, Work work) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<int64_t>(threads, count));
  std::atomic<int64_t> next{0};
  auto drain = [&] {
    for (int64_t index = next++; index < count; index = next++)
      work(index);
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back(drain);
  drain();
  for (std::thread &other : others)
    other.join();
}

} // namespace lacuna::reference
