//===- WorkCounters.h - counters that persistent kernels share work by -----===//
#pragma once

#include "runtime/Driver/Device.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace lacuna {

/// Gives every launch a counter that is 0 when its kernel starts. Kernels of one stream follow each
/// other, so that a stream has a ring of counters that are zeroed together, once per round. A
/// launch that is captured into a graph zeroes a counter of its own, which it keeps until the graph
/// and everything that was made of it is destroyed, because nobody knows where the graph will run.
/// Memory, less than three megabytes, is allocated once, so that captures need none. Programs on
/// one GPU may share it.
class WorkCounters {
public:
  static Result<std::shared_ptr<WorkCounters>> create(std::shared_ptr<const Device> device);

  /// Stream-ordered memory of a single launch; freed after it.
  class Transient {
  public:
    Transient() = default;
    Transient(const Device *device, driver::Address address, driver::Stream stream)
        : device(device), address(address), stream(stream) {}
    Transient(Transient &&other) noexcept;
    Transient &operator=(Transient &&other) noexcept;
    ~Transient();

  private:
    const Device *device = nullptr;
    driver::Address address = 0;
    driver::Stream stream = nullptr;
  };

  /// A counter, and the right to launch on its stream: another thread must not zero the ring or use
  /// it up between here and the launch.
  struct Lease {
    driver::Address counter = 0;
    std::unique_lock<std::mutex> stream;
    Transient transient;
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

  /// Which counters graphs have. Outlives the program where graphs do.
  struct Captured {
    std::mutex mutex;
    size_t used = 0;
    std::vector<size_t> returned;
  };
  /// A graph's right to one of them.
  struct Kept {
    std::shared_ptr<Captured> captured;
    size_t number = 0;
  };

  WorkCounters(std::shared_ptr<const Device> device, DeviceBuffer memory)
      : device(std::move(device)), memory(std::move(memory)) {}
  Ring *ringOf(driver::Stream stream);
  Result<Lease> getOfRing(Ring &ring, driver::Stream stream) const;
  Result<Lease> getTransient(driver::Stream stream) const;
  Result<Lease> getCaptured(driver::Stream stream) const;
  Result<std::unique_ptr<Kept>> keep() const;
  Status attach(driver::Stream stream, std::unique_ptr<Kept> kept) const;
  static void giveBack(void *kept);
  Status zero(driver::Address start, size_t count, driver::Stream stream) const;

  static constexpr size_t counterBytes = 4, ringLength = 128, scratchBytes = 256;
  static constexpr size_t ringBytes = counterBytes * ringLength, mostRings = 1024;
  /// Captured launches may run at the same time: one counter per sector of memory.
  static constexpr size_t capturedBytes = 32, mostCaptured = 65536;

  std::shared_ptr<const Device> device;
  DeviceBuffer memory;
  std::shared_ptr<Captured> captured = std::make_shared<Captured>();
  /// Guards `rings`, which have mutexes of their own.
  std::mutex mutex;
  std::unordered_map<driver::Stream, std::unique_ptr<Ring>> rings;
};

} // namespace lacuna
