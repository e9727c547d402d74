//===- Jit.cpp - the LLVM dialect as functions of this process ------------===//
#include "compiler/Cpu/Jit.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace lacuna;

Jit::Jit(std::unique_ptr<ExecutionEngine> engine) : engine(std::move(engine)) {}
Jit::~Jit() = default;

/// The usual pipeline without looking for more vectors: the code has the right ones already.
static void optimize(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&target, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

std::unique_ptr<llvm::Module> lacuna::translateForHost(Operation *module,
                                                       llvm::LLVMContext &context,
                                                       llvm::TargetMachine &target) {
  registerBuiltinDialectTranslation(*module->getContext());
  registerLLVMDialectTranslation(*module->getContext());
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context);
  if (result) {
    ExecutionEngine::setupTargetTripleAndDataLayout(result.get(), &target);
    optimize(*result, target);
  }
  return result;
}

FailureOr<std::unique_ptr<Jit>> Jit::compile(ModuleOp module, const HostMachine &machine,
                                             bool keepObject) {
  std::unique_ptr<llvm::TargetMachine> optimizing = machine.createTarget(module.getLoc());
  std::unique_ptr<llvm::TargetMachine> generating = machine.createTarget(module.getLoc());
  if (!optimizing || !generating)
    return failure();
  auto build = [&](Operation *op, llvm::LLVMContext &context) {
    return translateForHost(op, context, *optimizing);
  };
  ExecutionEngineOptions options;
  options.llvmModuleBuilder = build;
  options.enableObjectDump = keepObject;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(module, options, std::move(generating));
  if (!engine) {
    module.emitError("cannot compile for this CPU: ") << llvm::toString(engine.takeError());
    return failure();
  }
  return std::unique_ptr<Jit>(new Jit(std::move(*engine)));
}

Jit::Function Jit::lookup(llvm::StringRef name) const {
  auto function = engine->lookupPacked(name);
  if (function)
    return *function;
  llvm::consumeError(function.takeError());
  return nullptr;
}

void Jit::dumpObject(llvm::StringRef path) const { engine->dumpToObjectFile(path); }
