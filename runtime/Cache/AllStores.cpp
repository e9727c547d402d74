//===- AllStores.cpp - what all stores of a process have done --------------===//
#include "runtime/Cache/AllStores.h"

#include "runtime/Cache/BlobStore.h"

#include <mutex>
#include <set>

namespace lacuna {

namespace {
struct AllStores {
  std::mutex mutex;
  std::set<const BlobStore *> live;
  CacheCounters gone;
};
} // namespace

/// Never destroyed: a store may live until the end of the process.
static AllStores &allStores() {
  static AllStores &only = *new AllStores;
  return only;
}

static void add(CacheCounters &sum, const CacheCounters &more) {
  sum.memoryHits += more.memoryHits;
  sum.diskHits += more.diskHits;
  sum.sharedHits += more.sharedHits;
  sum.misses += more.misses;
  sum.made += more.made;
  sum.failed += more.failed;
  sum.damaged += more.damaged;
  sum.memoryEvictions += more.memoryEvictions;
  sum.diskEvictions += more.diskEvictions;
  sum.failedWrites += more.failedWrites;
  sum.lockTimeouts += more.lockTimeouts;
  sum.bytesRead += more.bytesRead;
  sum.bytesWritten += more.bytesWritten;
  sum.memoryBytes += more.memoryBytes;
}

void addStore(const BlobStore &store) {
  std::lock_guard lock(allStores().mutex);
  allStores().live.insert(&store);
}

void removeStore(const BlobStore &store) {
  CacheCounters last = store.counters();
  last.memoryBytes = 0;
  std::lock_guard lock(allStores().mutex);
  allStores().live.erase(&store);
  add(allStores().gone, last);
}

CacheCounters countersOfAllStores() {
  std::lock_guard lock(allStores().mutex);
  CacheCounters sum = allStores().gone;
  for (const BlobStore *store : allStores().live)
    add(sum, store->counters());
  return sum;
}

} // namespace lacuna
