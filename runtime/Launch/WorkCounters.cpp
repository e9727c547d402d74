//===- WorkCounters.cpp - counters that persistent kernels share work by ---===//
#include "runtime/Launch/WorkCounters.h"

#include <fmt/format.h>

namespace lacuna {

Result<std::unique_ptr<WorkCounters>> WorkCounters::create(std::shared_ptr<const Device> device) {
  Result<DeviceBuffer> memory = DeviceBuffer::allocate(
      device, scratchBytes + mostRings * ringBytes + mostCaptured * capturedBytes);
  if (!memory)
    return memory.status();
  return std::unique_ptr<WorkCounters>(new WorkCounters(std::move(device), std::move(*memory)));
}

Status WorkCounters::zero(driver::Address start, size_t count, driver::Stream stream) const {
  const Driver &api = device->driver();
  return api.check(api.setWords(start, 0, count, stream), "cuMemsetD32Async");
}

Result<WorkCounters::Ring *> WorkCounters::ringOf(driver::Stream stream) {
  std::lock_guard lock(mutex);
  auto known = rings.find(stream);
  if (known != rings.end())
    return known->second.get();
  if (rings.size() == mostRings)
    return Status::error(
        StatusCode::Unsupported,
        fmt::format("expected one program to run on at most {} streams", mostRings));
  auto ring = std::make_unique<Ring>();
  ring->start = memory.address() + scratchBytes + rings.size() * ringBytes;
  return rings.emplace(stream, std::move(ring)).first->second.get();
}

Result<driver::Address> WorkCounters::takeCaptured() {
  std::lock_guard lock(mutex);
  if (captured == mostCaptured)
    return Status::error(
        StatusCode::Unsupported,
        fmt::format("expected at most {} launches of one program in graphs", mostCaptured));
  return memory.address() + scratchBytes + mostRings * ringBytes + capturedBytes * captured++;
}

Result<WorkCounters::Lease> WorkCounters::get(driver::Stream stream) {
  const Driver &api = device->driver();
  int capturing = 0;
  // The legacy default stream, which is null, cannot be captured.
  if (stream)
    if (Status status = api.check(api.streamCapturing(stream, &capturing), "cuStreamIsCapturing");
        !status)
      return status;
  if (capturing != 0) {
    Result<driver::Address> counter = takeCaptured();
    if (!counter)
      return counter.status();
    if (Status status = zero(*counter, 1, stream); !status)
      return status;
    return Lease{*counter, {}};
  }
  Result<Ring *> ring = ringOf(stream);
  if (!ring)
    return ring.status();
  std::unique_lock lock((*ring)->mutex);
  // Kernels that were launched in the round before have ended when this takes place.
  if ((*ring)->next == 0)
    if (Status status = zero((*ring)->start, ringLength, stream); !status)
      return status;
  driver::Address counter = (*ring)->start + counterBytes * (*ring)->next;
  (*ring)->next = ((*ring)->next + 1) % ringLength;
  return Lease{counter, std::move(lock)};
}

} // namespace lacuna
