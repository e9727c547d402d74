//===- DeviceAllocator.h - where a program's memory comes from -------------===//
#pragma once

#include "lacuna/Status.h"

#include <cstddef>

struct CUstream_st;

namespace lacuna {

/// Gives device memory to a launch. Calls come from the thread that launches; memory is used in the
/// order of `stream`.
class DeviceAllocator {
public:
  /// Of every address.
  static constexpr size_t alignment = 256;
  virtual ~DeviceAllocator() = default;
  /// At least `bytes` (never 0), aligned.
  virtual Result<void *> allocate(size_t bytes, CUstream_st *stream) = 0;
  /// Takes back what `allocate` gave; work queued on `stream` before may still use it.
  virtual void release(void *memory, CUstream_st *stream) noexcept = 0;
};

} // namespace lacuna
