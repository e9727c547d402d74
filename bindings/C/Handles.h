//===- Handles.h - what the handles of the C API hold ----------------------===//
#pragma once

#include "lacuna/ArtifactFile.h"
#include "lacuna/DeviceAllocator.h"
#include "lacuna/Executable.h"
#include "lacuna/ResultShapes.h"
#include "lacuna/Runtime.h"
#include "lacuna/lacuna.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

namespace lacuna::c {

/// Numbers of a context, in the order of lacuna_counter_name.
enum class Counter {
  Compiles,
  CompileErrors,
  ArtifactsRead,
  Loads,
  Runs,
  RunErrors,
  BytesAllocated,
  Count,
};

/// What a context keeps for everything that is made in it.
struct ContextState {
  GpuOptions gpu;
  int64_t threads = 0;
  /// Memory of the caller for GPUs, if it gave any.
  std::optional<lacuna_allocator> allocator;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Counter::Count)> counters = {};

  void count(Counter counter, uint64_t by = 1) {
    counters[static_cast<size_t>(counter)].fetch_add(by, std::memory_order_relaxed);
  }
};

struct DeviceState {
  std::shared_ptr<ContextState> context;
  DLDevice which = {};
  std::optional<Gpu> gpu;
  std::optional<Cpu> cpu;
  std::string name, architecture;
  /// The caller's, or null.
  std::shared_ptr<DeviceAllocator> allocator;

  /// Frees what a run on `stream` allocated as a result.
  void free(Tensor &tensor, CUstream_st *stream) const noexcept {
    if (!gpu)
      return Cpu::free(tensor);
    if (!allocator)
      return gpu->free(tensor);
    if (tensor.data)
      allocator->release(tensor.data, stream);
  }
};

/// Stores the failure where the caller wants it; the status for the caller to return.
lacuna_status finish(const Status &status, lacuna_error **error);
/// The code in the numbers of the C API, which never change.
lacuna_status toC(StatusCode code);

/// Memory of `functions` for one GPU.
std::shared_ptr<DeviceAllocator> makeAllocator(const lacuna_allocator &functions, int device);

/// The first of `pointers` that is null, as a refusal: "expected a context, got null".
struct Required {
  const void *pointer;
  const char *what;
};
Status checkPointers(std::initializer_list<Required> pointers);

/// "cuda:0", "cpu": a device in messages.
std::string toText(DLDevice device);
/// The DLPack type of an element type.
DLDataType toDlpack(ElementType type);

/// A view of a DLPack tensor. Refuses what lies on another device than `device` or has elements
/// that no program takes; the message is for `about` to say which tensor it is.
Result<Tensor> fromDlpack(const DLTensor *tensor, DLDevice device);
/// The same failure with the name of what it is about in front: "argument 'q': expected ...".
Status about(const std::string &role, const Status &status);

/// A program and what callers ask about it.
Result<lacuna_program *> makeProgram(std::shared_ptr<ContextState> context, Artifact artifact);

/// Refuses a size that no version has, and members behind `known` bytes that are not 0.
Status checkStructSize(size_t given, size_t known, const void *bytes, const char *what);

/// Copies a struct of a caller that may be older or newer than this library: what it does not have
/// keeps its value in `options`. A newer caller may set only members that this library knows.
template <typename Options>
Status readOptions(const Options *given, Options &options, const char *what) {
  if (!given)
    return Status::ok();
  if (Status status = checkStructSize(given->struct_size, sizeof(Options), given, what); !status)
    return status;
  size_t size = std::min<size_t>(given->struct_size, sizeof(Options));
  std::memcpy(&options, given, size);
  options.struct_size = sizeof(Options);
  return Status::ok();
}

} // namespace lacuna::c

struct lacuna_error {
  lacuna::Status status;
};

struct lacuna_context {
  std::shared_ptr<lacuna::c::ContextState> state;
};

struct lacuna_program {
  std::shared_ptr<lacuna::c::ContextState> context;
  lacuna::Program program;
  lacuna::ArtifactOrigin origin;
  lacuna::ResultShapes shapes;
  /// Per result and axis, the extent as a formula.
  std::vector<std::vector<std::string>> extents;
};

struct lacuna_device {
  std::shared_ptr<const lacuna::c::DeviceState> state;
};

struct lacuna_executable {
  std::shared_ptr<const lacuna::c::DeviceState> device;
  std::shared_ptr<const lacuna::Executable> executable;
};
