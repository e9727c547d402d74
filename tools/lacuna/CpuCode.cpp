//===- CpuCode.cpp - what a spec becomes on the CPU of this machine -------===//
#include "tools/lacuna/CpuCode.h"

#include "compiler/Cpu/Jit.h"
#include "compiler/Passes/Passes.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Timing.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace lacuna::tool {

static void buildCpu(PassManager &passes, const PlanOptions &plan, const HostMachine &machine) {
  buildSpecToTile(passes, plan);
  buildTileToLoops(passes);
  TileToCpuPassOptions vectors;
  vectors.vectorWidth = machine.vectorWidth;
  passes.addPass(createTileToCpuPass(vectors));
}

int emitCpu(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  FailureOr<HostMachine> machine = HostMachine::detect(spec.getModule().getLoc());
  if (failed(machine))
    return Environment;
  PassManager passes(&spec.getContext());
  buildCpu(passes, plan, *machine);
  timePasses(passes);
  if (failed(passes.run(spec.getModule())))
    return UserMistake;
  spec.getModule().print(os, OpPrintingFlags().printNameLocAsPrefix());
  os << '\n';
  return Success;
}

/// Hands the optimised LLVM IR of `spec` and its target to `write`.
static int withLlvm(Spec &spec, const PlanOptions &plan,
                    llvm::function_ref<int(llvm::Module &, llvm::TargetMachine &)> write) {
  ModuleOp module = spec.getModule();
  FailureOr<HostMachine> machine = HostMachine::detect(module.getLoc());
  if (failed(machine))
    return Environment;
  PassManager passes(&spec.getContext());
  buildCpu(passes, plan, *machine);
  CpuToLlvmPassOptions native;
  native.nativeHalf = machine->nativeHalf;
  native.nativeFma = machine->nativeFma;
  passes.addPass(createCpuToLlvmPass(native));
  timePasses(passes);
  if (failed(passes.run(module)))
    return UserMistake;
  std::unique_ptr<llvm::TargetMachine> target = machine->createTarget(module.getLoc());
  if (!target)
    return Environment;
  TimingScope translating = timePhase("LLVM IR");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateForHost(module, context, *target);
  translating.stop();
  return code ? write(*code, *target) : static_cast<int>(Environment);
}

int emitLlvm(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  return withLlvm(spec, plan, [&](llvm::Module &code, llvm::TargetMachine &) {
    code.print(os, nullptr);
    return Success;
  });
}

static int emitNative(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os,
                      llvm::CodeGenFileType type) {
  return withLlvm(spec, plan, [&](llvm::Module &code, llvm::TargetMachine &target) -> int {
    TimingScope building = timePhase("machine code");
    llvm::SmallVector<char> bytes;
    llvm::raw_svector_ostream buffer(bytes);
    llvm::legacy::PassManager passes;
    if (target.addPassesToEmitFile(passes, buffer, nullptr, type))
      return failEnvironment("LLVM writes no such file for this CPU");
    passes.run(code);
    os << buffer.str();
    return Success;
  });
}

int emitAssembly(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  return emitNative(spec, plan, os, llvm::CodeGenFileType::AssemblyFile);
}

int emitObject(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os) {
  return emitNative(spec, plan, os, llvm::CodeGenFileType::ObjectFile);
}

} // namespace lacuna::tool
