//===- SpecText.h - a spec in a test, with its diagnostics -----------------===//
#pragma once

#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SpecInterface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace lacuna::test {

/// A parsed spec; errors about it, then or later, are collected instead of printed.
class SpecText {
public:
  explicit SpecText(llvm::StringRef text)
      : context(lacunaDialects(), mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            messages += diagnostic.str() + "\n";
          return mlir::success();
        }) {
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "spec.mlir"),
                               llvm::SMLoc());
    module = parseSpec(sources, &context);
  }

  bool isParsed() const { return static_cast<bool>(module); }
  mlir::ModuleOp getModule() { return *module; }
  mlir::func::FuncOp getFunction() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  /// All errors so far, one a line.
  const std::string &getMessages() const { return messages; }

private:
  llvm::SourceMgr sources;
  mlir::MLIRContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace lacuna::test
