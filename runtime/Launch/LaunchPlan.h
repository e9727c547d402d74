//===- LaunchPlan.h - a launch worked out, but for addresses ---------------===//
#pragma once

#include "lacuna/Tensor.h"
#include "runtime/Driver/DriverTypes.h"
#include "runtime/Launch/TensorMaps.h"

#include <memory>
#include <mutex>
#include <optional>

namespace lacuna {

class Signature;

/// A tensor map of one launch, encoded for one address.
struct PlannedMap {
  driver::TensorMap map;
  TensorMapKey key;
  ElementType type = ElementType::F32;
  /// Root buffer and bytes after its address where the map starts; no buffer: it shows scratch.
  std::optional<unsigned> buffer;
  uint64_t offset = 0;
};

/// One launch of the sequence.
struct PlannedLaunch {
  unsigned kernel = 0, blocks = 0;
  std::vector<PlannedMap> maps;
  /// The argument struct; addresses are filled in.
  std::vector<uint64_t> fields;
  struct Pointer {
    unsigned field = 0, buffer = 0;
  };
  /// Fields that have the address of a root buffer.
  std::vector<Pointer> pointers;
  /// Fields that have the address of a counter.
  std::vector<unsigned> counters;
};

/// What a program does for one signature of arguments. Does not change once it is shared.
struct LaunchPlan {
  std::vector<uint64_t> signature;
  /// Root buffers whose addresses the caller gives and which have elements.
  std::vector<unsigned> callers;
  /// Device memory to allocate: a root buffer, and the result that it is or -1.
  struct Allocation {
    unsigned buffer = 0;
    int result = -1;
    uint64_t bytes = 0;
  };
  std::vector<Allocation> allocations;
  /// Root buffers that are given results.
  struct Given {
    unsigned buffer = 0, result = 0;
  };
  std::vector<Given> given;
  /// Results that are not given, but for their addresses.
  struct Made {
    unsigned result = 0, buffer = 0;
    Tensor tensor;
  };
  std::vector<Made> made;
  /// Those with work to do.
  std::vector<PlannedLaunch> launches;
};

/// The plans of the latest signatures; the one that was made first makes room. Threads may share
/// it.
class PlanMemo {
public:
  /// The plan for `signature`, or null.
  std::shared_ptr<const LaunchPlan> find(const Signature &signature);
  void insert(std::shared_ptr<const LaunchPlan> plan);

private:
  static constexpr size_t capacity = 16;
  std::mutex mutex;
  std::vector<std::shared_ptr<const LaunchPlan>> plans;
  /// Where the latest was found, and which one makes room next.
  size_t latest = 0, oldest = 0;
};

} // namespace lacuna
