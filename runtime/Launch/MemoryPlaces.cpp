//===- MemoryPlaces.cpp - does an address lie on this GPU? -----------------===//
#include "runtime/Launch/MemoryPlaces.h"

#include <fmt/format.h>

namespace lacuna {

Status MemoryPlaces::ask(const void *address, uint64_t granule) {
  const Driver &api = device.driver();
  auto number = reinterpret_cast<uint64_t>(address);
  int ordinal = 0;
  if (api.pointerAttribute(&ordinal, driver::PointerDevice, number) != driver::success)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("expected memory of GPU {}, got {:#x}, which the driver does not know",
                    device.number(), number));
  if (ordinal != device.number()) {
    unsigned type = 0, managed = 0;
    bool known =
        api.pointerAttribute(&type, driver::PointerMemoryType, number) == driver::success &&
        api.pointerAttribute(&managed, driver::PointerManaged, number) == driver::success;
    if (!known || (type != driver::memoryOnHost && managed == 0))
      return Status::error(
          StatusCode::InvalidArgument,
          fmt::format("expected memory of GPU {}, got memory of GPU {}", device.number(), ordinal));
  }
  seen[slotOf(granule)].store(granule, std::memory_order_relaxed);
  return Status::ok();
}

} // namespace lacuna
