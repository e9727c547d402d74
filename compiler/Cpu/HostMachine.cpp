//===- HostMachine.cpp - the CPU that this process runs on ----------------===//
#include "compiler/Cpu/HostMachine.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <set>

using namespace mlir;
using namespace lacuna;

/// Whether LLVM has a code generator for this CPU. Registering one twice at the same time would tie
/// a knot into LLVM's list of targets; the first caller does it, the others wait.
static bool hasCodeGenerator() {
  static const bool registered =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  return registered;
}

FailureOr<HostMachine> HostMachine::detect(Location loc) {
  if (!hasCodeGenerator())
    return emitError(loc, "expected a code generator for this CPU, got none");
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  HostMachine machine;
  if (triple.isX86()) {
    bool wide = features.lookup("avx512f") && features.lookup("avx512vl");
    machine.vectorWidth = wide ? 16 : features.lookup("avx2") ? 8 : 4;
    machine.nativeHalf = features.lookup("f16c");
    machine.nativeFma = features.lookup("fma");
  } else if (triple.isAArch64()) {
    machine.nativeHalf = machine.nativeFma = true;
  }
  return machine;
}

std::string HostMachine::identity() {
  std::string text = llvm::sys::getProcessTriple() + " " + llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  // In an order of their own: that of a hash table is nobody's promise.
  std::set<llvm::StringRef> present;
  for (const auto &feature : features)
    if (feature.second)
      present.insert(feature.first());
  for (llvm::StringRef name : present)
    text += (" +" + name).str();
  return text;
}

std::unique_ptr<llvm::TargetMachine> HostMachine::createTarget(Location loc) const {
  auto fail = [&](llvm::Error error) -> std::unique_ptr<llvm::TargetMachine> {
    emitError(loc, "cannot generate code for this CPU: ") << llvm::toString(std::move(error));
    return nullptr;
  };
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return fail(builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto target = builder->createTargetMachine();
  if (!target)
    return fail(target.takeError());
  return std::move(*target);
}
