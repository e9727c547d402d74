//===- Device.h - one GPU, and what lives on it ----------------------------===//
#pragma once

#include "runtime/Driver/Driver.h"

namespace lacuna {

/// Facts about a GPU that never change.
struct DeviceProperties {
  std::string name;
  int computeMajor = 0, computeMinor = 0;
  int multiprocessors = 0;
  /// Bytes of dynamic shared memory that one block may ask for.
  int sharedBytes = 0;
  int cacheBytes = 0;
  uint64_t memoryBytes = 0;
};

/// A GPU with its primary context, which frameworks in the same process share. Everything that
/// lives on a device keeps it alive.
class Device {
public:
  static Result<std::shared_ptr<const Device>> open(std::shared_ptr<const Driver> driver,
                                                    int ordinal = 0);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  const Driver &driver() const { return *api; }
  driver::DeviceNumber number() const { return device; }
  driver::Context context() const { return primary; }
  const DeviceProperties &properties() const { return facts; }
  /// Waits for everything.
  Status synchronize() const;

private:
  explicit Device(std::shared_ptr<const Driver> driver) : api(std::move(driver)) {}
  Status readProperties();

  std::shared_ptr<const Driver> api;
  driver::DeviceNumber device = 0;
  driver::Context primary = nullptr;
  DeviceProperties facts;
};

/// Makes a device's context current for one scope; costs one query when it is current already.
class CurrentDevice {
public:
  explicit CurrentDevice(const Device &device);
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &operator=(const CurrentDevice &) = delete;
  ~CurrentDevice();
  /// Whether the driver agreed.
  const Status &status() const { return entered; }

private:
  const Device &device;
  bool pushed = false;
  Status entered = Status::ok();
};

/// A queue of work that the caller owns.
class Stream {
public:
  static Result<Stream> create(std::shared_ptr<const Device> device);
  Stream(Stream &&other) noexcept;
  Stream &operator=(Stream &&other) noexcept;
  ~Stream();
  driver::Stream handle() const { return stream; }
  Status synchronize() const;

private:
  Stream(std::shared_ptr<const Device> device, driver::Stream stream)
      : device(std::move(device)), stream(stream) {}
  std::shared_ptr<const Device> device;
  driver::Stream stream = nullptr;
};

/// A mark in a stream, for timing.
class Event {
public:
  static Result<Event> create(std::shared_ptr<const Device> device);
  Event(Event &&other) noexcept;
  Event &operator=(Event &&other) noexcept;
  ~Event();
  Status record(driver::Stream stream);
  Status synchronize() const;
  /// Seconds from `start` to this mark; both have passed.
  Result<double> secondsSince(const Event &start) const;

private:
  Event(std::shared_ptr<const Device> device, driver::Event event)
      : device(std::move(device)), event(event) {}
  std::shared_ptr<const Device> device;
  driver::Event event = nullptr;
};

/// Device memory; 256-byte aligned. A buffer of 0 bytes has no address.
class DeviceBuffer {
public:
  static Result<DeviceBuffer> allocate(std::shared_ptr<const Device> device, size_t bytes);
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();
  driver::Address address() const { return start; }
  void *data() const { return reinterpret_cast<void *>(start); }
  size_t bytes() const { return size; }
  /// Copies `bytes` from host memory to the start; done when it returns.
  Status upload(const void *from, size_t bytes);
  /// Copies the first `bytes` to host memory.
  Status download(void *to, size_t bytes) const;
  /// Sets every byte, in the order of `stream`.
  Status fill(unsigned char value, driver::Stream stream);

private:
  DeviceBuffer(std::shared_ptr<const Device> device, driver::Address start, size_t size)
      : device(std::move(device)), start(start), size(size) {}
  Status checkRange(size_t wanted) const;
  std::shared_ptr<const Device> device;
  driver::Address start = 0;
  size_t size = 0;
};

} // namespace lacuna
