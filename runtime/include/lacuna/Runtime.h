//===- Runtime.h - running compiled programs -------------------------------===//
//
// What an application needs: open a device, load a program, run it, time it. The CUDA driver and
// NVRTC are opened at run time; when one is missing, the status says which. docs/embedding.md has
// examples.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/CompileSteps.h"
#include "lacuna/DeviceAllocator.h"
#include "lacuna/Executable.h"
#include "lacuna/Status.h"

#include <functional>
#include <memory>
#include <span>

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
  /// Machine code keeps the lines of its source for profilers; several times as large. Of sources
  /// that were compiled with line information it always does.
  bool lineInfo = false;
  /// Keeps machine code, in memory and on disk; copies share it. Null compiles always.
  std::shared_ptr<BlobStore> cache = nullptr;
  /// Owner of results that a run is not given and of memory between kernels; null stands for a
  /// stream-ordered pool of the driver's. What it gave as a result is given back to it, not to
  /// `Gpu::free`.
  std::shared_ptr<DeviceAllocator> allocator = nullptr;
  static Result<GpuOptions> fromEnvironment();
};

/// The program of `steps` (`Compilation::steps` of <lacuna/Compiler.h>): from memory, from disk, or
/// compiled once by one of the threads and processes that want it, and kept. `cache` is
/// `GpuOptions::cache`, for programs of the CPU too; null compiles always.
Result<Artifact> findOrCompile(const std::shared_ptr<BlobStore> &cache, const CompileSteps &steps);

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
class GpuProgram final : public Executable {
public:
  /// Queues the program. Waits for nothing; a run into given results may be captured in a graph.
  Status run(CUstream_st *stream, std::span<const Argument> arguments,
             std::span<Tensor> results) const override;
  const Program &program() const override;

private:
  friend class Gpu;
  struct State;
  explicit GpuProgram(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

/// How a CPU runs programs.
struct CpuOptions {
  /// Threads of one run, the caller's among them; 0 stands for one per core.
  int64_t threads = 0;
  /// Reads LACUNA_THREADS.
  static Result<CpuOptions> fromEnvironment();
};

/// The CPU of this process with threads of its own, which wait between runs. Copies share them;
/// runs of several callers take turns at them.
class Cpu {
public:
  static Cpu open(const CpuOptions &options = {});
  int64_t threads() const;
  /// `program` was compiled for the CPU by this process.
  Result<std::shared_ptr<const Executable>> load(Program program) const;
  /// Frees a result that a run allocated.
  static void free(Tensor &tensor) noexcept;

private:
  struct State;
  explicit Cpu(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

} // namespace lacuna
