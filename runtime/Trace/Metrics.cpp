//===- Metrics.cpp - what Lacuna has done in this process ------------------===//
#include "lacuna/Metrics.h"

#include "runtime/Cache/AllStores.h"
#include "runtime/Trace/Counters.h"

namespace lacuna {

Counters &counters() {
  static constinit Counters all;
  return all;
}

Metrics metrics() {
  Metrics now;
  const Counters &all = counters();
  now.runs = all.runs;
  now.failedRuns = all.failedRuns;
  now.plannedRuns = all.plannedRuns;
  now.launches = all.launches;
  now.loadedPrograms = all.loadedPrograms;
  now.loadedKernels = all.loadedKernels;
  now.compiles = all.compiles;
  now.failedCompiles = all.failedCompiles;
  now.compileNanoseconds = all.compileNanoseconds;
  now.allocatedBytes = all.allocatedBytes;
  now.allocations = all.allocations;
  now.cache = countersOfAllStores();
  return now;
}

} // namespace lacuna
