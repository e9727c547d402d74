//===- CudaPrinter.h - hopper kernels as CUDA C++ and manifests -----------===//
#pragma once

#include "dialects/Hopper/Hopper.h"
#include "dialects/Tile/Tile.h"
#include "lacuna/Artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace lacuna {

/// How kernels are printed.
struct CudaOptions {
  /// Lines of attention kernels name the lines of the spec that they come from.
  bool lines = false;
};

/// Source and manifest of one kernel whose body is scalars and one planned `hopper.attend`. The
/// printer decides nothing: what it cannot print is an error at the op.
mlir::FailureOr<KernelCode> printCuda(tile::KernelOp kernel, CudaOptions options = {});

/// The launch sequence of `function` with the code of all kernels.
mlir::FailureOr<Program> printProgram(mlir::func::FuncOp function, CudaOptions options = {});

/// The launch sequence of `function`, whose kernels have shapes of outputs and no code: what a
/// caller must know of a program whose code is elsewhere.
mlir::FailureOr<Program> describeProgram(mlir::func::FuncOp function);

} // namespace lacuna
