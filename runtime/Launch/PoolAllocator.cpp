//===- PoolAllocator.cpp - a stream-ordered pool of our own ----------------===//
#include "runtime/Launch/PoolAllocator.h"

namespace lacuna {

PoolAllocator::~PoolAllocator() {
  if (!pool)
    return;
  CurrentDevice current(*device);
  device->driver().poolDestroy(pool);
}

Status PoolAllocator::prepare() {
  std::lock_guard lock(mutex);
  if (pool)
    return Status::ok();
  const Driver &api = device->driver();
  driver::PoolProperties properties;
  properties.device = device->number();
  driver::MemoryPool made = nullptr;
  if (Status status = api.check(api.poolCreate(&made, &properties), "cuMemPoolCreate"); !status)
    return status;
  uint64_t kept = keptBytes;
  if (Status status = api.check(api.poolSet(made, driver::PoolReleaseThreshold, &kept),
                                "cuMemPoolSetAttribute");
      !status) {
    api.poolDestroy(made);
    return status;
  }
  pool = made;
  return Status::ok();
}

Result<void *> PoolAllocator::allocate(size_t bytes, CUstream_st *stream) {
  CurrentDevice current(*device);
  if (!current.status())
    return current.status();
  if (Status status = prepare(); !status)
    return status;
  driver::Address address = 0;
  const Driver &api = device->driver();
  if (Status status = api.check(api.memoryAllocateFromPool(&address, bytes, pool, stream),
                                "cuMemAllocFromPoolAsync");
      !status)
    return status;
  return reinterpret_cast<void *>(address);
}

void PoolAllocator::release(void *memory, CUstream_st *stream) noexcept {
  CurrentDevice current(*device);
  device->driver().memoryFreeAsync(reinterpret_cast<uint64_t>(memory), stream);
}

} // namespace lacuna
