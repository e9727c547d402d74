//===- LoadedProgram.h - a program on a GPU, ready to launch ---------------===//
#pragma once

#include "lacuna/DeviceAllocator.h"
#include "lib/Artifact/HostProgram.h"
#include "runtime/Driver/Library.h"
#include "runtime/Jit/Nvrtc.h"
#include "runtime/Launch/LaunchPlan.h"
#include "runtime/Launch/MemoryPlaces.h"
#include "runtime/Launch/WorkCounters.h"

#include <atomic>
#include <functional>

namespace lacuna {

/// How to load a program.
struct LoadOptions {
  /// Compiles kernels that have no machine code; may be null when all have.
  std::shared_ptr<const Nvrtc> nvrtc;
  NvrtcOptions compile;
  /// Owner of outputs that the caller does not give; null stands for the driver's pool.
  std::shared_ptr<DeviceAllocator> allocator;
  /// Counters of the GPU's streams, which programs may share; null stands for counters of its own.
  std::shared_ptr<WorkCounters> counters;
};

/// Compiles one kernel.
using CompileKernel = std::function<Result<NvrtcOutput>(const KernelCode &kernel)>;

/// Machine code for every kernel: compiles those that have none, each in a thread of its own.
/// Returns what the compiler said, one entry per kernel; empty for a kernel that was compiled
/// before. Without `compile` a kernel that has none is an error.
Result<std::vector<NvrtcOutput>> compileKernels(Program &program, const CompileKernel &compile);

/// Whether machine code for `architecture` ("sm_90a") runs on a GPU; Unsupported names both.
Status checkArchitecture(const std::string &architecture, const DeviceProperties &device);

/// A program whose kernels lie on one device. Threads may run it at the same time. Launching
/// allocates no device memory for given results, waits for nothing and may be captured in a graph.
class LoadedProgram {
public:
  static Result<std::unique_ptr<LoadedProgram>> load(std::shared_ptr<const Device> device,
                                                     Program program, LoadOptions options);
  ~LoadedProgram();

  /// Queues the program on `stream`. A result with an address is written in place and must have the
  /// right type and shape; one without is allocated, contiguous, and belongs to the caller, who
  /// gives it back to `allocator()`. Everything is checked before the first launch that depends on
  /// it. When an error comes after some kernels were queued, the contents of results are undefined.
  Status run(driver::Stream stream, std::span<const Argument> arguments,
             std::span<Tensor> results) const;

  const Program &program() const { return source; }
  DeviceAllocator &allocator() const { return *memory; }
  /// What the compiler said about each kernel when it was loaded.
  const std::vector<NvrtcOutput> &compiled() const { return outputs; }

private:
  friend class PlanBuilder;
  friend class ProgramRun;
  struct Kernel {
    Library library;
    driver::Function function = nullptr;
    HostSchedule schedule;
  };

  LoadedProgram(std::shared_ptr<const Device> device, Program program)
      : device(std::move(device)), source(std::move(program)), places(*this->device) {}
  /// `run`, uncounted.
  Status queue(driver::Stream stream, std::span<const Argument> arguments,
               std::span<Tensor> results) const;
  Status loadKernels();
  Status planBuffers();
  /// "argument 'k'", "result 0" or "buffer 7".
  std::string bufferName(unsigned buffer) const;

  std::shared_ptr<const Device> device;
  Program source;
  /// How profilers show a run.
  std::string rangeName = "lacuna " + source.name;
  std::shared_ptr<DeviceAllocator> memory;
  std::vector<NvrtcOutput> outputs;
  std::vector<Kernel> kernels;
  std::shared_ptr<WorkCounters> counters;
  /// Per buffer: the one whose memory it has, which is itself for arguments and new outputs; and
  /// the result that this memory is, or -1.
  std::vector<unsigned> root;
  std::vector<int> resultOf;
  unsigned bufferCount = 0;
  /// Launches that were worked out.
  mutable PlanMemo memo;
  mutable MemoryPlaces places;
};

} // namespace lacuna
