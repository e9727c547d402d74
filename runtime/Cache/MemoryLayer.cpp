//===- MemoryLayer.cpp - entries of the cache in memory --------------------===//
#include "runtime/Cache/MemoryLayer.h"

namespace lacuna {

Blob MemoryLayer::find(const CacheKey &key) {
  auto found = items.find(key);
  if (found == items.end())
    return nullptr;
  order.splice(order.begin(), order, found->second);
  return found->second->blob;
}

uint64_t MemoryLayer::put(const CacheKey &key, Blob blob) {
  remove(key);
  if (blob->size() > limit)
    return 0;
  held += blob->size();
  order.push_front({key, std::move(blob)});
  items[key] = order.begin();
  uint64_t evicted = 0;
  for (; held > limit; ++evicted)
    remove(CacheKey(order.back().key));
  return evicted;
}

void MemoryLayer::remove(const CacheKey &key) {
  auto found = items.find(key);
  if (found == items.end())
    return;
  held -= found->second->blob->size();
  order.erase(found->second);
  items.erase(found);
}

} // namespace lacuna
