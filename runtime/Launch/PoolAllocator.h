//===- PoolAllocator.h - a stream-ordered pool of our own ------------------===//
#pragma once

#include "lacuna/DeviceAllocator.h"
#include "runtime/Driver/Device.h"

#include <mutex>

namespace lacuna {

/// Memory of a pool of the driver's, which nobody else uses: settings of the process's default pool
/// stay as the application wants them. Some memory stays in the pool between uses, where the
/// default pool gives everything back to the system at each synchronisation.
class PoolAllocator final : public DeviceAllocator {
public:
  explicit PoolAllocator(std::shared_ptr<const Device> device) : device(std::move(device)) {}
  PoolAllocator(const PoolAllocator &) = delete;
  PoolAllocator &operator=(const PoolAllocator &) = delete;
  /// Memory that was given out stays where it is until it is freed.
  ~PoolAllocator() override;

  Result<void *> allocate(size_t bytes, CUstream_st *stream) override;
  void release(void *memory, CUstream_st *stream) noexcept override;

private:
  /// Makes the pool the first time; the device is current.
  Status prepare();

  static constexpr uint64_t keptBytes = uint64_t{256} << 20;
  std::shared_ptr<const Device> device;
  std::mutex mutex;
  driver::MemoryPool pool = nullptr;
};

} // namespace lacuna
