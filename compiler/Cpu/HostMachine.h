//===- HostMachine.h - the CPU that this process runs on ------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace lacuna {

/// What code generation must know of the CPU.
struct HostMachine {
  /// Emits an error at `loc` and fails when LLVM has no code generator for this machine.
  static mlir::FailureOr<HostMachine> detect(mlir::Location loc);

  std::unique_ptr<llvm::TargetMachine> createTarget(mlir::Location loc) const;

  /// Everything about this CPU that decides about machine code, on one line: code of one machine
  /// runs on another exactly when both have the same.
  static std::string identity();

  /// f32 lanes of the widest vector.
  int64_t vectorWidth = 4;
  bool nativeHalf = false, nativeFma = false;
};

} // namespace lacuna
