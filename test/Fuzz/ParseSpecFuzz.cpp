//===- ParseSpecFuzz.cpp - no text may crash the compiler -----------------===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Pipelines/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Parses, verifies, and lowers to tiles what passes. Refusing is fine; crashing is not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A text that MLIR's parser takes for bytecode would test upstream's reader.
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (text.starts_with("ML\xefR"))
    return 0;
  // A context per input: interned attributes of former inputs would pile up.
  MLIRContext context(lacuna::lacunaDialects(), MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz.mlir"),
                             llvm::SMLoc());
  OwningOpRef<ModuleOp> module = lacuna::parseSpec(sources, &context);
  if (!module)
    return 0;
  PassManager passes(&context);
  lacuna::buildSpecToTile(passes);
  (void)passes.run(*module);
  return 0;
}
