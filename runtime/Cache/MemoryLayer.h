//===- MemoryLayer.h - entries of the cache in memory ----------------------===//
#pragma once

#include "runtime/Cache/BlobStore.h"

#include <list>
#include <map>

namespace lacuna {

/// What was used last, up to a number of bytes. Not for several threads at once.
class MemoryLayer {
public:
  explicit MemoryLayer(uint64_t limit) : limit(limit) {}

  /// The entry, which now is the one used last, or null.
  Blob find(const CacheKey &key);
  /// Keeps an entry; returns how many others had to go. One that is larger than everything else may
  /// be is not kept.
  uint64_t put(const CacheKey &key, Blob blob);
  void remove(const CacheKey &key);
  uint64_t bytes() const { return held; }

private:
  struct Item {
    CacheKey key;
    Blob blob;
  };
  /// Last use first.
  std::list<Item> order;
  std::map<CacheKey, std::list<Item>::iterator> items;
  uint64_t limit, held = 0;
};

} // namespace lacuna
