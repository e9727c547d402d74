//===- ProgramKeys.h - what decides about a program ------------------------===//
#pragma once

#include "compiler/Pipelines/Pipelines.h"
#include "lib/Support/Sha256.h"

#include "mlir/IR/BuiltinOps.h"

namespace lacuna {

/// Which build of the compiler this is: every change of its code is another. Empty when the linker
/// left no build id, and then nothing that this compiler makes may be kept.
std::string compilerBuild();

/// All options as one line, "key-tile= ping-pong=false ...".
std::string optionsText(const SpecToHopperOptions &options, bool lineInfo);

/// Of a spec's text, options and build. With `lineInfo` the kernels name lines of the file `path`.
Digest digestOfText(llvm::StringRef text, llvm::StringRef path, const SpecToHopperOptions &options,
                    bool lineInfo);

/// Of what is left of a spec after set algebra, with its arguments' names, options and build. Works
/// on a copy. Without line information, two specs of one digest have the same programs.
mlir::FailureOr<Digest> digestOfMeaning(mlir::ModuleOp module, const SpecToHopperOptions &options);

} // namespace lacuna
