//===- CacheCounters.h - what a cache has done -----------------------------===//
#pragma once

#include <cstdint>

namespace lacuna {

/// Since the cache was opened, in this process.
struct CacheCounters {
  /// Requests answered from memory, from disk, and by waiting for another thread.
  uint64_t memoryHits = 0, diskHits = 0, sharedHits = 0;
  /// Requests that found nothing, and how many of them were then made (compiled) or failed.
  uint64_t misses = 0, made = 0, failed = 0;
  /// Entries that were found damaged, and removed.
  uint64_t damaged = 0;
  /// Entries removed to stay below the size limit: from memory, from disk.
  uint64_t memoryEvictions = 0, diskEvictions = 0;
  /// Entries that could not be written; waits for another process that took too long.
  uint64_t failedWrites = 0, lockTimeouts = 0;
  /// Bytes of contents.
  uint64_t bytesRead = 0, bytesWritten = 0, memoryBytes = 0;
};

} // namespace lacuna
