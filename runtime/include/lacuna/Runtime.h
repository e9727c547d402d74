//===- Runtime.h - running compiled programs on a GPU ----------------------===//
//
// What an application needs: open a GPU, load a program, queue it on a stream, time it. The CUDA
// driver and NVRTC are opened at run time; when one is missing, the status says which.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Status.h"

#include <functional>
#include <memory>
#include <span>

/// A CUDA stream, as the driver and the CUDA runtime declare it; null is the default stream.
struct CUstream_st;

namespace lacuna {

class BlobStore;
class GpuProgram;

/// Where to look for libraries and for kernels that were compiled before. `fromEnvironment` reads
/// LACUNA_NVRTC, CUDA_HOME, PATH, HOME, LACUNA_CACHE_DIR, LACUNA_CACHE_SIZE and XDG_CACHE_HOME.
struct GpuOptions {
  /// Number of the GPU among those that the driver shows.
  int ordinal = 0;
  std::string driverLibrary = "libcuda.so.1";
  std::string nvrtc, cudaHome, programPath, home;
  /// Machine code keeps the lines of its source for profilers; several times as large.
  bool lineInfo = false;
  /// Keeps machine code, in memory and on disk; copies share it. Null compiles always.
  std::shared_ptr<BlobStore> cache = nullptr;
  static Result<GpuOptions> fromEnvironment();
};

/// Compiles the kernels of `program` that have no machine code. Needs NVRTC and no GPU, so that it
/// can go on while another thread opens one.
Status compileAhead(Program &program, const GpuOptions &options);

/// A GPU. Copies share it; threads may use it at the same time.
class Gpu {
public:
  /// Missing when there is no driver or no GPU.
  static Result<Gpu> open(const GpuOptions &options);

  const std::string &name() const;
  /// "sm_90": the generation.
  std::string architecture() const;
  int multiprocessors() const;
  /// Bytes of the second-level cache: what a benchmark has to overwrite.
  int cacheBytes() const;

  /// Puts a program on the GPU. Kernels without machine code are compiled by NVRTC first.
  Result<GpuProgram> load(Program program) const;

  /// A contiguous copy of a host tensor in device memory.
  Result<Tensor> upload(const Tensor &host) const;
  /// A contiguous device tensor whose bytes are all `fill`.
  Result<Tensor> allocate(ElementType type, const std::vector<int64_t> &shape,
                          unsigned char fill) const;
  /// A copy of a contiguous device tensor in host memory; waits for the GPU.
  Result<OwnedTensor> download(const Tensor &device) const;
  /// Frees what `upload`, `allocate` or a run gave; waits for the GPU.
  void free(Tensor &device) const noexcept;

  /// Waits for everything queued.
  Status synchronize() const;
  /// Seconds on the GPU of what `work` queues on the stream that it gets; waits for the end.
  Result<double> time(const std::function<Status(CUstream_st *)> &work) const;
  /// The same for each of `count` repetitions, with the cache overwritten before each.
  Result<std::vector<double>> timeCold(int count,
                                       const std::function<Status(CUstream_st *)> &work) const;

private:
  friend class GpuProgram;
  struct State;
  explicit Gpu(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

/// A program on a GPU, ready to run. Copies share it; threads may run it at the same time.
class GpuProgram {
public:
  /// Queues the program. Tensors lie in device memory. A result with an address is written in
  /// place; one without is allocated and is the caller's to free. A wrong argument is refused by
  /// name before its launch is queued.
  Status run(CUstream_st *stream, std::span<const Argument> arguments,
             std::span<Tensor> results) const;
  const Program &program() const;

private:
  friend class Gpu;
  struct State;
  explicit GpuProgram(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

} // namespace lacuna
