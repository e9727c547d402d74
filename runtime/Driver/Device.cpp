//===- Device.cpp - one GPU, and what lives on it --------------------------===//
#include "runtime/Driver/Device.h"

#include <array>
#include <fmt/format.h>

namespace lacuna {

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<const Device>> Device::open(std::shared_ptr<const Driver> driver,
                                                   int ordinal) {
  if (ordinal < 0 || ordinal >= driver->devices())
    return Status::error(StatusCode::Missing, fmt::format("expected a GPU below {}, got {}",
                                                          driver->devices(), ordinal));
  std::shared_ptr<Device> result(new Device(std::move(driver)));
  const Driver &api = *result->api;
  if (Status status = api.check(api.deviceGet(&result->device, ordinal), "cuDeviceGet"); !status)
    return status;
  if (Status status = api.check(api.primaryRetain(&result->primary, result->device),
                                "cuDevicePrimaryCtxRetain");
      !status) {
    result->primary = nullptr;
    return status;
  }
  if (Status status = result->readProperties(); !status)
    return status;
  return std::shared_ptr<const Device>(std::move(result));
}

Device::~Device() {
  if (primary)
    api->primaryRelease(device);
}

Status Device::readProperties() {
  std::array<char, 256> text{};
  if (Status status =
          api->check(api->deviceName(text.data(), text.size() - 1, device), "cuDeviceGetName");
      !status)
    return status;
  facts.name = text.data();
  size_t bytes = 0;
  if (Status status = api->check(api->deviceMemory(&bytes, device), "cuDeviceTotalMem"); !status)
    return status;
  facts.memoryBytes = bytes;
  for (auto [attribute, value] : {std::pair(driver::ComputeCapabilityMajor, &facts.computeMajor),
                                  std::pair(driver::ComputeCapabilityMinor, &facts.computeMinor),
                                  std::pair(driver::MultiprocessorCount, &facts.multiprocessors),
                                  std::pair(driver::SharedBytesPerBlock, &facts.sharedBytes),
                                  std::pair(driver::L2CacheBytes, &facts.cacheBytes)})
    if (Status status =
            api->check(api->deviceAttribute(value, attribute, device), "cuDeviceGetAttribute");
        !status)
      return status;
  return Status::ok();
}

Status Device::synchronize() const {
  CurrentDevice current(*this);
  if (!current.status())
    return current.status();
  return api->check(api->contextSynchronize(), "cuCtxSynchronize");
}

CurrentDevice::CurrentDevice(const Device &device) : device(device) {
  const Driver &api = device.driver();
  driver::Context current = nullptr;
  if (api.contextCurrent(&current) == driver::success && current == device.context())
    return;
  entered = api.check(api.contextPush(device.context()), "cuCtxPushCurrent");
  pushed = entered.isOk();
}

CurrentDevice::~CurrentDevice() {
  driver::Context popped = nullptr;
  if (pushed)
    device.driver().contextPop(&popped);
}

//===----------------------------------------------------------------------===//
// Stream and Event
//===----------------------------------------------------------------------===//

Result<Stream> Stream::create(std::shared_ptr<const Device> device) {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  driver::Stream stream = nullptr;
  // 1: does not wait for the legacy default stream.
  if (Status status =
          device->driver().check(device->driver().streamCreate(&stream, 1), "cuStreamCreate");
      !status)
    return status;
  return Stream(std::move(device), stream);
}

Stream::Stream(Stream &&other) noexcept
    : device(std::move(other.device)), stream(std::exchange(other.stream, nullptr)) {}

Stream &Stream::operator=(Stream &&other) noexcept {
  std::swap(device, other.device);
  std::swap(stream, other.stream);
  return *this;
}

Stream::~Stream() {
  if (!stream)
    return;
  CurrentDevice current(*device);
  device->driver().streamDestroy(stream);
}

Status Stream::synchronize() const {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  return device->driver().check(device->driver().streamSynchronize(stream), "cuStreamSynchronize");
}

Result<Event> Event::create(std::shared_ptr<const Device> device) {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  driver::Event event = nullptr;
  if (Status status =
          device->driver().check(device->driver().eventCreate(&event, 0), "cuEventCreate");
      !status)
    return status;
  return Event(std::move(device), event);
}

Event::Event(Event &&other) noexcept
    : device(std::move(other.device)), event(std::exchange(other.event, nullptr)) {}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(device, other.device);
  std::swap(event, other.event);
  return *this;
}

Event::~Event() {
  if (!event)
    return;
  CurrentDevice current(*device);
  device->driver().eventDestroy(event);
}

Status Event::record(driver::Stream stream) {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  return device->driver().check(device->driver().eventRecord(event, stream), "cuEventRecord");
}

Status Event::synchronize() const {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  return device->driver().check(device->driver().eventSynchronize(event), "cuEventSynchronize");
}

Result<double> Event::secondsSince(const Event &start) const {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  float milliseconds = 0;
  if (Status status = device->driver().check(
          device->driver().eventElapsed(&milliseconds, start.event, event), "cuEventElapsedTime");
      !status)
    return status;
  return static_cast<double>(milliseconds) * 1e-3;
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<const Device> device, size_t bytes) {
  if (bytes == 0)
    return DeviceBuffer(std::move(device), 0, 0);
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  driver::Address start = 0;
  if (Status status =
          device->driver().check(device->driver().memoryAllocate(&start, bytes), "cuMemAlloc");
      !status)
    return status;
  return DeviceBuffer(std::move(device), start, bytes);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : device(std::move(other.device)), start(std::exchange(other.start, 0)),
      size(std::exchange(other.size, 0)) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(start, other.start);
  std::swap(size, other.size);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!start)
    return;
  CurrentDevice current(*device);
  device->driver().memoryFree(start);
}

Status DeviceBuffer::checkRange(size_t wanted) const {
  if (wanted <= size)
    return Status::ok();
  return Status::error(StatusCode::InvalidArgument,
                       fmt::format("expected at most {} bytes, got {}", size, wanted));
}

/// Copies are queued on the legacy default stream.
static constexpr driver::Stream defaultStream = nullptr;

Status DeviceBuffer::upload(const void *from, size_t bytes) {
  if (Status status = checkRange(bytes); !status || bytes == 0)
    return status;
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  const Driver &api = device->driver();
  if (Status status =
          api.check(api.copyToDevice(start, from, bytes, defaultStream), "cuMemcpyHtoDAsync");
      !status)
    return status;
  return api.check(api.contextSynchronize(), "cuCtxSynchronize");
}

Status DeviceBuffer::download(void *to, size_t bytes) const {
  if (Status status = checkRange(bytes); !status || bytes == 0)
    return status;
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  const Driver &api = device->driver();
  // Streams of our own do not wait for the default stream, nor it for them.
  if (Status status = api.check(api.contextSynchronize(), "cuCtxSynchronize"); !status)
    return status;
  if (Status status =
          api.check(api.copyToHost(to, start, bytes, defaultStream), "cuMemcpyDtoHAsync");
      !status)
    return status;
  return api.check(api.streamSynchronize(defaultStream), "cuStreamSynchronize");
}

Status DeviceBuffer::fill(unsigned char value, driver::Stream stream) {
  if (size == 0)
    return Status::ok();
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  return device->driver().check(device->driver().setBytes(start, value, size, stream),
                                "cuMemsetD8Async");
}

} // namespace lacuna
