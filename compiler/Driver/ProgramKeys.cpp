//===- ProgramKeys.cpp - what decides about a program ----------------------===//
#include "compiler/Driver/ProgramKeys.h"

#include "compiler/Cpu/HostMachine.h"
#include "compiler/Driver/SpecInterface.h"
#include "lib/Support/BuildId.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna {

std::string compilerBuild() {
  std::string id = buildIdOf(reinterpret_cast<const void *>(&compilerBuild));
  // Shared libraries of LLVM have builds of their own.
  return id.empty() ? id : id + " LLVM " LLVM_VERSION_STRING;
}

std::string optionsText(const SpecToHopperOptions &options, bool lineInfo) {
  std::string text;
  llvm::raw_string_ostream os(text);
  options.print(os);
  os << (lineInfo ? " line-info" : "");
  return text;
}

static FieldDigest startDigest(const SpecToHopperOptions &options, bool lineInfo) {
  FieldDigest digest;
  digest.field("compiler", compilerBuild()).field("options", optionsText(options, lineInfo));
  if (options.target == "cpu")
    digest.field("machine", HostMachine::identity());
  return digest;
}

Digest digestOfText(llvm::StringRef text, llvm::StringRef path, const SpecToHopperOptions &options,
                    bool lineInfo) {
  return startDigest(options, lineInfo)
      .field("text", std::string_view(text))
      .field("path", lineInfo ? std::string_view(path) : std::string_view())
      .finish();
}

FailureOr<Digest> digestOfMeaning(ModuleOp module, const SpecToHopperOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*copy)))
    return failure();
  // Names of arguments occur in messages of a launch.
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().printNameLocAsPrefix());
  FieldDigest digest = startDigest(options, /*lineInfo=*/false);
  digest.field("ir", text);
  // Equal results may be one value by now.
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    for (const std::string &name : namesOfResults(function))
      digest.field("result", name);
  return digest.finish();
}

} // namespace lacuna
