//===- Spec.h - a spec file as a verified module --------------------------===//
#pragma once

#include "lacuna/ArtifactFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <optional>

namespace mlir::func {
class FuncOp;
}

namespace lacuna::tool {

/// A parsed and verified spec, from a file of its own or from an artifact. Diagnostics about it,
/// then or later, are printed to stderr with file, line, the line's text and a caret.
class Spec {
public:
  /// Null after a mistake, which is on stderr.
  static std::unique_ptr<Spec> load(llvm::StringRef path);

  mlir::MLIRContext &getContext() { return context; }
  mlir::ModuleOp getModule() { return *module; }
  /// The only function of the module: what is computed.
  mlir::func::FuncOp getFunction();
  llvm::StringRef getPath() const { return path; }
  /// The spec's text.
  llvm::StringRef getText() const {
    return sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  }
  /// Makes the function return what select ops compute, behind its own results: all that a check
  /// needs, or what decides which pairs are live.
  void exposeSelections(bool all);
  /// How many results the text has.
  unsigned getWrittenResults() const { return writtenResults; }
  /// What decides about the function: its text, and whether it returns more than that says.
  std::string getKeyText();

  /// When the path leads to an artifact, that: the spec is the one it was built from.
  const std::optional<Artifact> &getArtifact() const { return artifact; }

private:
  explicit Spec(llvm::StringRef path);

  std::string path;
  unsigned writtenResults = 0;
  std::optional<Artifact> artifact;
  llvm::SourceMgr sources;
  mlir::MLIRContext context;
  /// Goes before the context that it listens to.
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace lacuna::tool
