//===- AllStores.h - what all stores of a process have done ----------------===//
#pragma once

#include "lacuna/CacheCounters.h"

namespace lacuna {

class BlobStore;

/// A store begins and ends.
void addStore(const BlobStore &store);
void removeStore(const BlobStore &store);

/// The sum over stores that are there and stores that are gone; memory is that of the former.
CacheCounters countersOfAllStores();

} // namespace lacuna
