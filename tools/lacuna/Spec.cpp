//===- Spec.cpp - reading and checking a spec file ------------------------===//
#include "tools/lacuna/Spec.h"

#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SelectResults.h"
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Timing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace lacuna::tool {

Spec::Spec(llvm::StringRef path)
    : path(path), context(lacunaDialects(), MLIRContext::Threading::DISABLED),
      diagnostics(std::make_unique<SourceMgrDiagnosticHandler>(sources, &context, llvm::errs())) {
  // A diagnostic already names the place; the op it stands on, in generic form, only hides the
  // line.
  context.printOpOnDiagnostic(false);
}

std::unique_ptr<Spec> Spec::load(llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path)) {
    fail("cannot read '" + path + "': expected a file, got a folder");
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    fail("cannot read '" + path + "': " + buffer.getError().message());
    return nullptr;
  }
  std::unique_ptr<Spec> spec(new Spec(path));
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (isArtifact(bytes)) {
    Result<Artifact> artifact = readArtifact(bytes);
    if (!artifact || artifact->origin.spec.empty()) {
      fail("cannot read '" + path + "': " +
           (artifact ? "expected an artifact that holds its spec" : artifact.status().message()));
      return nullptr;
    }
    buffer = llvm::MemoryBuffer::getMemBufferCopy(artifact->origin.spec, path);
    spec->artifact = std::move(*artifact);
  }
  spec->sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  TimingScope reading = timePhase("read the spec");
  spec->module = parseSpec(spec->sources, &spec->context);
  reading.stop();
  if (!spec->module)
    return nullptr;

  auto functions = llvm::to_vector(spec->getModule().getOps<func::FuncOp>());
  if (functions.size() == 1 && !functions.front().isExternal()) {
    spec->writtenResults = functions.front().getNumResults();
    return spec;
  }
  Operation *where = functions.size() > 1 ? functions[1].getOperation() : spec->getModule();
  if (functions.size() == 1)
    functions.front().emitError("expected the function of a spec to have a body");
  else
    where->emitError("expected a spec to have one function, got ") << functions.size();
  return nullptr;
}

void Spec::exposeSelections(bool all) {
  lacuna::exposeSelections(getFunction(), all ? Exposed::All : Exposed::HandedOver);
}

std::string Spec::getKeyText() {
  unsigned results = getFunction().getNumResults();
  std::string text = getText().str();
  return results == writtenResults ? text : text + "\n// results: " + std::to_string(results);
}

func::FuncOp Spec::getFunction() { return *getModule().getOps<func::FuncOp>().begin(); }

} // namespace lacuna::tool
