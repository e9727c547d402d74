//===- Jit.h - the LLVM dialect as functions of this process --------------===//
#pragma once

#include "compiler/Cpu/HostMachine.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace lacuna {

/// What is compiled for `target`: a module of the LLVM dialect as optimised LLVM IR. Null after a
/// diagnostic.
std::unique_ptr<llvm::Module> translateForHost(mlir::Operation *module, llvm::LLVMContext &context,
                                               llvm::TargetMachine &target);

/// Optimised machine code of a module of the LLVM dialect, as the bytes of an object file. Besides
/// each function that others may call it has one that `Jit::lookup` finds. On failure the
/// diagnostic is emitted.
mlir::FailureOr<std::string> compileObject(mlir::ModuleOp module, const HostMachine &machine);

/// An object file's functions in the memory of this process.
class Jit {
public:
  /// `object` was made by `compileObject` for a CPU like this one. Links when functions are looked
  /// up; null when these bytes cannot become code.
  static std::unique_ptr<Jit> load(std::string object);
  ~Jit();

  /// A function that takes the address of each argument; null if the object has no such function.
  using Function = void (*)(void **);
  Function lookup(llvm::StringRef name) const;
  const std::string &getObject() const;

private:
  struct Session;
  explicit Jit(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session;
};

} // namespace lacuna
