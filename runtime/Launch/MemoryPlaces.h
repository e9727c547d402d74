//===- MemoryPlaces.h - does an address lie on this GPU? -------------------===//
#pragma once

#include "runtime/Driver/Device.h"

#include <array>
#include <atomic>

namespace lacuna {

/// Asks the driver where memory lies, once for each granule: the driver maps memory of a GPU in
/// pieces of two megabytes, so that no granule lies on two. Threads may share it.
class MemoryPlaces {
public:
  explicit MemoryPlaces(const Device &device) : device(device) {}
  /// Refuses memory of another GPU and addresses that the driver does not know. Memory that every
  /// GPU reaches, managed or pinned on the host, is accepted.
  Status check(const void *address) {
    uint64_t granule = reinterpret_cast<uint64_t>(address) / granuleBytes + 1;
    if (seen[slotOf(granule)].load(std::memory_order_relaxed) == granule)
      return Status::ok();
    return ask(address, granule);
  }

private:
  Status ask(const void *address, uint64_t granule);

  /// Spreads granules, whose last bits are often the same: large buffers start at round addresses.
  static size_t slotOf(uint64_t granule) {
    return (granule * 0x9e3779b97f4a7c15) >> (64 - slotBits);
  }

  static constexpr unsigned slotBits = 10;
  static constexpr uint64_t granuleBytes = uint64_t{2} << 20;
  const Device &device;
  /// Granules that this GPU reaches, plus one.
  std::array<std::atomic<uint64_t>, size_t{1} << slotBits> seen{};
};

} // namespace lacuna
