//===- WorkCounters.cpp - counters that persistent kernels share work by ---===//
#include "runtime/Launch/WorkCounters.h"

#include <fmt/format.h>

namespace lacuna {

Result<std::shared_ptr<WorkCounters>> WorkCounters::create(std::shared_ptr<const Device> device) {
  Result<DeviceBuffer> memory = DeviceBuffer::allocate(
      device, scratchBytes + mostRings * ringBytes + mostCaptured * capturedBytes);
  if (!memory)
    return memory.status();
  return std::shared_ptr<WorkCounters>(new WorkCounters(std::move(device), std::move(*memory)));
}

Status WorkCounters::zero(driver::Address start, size_t count, driver::Stream stream) const {
  const Driver &api = device->driver();
  return api.check(api.setWords(start, 0, count, stream), "cuMemsetD32Async");
}

Result<WorkCounters::Lease> WorkCounters::get(driver::Stream stream) {
  const Driver &api = device->driver();
  int capturing = 0;
  // The legacy default stream, which is null, cannot be captured.
  if (stream)
    if (Status status = api.check(api.streamCapturing(stream, &capturing), "cuStreamIsCapturing");
        !status)
      return status;
  if (capturing != 0)
    return getCaptured(stream);
  Ring *ring = ringOf(stream);
  return ring ? getOfRing(*ring, stream) : getTransient(stream);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The ring of a stream, or null when all belong to others.
WorkCounters::Ring *WorkCounters::ringOf(driver::Stream stream) {
  std::lock_guard lock(mutex);
  auto known = rings.find(stream);
  if (known != rings.end())
    return known->second.get();
  if (rings.size() == mostRings)
    return nullptr;
  auto ring = std::make_unique<Ring>();
  ring->start = memory.address() + scratchBytes + rings.size() * ringBytes;
  return rings.emplace(stream, std::move(ring)).first->second.get();
}

Result<WorkCounters::Lease> WorkCounters::getOfRing(Ring &ring, driver::Stream stream) const {
  std::unique_lock lock(ring.mutex);
  // Kernels that were launched in the round before have ended when this takes place.
  if (ring.next == 0)
    if (Status status = zero(ring.start, ringLength, stream); !status)
      return status;
  driver::Address counter = ring.start + counterBytes * ring.next;
  ring.next = (ring.next + 1) % ringLength;
  return Lease{counter, std::move(lock), {}};
}

/// A counter for one launch, in the order of the stream. Costs two calls more.
Result<WorkCounters::Lease> WorkCounters::getTransient(driver::Stream stream) const {
  const Driver &api = device->driver();
  driver::Address counter = 0;
  if (Status status =
          api.check(api.memoryAllocateAsync(&counter, counterBytes, stream), "cuMemAllocAsync");
      !status)
    return status;
  Lease lease{counter, {}, Transient(device.get(), counter, stream)};
  if (Status status = zero(counter, 1, stream); !status)
    return status;
  return lease;
}

WorkCounters::Transient::Transient(Transient &&other) noexcept
    : device(std::exchange(other.device, nullptr)), address(other.address), stream(other.stream) {}

WorkCounters::Transient &WorkCounters::Transient::operator=(Transient &&other) noexcept {
  std::swap(device, other.device);
  std::swap(address, other.address);
  std::swap(stream, other.stream);
  return *this;
}

WorkCounters::Transient::~Transient() {
  if (device)
    device->driver().memoryFreeAsync(address, stream);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<WorkCounters::Kept>> WorkCounters::keep() const {
  std::lock_guard lock(captured->mutex);
  auto kept = std::make_unique<Kept>(Kept{captured, captured->used});
  if (!captured->returned.empty()) {
    kept->number = captured->returned.back();
    captured->returned.pop_back();
  } else if (captured->used == mostCaptured) {
    return Status::error(
        StatusCode::Unsupported,
        fmt::format("expected graphs to hold at most {} launches at a time", mostCaptured));
  } else {
    ++captured->used;
  }
  return kept;
}

/// Called by the driver, on any thread, when the last graph with the launch is gone. Must not call
/// the driver.
void WorkCounters::giveBack(void *kept) {
  std::unique_ptr<Kept> mine(static_cast<Kept *>(kept));
  std::lock_guard lock(mine->captured->mutex);
  mine->captured->returned.push_back(mine->number);
}

/// Makes the graph that `stream` is captured into the owner of `kept`.
Status WorkCounters::attach(driver::Stream stream, std::unique_ptr<Kept> kept) const {
  const Driver &api = device->driver();
  int capturing = 0;
  uint64_t id = 0;
  driver::Graph graph = nullptr;
  const void *dependencies = nullptr;
  size_t count = 0;
  driver::UserObject object = nullptr;
  Status status =
      api.check(api.streamCaptureInfo(stream, &capturing, &id, &graph, &dependencies, &count),
                "cuStreamGetCaptureInfo");
  if (status)
    status = api.check(
        api.userObjectCreate(&object, kept.get(), giveBack, 1, driver::userObjectUnsynchronized),
        "cuUserObjectCreate");
  if (!status) {
    giveBack(kept.release());
    return status;
  }
  kept.release(); // The object's.
  status = api.check(api.graphRetain(graph, object, 1, driver::graphMovesReference),
                     "cuGraphRetainUserObject");
  if (!status)
    api.userObjectRelease(object, 1);
  return status;
}

Result<WorkCounters::Lease> WorkCounters::getCaptured(driver::Stream stream) const {
  Result<std::unique_ptr<Kept>> kept = keep();
  if (!kept)
    return kept.status();
  driver::Address counter =
      memory.address() + scratchBytes + mostRings * ringBytes + capturedBytes * (*kept)->number;
  if (Status status = attach(stream, std::move(*kept)); !status)
    return status;
  if (Status status = zero(counter, 1, stream); !status)
    return status;
  return Lease{counter, {}, {}};
}

} // namespace lacuna
