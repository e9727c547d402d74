//===- WorkCounters.h - counters that persistent kernels share work by -----===//
#pragma once

#include "runtime/Driver/Device.h"

#include <mutex>
#include <unordered_map>

namespace lacuna {

/// Gives every launch a counter that is 0 when its kernel starts. Kernels of one stream follow each
/// other, so that a stream has a ring of counters that are zeroed together, once per round. A
/// launch that is captured into a graph gets a counter for ever and zeroes it itself, because
/// nobody knows where the graph will run. Memory is allocated once, so that captures need none.
class WorkCounters {
public:
  static Result<std::unique_ptr<WorkCounters>> create(std::shared_ptr<const Device> device);

  /// A counter, and the right to launch on its stream: another thread must not zero the ring or use
  /// it up between here and the launch.
  struct Lease {
    driver::Address counter = 0;
    std::unique_lock<std::mutex> stream;
  };
  /// A counter for the next kernel on `stream`, whose device is current.
  Result<Lease> get(driver::Stream stream);
  /// 256 bytes that no kernel needs.
  driver::Address scratch() const { return memory.address(); }

private:
  struct Ring {
    std::mutex mutex;
    driver::Address start = 0;
    size_t next = 0;
  };

  WorkCounters(std::shared_ptr<const Device> device, DeviceBuffer memory)
      : device(std::move(device)), memory(std::move(memory)) {}
  Result<Ring *> ringOf(driver::Stream stream);
  Result<driver::Address> takeCaptured();
  Status zero(driver::Address start, size_t count, driver::Stream stream) const;

  static constexpr size_t counterBytes = 4, ringLength = 128, scratchBytes = 256;
  static constexpr size_t ringBytes = counterBytes * ringLength, mostRings = 1024;
  /// Captured launches may run at the same time: one counter per sector of memory.
  static constexpr size_t capturedBytes = 32, mostCaptured = 65536;

  std::shared_ptr<const Device> device;
  DeviceBuffer memory;
  /// Guards the two below; rings have mutexes of their own.
  std::mutex mutex;
  size_t captured = 0;
  std::unordered_map<driver::Stream, std::unique_ptr<Ring>> rings;
};

} // namespace lacuna
