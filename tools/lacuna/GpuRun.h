//===- GpuRun.h - a spec on a GPU -----------------------------------------===//
#pragma once

#include "compiler/Pipelines/Pipelines.h"
#include "lacuna/Runtime.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace lacuna::tool {

/// A spec compiled for and loaded on the first GPU. Steps return an exit code after a message, or
/// Success.
class GpuRun {
public:
  /// Lowers `module`, which it changes, and loads the first function's program.
  int compile(mlir::ModuleOp module, const SpecToTileOptions &tiles);
  /// Runs on copies of `arguments`, `repeats` times; results start as NaN, so that what a kernel
  /// leaves out shows. `seconds` is the fastest run on the GPU.
  int execute(const std::vector<Argument> &arguments, int64_t repeats, double &seconds,
              std::vector<OwnedTensor> &results);

private:
  std::optional<Gpu> gpu;
  std::optional<GpuProgram> program;
};

} // namespace lacuna::tool
