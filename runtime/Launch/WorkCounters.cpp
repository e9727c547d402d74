//===- WorkCounters.cpp - counters that persistent kernels share work by ---===//
#include "runtime/Launch/WorkCounters.h"

#include <fmt/format.h>

namespace lacuna {

Result<std::unique_ptr<WorkCounters>> WorkCounters::create(std::shared_ptr<const Device> device) {
  Result<DeviceBuffer> memory = DeviceBuffer::allocate(device, scratchBytes + capacity * distance);
  if (!memory)
    return memory.status();
  return std::unique_ptr<WorkCounters>(new WorkCounters(std::move(device), std::move(*memory)));
}

Result<driver::Address> WorkCounters::take() {
  if (used == capacity)
    return Status::error(StatusCode::Unsupported,
                         fmt::format("expected at most {} streams and captured launches of one "
                                     "program",
                                     capacity));
  return memory.address() + scratchBytes + distance * used++;
}

Result<driver::Address> WorkCounters::get(driver::Stream stream) {
  const Driver &api = device->driver();
  int capturing = 0;
  if (Status status = api.check(api.streamCapturing(stream, &capturing), "cuStreamIsCapturing");
      !status)
    return status;
  std::lock_guard lock(mutex);
  if (capturing != 0)
    return take();
  auto known = ofStream.find(stream);
  if (known != ofStream.end())
    return known->second;
  Result<driver::Address> counter = take();
  if (counter)
    ofStream.emplace(stream, *counter);
  return counter;
}

} // namespace lacuna
