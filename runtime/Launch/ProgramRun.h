//===- ProgramRun.h - one execution of a plan ------------------------------===//
#pragma once

#include "lib/Support/InlineArray.h"
#include "runtime/Launch/LoadedProgram.h"

namespace lacuna {

/// Allocates what a plan asks for, fills addresses in and queues its kernels. Lives on the stack of
/// one call; the device is current.
class ProgramRun {
public:
  ProgramRun(const LoadedProgram &loaded, const LaunchPlan &plan, driver::Stream stream,
             std::span<const Argument> arguments, std::span<Tensor> results);
  ProgramRun(const ProgramRun &) = delete;
  ProgramRun &operator=(const ProgramRun &) = delete;
  /// Gives intermediate buffers back, and after an error results too.
  ~ProgramRun();

  /// Refuses memory that this GPU cannot reach; first.
  Status checkPlaces() const;
  /// Gets memory for what has none; before encoding and launching.
  Status allocate();
  /// Encodes the maps of `plan`, which is this run's and not shared yet, at the addresses at hand.
  Status encodeMaps(LaunchPlan &plan) const;
  /// Queues the kernels and writes results.
  Status launch();

private:
  Status launchKernel(const PlannedLaunch &planned) const;
  uint64_t addressOf(const PlannedMap &map) const;

  const LoadedProgram &loaded;
  const LaunchPlan &plan;
  driver::Stream stream;
  std::span<Tensor> results;
  /// Addresses of root buffers.
  InlineArray<void *, 48> addresses;
  /// Allocations of the plan that were made.
  size_t allocated = 0;
  bool failed = true;
};

} // namespace lacuna
