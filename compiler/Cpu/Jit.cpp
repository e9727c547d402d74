//===- Jit.cpp - the LLVM dialect as functions of this process ------------===//
#include "compiler/Cpu/Jit.h"

#include "lib/Selection/Selection.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace lacuna;
namespace orc = llvm::orc;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

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
    result->setDataLayout(target.createDataLayout());
    result->setTargetTriple(target.getTargetTriple());
    optimize(*result, target);
  }
  return result;
}

/// What a function is called that takes the address of each argument.
static std::string packedName(llvm::StringRef name) { return ("packed_" + name).str(); }

/// Gives `function` a companion that takes a list of addresses and loads the arguments from there.
static void addPacked(llvm::Function &function) {
  llvm::LLVMContext &context = function.getContext();
  llvm::IRBuilder<> builder(context);
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *packed = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                        packedName(function.getName()), *function.getParent());
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", packed));
  llvm::SmallVector<llvm::Value *> arguments;
  for (auto [index, argument] : llvm::enumerate(function.args())) {
    llvm::Value *place = builder.CreateConstGEP1_64(builder.getPtrTy(), packed->getArg(0), index);
    llvm::Value *address = builder.CreateLoad(builder.getPtrTy(), place);
    arguments.push_back(builder.CreateLoad(argument.getType(), address));
  }
  builder.CreateCall(&function, arguments);
  builder.CreateRetVoid();
}

FailureOr<std::string> lacuna::compileObject(ModuleOp module, const HostMachine &machine) {
  std::unique_ptr<llvm::TargetMachine> optimizing = machine.createTarget(module.getLoc());
  std::unique_ptr<llvm::TargetMachine> generating = machine.createTarget(module.getLoc());
  if (!optimizing || !generating)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateForHost(module, context, *optimizing);
  if (!code)
    return failure();
  llvm::SmallVector<llvm::Function *> functions;
  for (llvm::Function &function : *code)
    if (!function.isDeclaration() && !function.hasLocalLinkage() &&
        function.getReturnType()->isVoidTy())
      functions.push_back(&function);
  for (llvm::Function *function : functions)
    addPacked(*function);
  auto object = orc::SimpleCompiler(*generating)(*code);
  if (!object) {
    module.emitError("cannot compile for this CPU: ") << llvm::toString(object.takeError());
    return failure();
  }
  return (*object)->getBuffer().str();
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

/// The functions of this library that kernels call.
static orc::SymbolMap librarySymbols(orc::ExecutionSession &session) {
  orc::SymbolMap map;
  for (const selection::Symbol &symbol : selection::symbols)
    map[session.intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.function),
                                        llvm::JITSymbolFlags::Exported |
                                            llvm::JITSymbolFlags::Callable};
  return map;
}

/// ORC without a compiler: one object and the symbols of this process.
struct Jit::Session {
  Session(std::unique_ptr<orc::ExecutorProcessControl> process, std::string object)
      : object(std::move(object)), session(std::move(process)),
        linker(session,
               [](const llvm::MemoryBuffer &) {
                 return std::make_unique<llvm::SectionMemoryManager>();
               }),
        code(session.createBareJITDylib("code")) {
    session.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }
  ~Session() { llvm::consumeError(session.endSession()); }

  /// Makes the object's symbols known.
  llvm::Error add() {
    auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    if (!process)
      return process.takeError();
    code.addGenerator(std::move(*process));
    if (llvm::Error error = code.define(orc::absoluteSymbols(librarySymbols(session))))
      return error;
    return linker.add(code, llvm::MemoryBuffer::getMemBuffer(object, "", false));
  }

  std::string object;
  orc::ExecutionSession session;
  orc::RTDyldObjectLinkingLayer linker;
  orc::JITDylib &code;
};

Jit::Jit(std::unique_ptr<Session> session) : session(std::move(session)) {}
Jit::~Jit() = default;

std::unique_ptr<Jit> Jit::load(std::string object) {
  auto process = orc::SelfExecutorProcessControl::Create();
  if (!process) {
    llvm::consumeError(process.takeError());
    return nullptr;
  }
  auto session = std::make_unique<Session>(std::move(*process), std::move(object));
  if (llvm::Error error = session->add()) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  return std::unique_ptr<Jit>(new Jit(std::move(session)));
}

Jit::Function Jit::lookup(llvm::StringRef name) const {
  auto symbol = session->session.lookup({&session->code}, packedName(name));
  if (!symbol) {
    llvm::consumeError(symbol.takeError());
    return nullptr;
  }
  return symbol->getAddress().toPtr<Function>();
}

const std::string &Jit::getObject() const { return session->object; }
