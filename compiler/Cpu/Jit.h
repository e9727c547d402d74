//===- Jit.h - the LLVM dialect as functions of this process --------------===//
#pragma once

#include "compiler/Cpu/HostMachine.h"

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir {
class ExecutionEngine;
}

namespace lacuna {

/// What is compiled for `target`: a module of the LLVM dialect as optimised LLVM IR. Null after a
/// diagnostic.
std::unique_ptr<llvm::Module> translateForHost(mlir::Operation *module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &target);

/// Machine code for one module.
class Jit {
public:
  /// Optimises and compiles; on failure the diagnostic is emitted. With `keepObject`, `dumpObject`
  /// can write the machine code.
  static mlir::FailureOr<std::unique_ptr<Jit>>
  compile(mlir::ModuleOp module, const HostMachine &machine, bool keepObject = false);
  ~Jit();

  /// A function that takes the address of each argument; null if the module has no such function.
  using Function = void (*)(void **);
  Function lookup(llvm::StringRef name) const;
  void dumpObject(llvm::StringRef path) const;

private:
  explicit Jit(std::unique_ptr<mlir::ExecutionEngine> engine);
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace lacuna
