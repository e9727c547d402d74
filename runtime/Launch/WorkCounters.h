//===- WorkCounters.h - counters that persistent kernels share work by -----===//
#pragma once

#include "runtime/Driver/Device.h"

#include <mutex>
#include <unordered_map>

namespace lacuna {

/// Gives every stream a counter of its own: kernels of one stream follow each other, kernels of two
/// do not. A launch that is captured into a graph gets a counter for ever, because nobody knows
/// where the graph will run. Memory is allocated once, so that captures need none.
class WorkCounters {
public:
  static Result<std::unique_ptr<WorkCounters>> create(std::shared_ptr<const Device> device);

  /// A counter for work on `stream`, whose device is current.
  Result<driver::Address> get(driver::Stream stream);
  /// 256 bytes that no kernel needs.
  driver::Address scratch() const { return memory.address(); }

private:
  WorkCounters(std::shared_ptr<const Device> device, DeviceBuffer memory)
      : device(std::move(device)), memory(std::move(memory)) {}
  Result<driver::Address> take();

  /// Counters of two streams are in different cache lines.
  static constexpr size_t distance = 128, scratchBytes = 256, capacity = 8192;
  std::shared_ptr<const Device> device;
  DeviceBuffer memory;
  std::mutex mutex;
  size_t used = 0;
  std::unordered_map<driver::Stream, driver::Address> ofStream;
};

} // namespace lacuna
