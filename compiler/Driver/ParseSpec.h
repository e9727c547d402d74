//===- ParseSpec.h - MLIR text whose value names are kept ------------------===//
#pragma once

#include "compiler/Emit/ValueName.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
}

namespace lacuna {

/// Parses and verifies the main buffer of `sources`. The names that the text gives to arguments and
/// results become NameLocs around their locations, for MLIR itself forgets them. Null after a
/// diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> parseSpec(const llvm::SourceMgr &sources,
                                            mlir::MLIRContext *context);

} // namespace lacuna
