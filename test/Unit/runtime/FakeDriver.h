//===- FakeDriver.h - what the fake CUDA driver lets tests see -------------===//
//
// The fake is a shared library with the driver's symbols. Device memory is host memory; a launch is
// only written down, unless the kernel comes from the emulated NVRTC (test/Emulator), which makes
// host code that can run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Driver/DriverTypes.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace lacuna::fake {

/// One encoded tensor map. The map's first word is 1 plus its number here, the second its address.
struct Map {
  int type = 0, swizzle = 0;
  driver::Address address = 0;
  std::vector<uint64_t> extents, strides;
  std::vector<uint32_t> box;
};

/// One launch.
struct Launch {
  std::string symbol;
  /// The GPU that was current.
  int device = 0;
  unsigned grid = 0, threads = 0, sharedBytes = 0;
  driver::Stream stream = nullptr;
  /// Numbers of the maps that were passed, and the words of the struct after them.
  std::vector<uint64_t> maps, fields;
};

/// Everything that tests set and read.
struct State {
  State() = default;
  /// As at first; nobody calls the driver meanwhile.
  void reset();
  /// Destroys what was captured.
  void destroyGraphs();

  // What the machine is.
  int devices = 1, major = 9, minor = 0, multiprocessors = 132, sharedBytes = 232448;
  /// Parameters of every launch: so many maps, then so many words. Kernels of other counts are
  /// named.
  size_t mapCount = 0, fieldCount = 0;
  std::map<std::string, std::pair<size_t, size_t>> counts;
  /// A call that fails, with which code; and a symbol that the driver lacks.
  std::string failingCall, missingSymbol;
  int failure = 1;
  bool capturing = false;
  /// Whether calls are written down; without, they cost nothing and threads may make them.
  bool recording = true;
  /// Where addresses from here on lie: the number of a GPU, or one of the others. What is below all
  /// of them lies on the first GPU.
  std::map<driver::Address, int> places;
  static constexpr int unknown = -1, managed = -2, pinned = -3;

  // What happened.
  std::deque<Map> maps;
  std::vector<Launch> launches;
  /// Names of loads, allocations, frees, fills and launches, in order.
  std::vector<std::string> calls;
  std::atomic<int64_t> liveAllocations = 0;
  /// What graphs keep, as destructors and their arguments.
  std::vector<std::pair<void (*)(void *), void *>> kept;
  /// Pools that exist, and what the latest keeps.
  std::atomic<int> pools = 0;
  uint64_t keptBytes = 0;
  /// Pointers whose place was asked for.
  std::atomic<int64_t> questions = 0;
  int maximumDynamicShared = 0;
};

inline void State::destroyGraphs() {
  for (auto [destroy, argument] : kept)
    destroy(argument);
  kept.clear();
}

inline void State::reset() {
  destroyGraphs();
  this->~State();
  new (this) State();
}

} // namespace lacuna::fake

/// The state of the loaded fake; found by its name.
extern "C" lacuna::fake::State *fakeDriverState();
