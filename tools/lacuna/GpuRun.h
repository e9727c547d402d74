//===- GpuRun.h - a spec on a GPU -----------------------------------------===//
#pragma once

#include "lacuna/Runtime.h"
#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

#include <optional>
#include <vector>

namespace lacuna::tool {

/// Seconds on the host, up to the end of the first launch and of later ones.
struct GpuPhases {
  /// Passes and the printing of CUDA C++; waiting for the driver and the device, which open while
  /// NVRTC compiles; NVRTC and loading; the first launch until it has ended.
  double lower = 0, open = 0, build = 0, firstLaunch = 0;
  /// Of queueing one launch.
  double hostLaunch = 0;
};

/// A spec compiled for and loaded on the first GPU. Steps return an exit code after a message, or
/// Success.
class GpuRun {
public:
  /// Makes the program of `spec`, or takes it from the cache or the spec's artifact, and loads it.
  int compile(Spec &spec, const PlanOptions &plan);
  bool isCompiled() const { return program.has_value(); }
  /// Runs on copies of `arguments`, `repeats` times; results start as NaN, so that what a kernel
  /// leaves out shows. `seconds` is the fastest run on the GPU.
  int execute(const std::vector<Argument> &arguments, int64_t repeats, double &seconds,
              std::vector<OwnedTensor> &results);

  /// Seconds on the GPU of each of `repeats` runs, with the cache overwritten before each, after a
  /// few that warm the clocks.
  int measure(const std::vector<Argument> &arguments, int repeats, std::vector<double> &seconds);

  GpuPhases phases;

  /// Results lie inside larger tensors, and what is around them must stay as it is.
  bool spread = false;

private:
  /// A copy of a tensor that has the same strides.
  Result<Tensor> upload(const Tensor &tensor);
  /// Memory for a result like `output`, all NaN; inside a larger tensor when `spread` says so.
  Result<Tensor> poison(const Tensor &output);
  Result<OwnedTensor> download(const Tensor &output);
  /// Copies of the arguments and, from a first run, results of the right sizes.
  int prepare(const std::vector<Argument> &arguments);
  void release();
  /// Queues runs that take about a tenth of a second at `seconds` each, and times the host.
  int measureHost(double seconds);

  std::vector<Argument> inputs;
  std::vector<Tensor> outputs;
  std::optional<Gpu> gpu;
  std::optional<GpuProgram> program;
};

} // namespace lacuna::tool
