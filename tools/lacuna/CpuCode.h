//===- CpuCode.h - what a spec becomes on the CPU of this machine ---------===//
#pragma once

#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

#include "llvm/Support/raw_ostream.h"

namespace lacuna::tool {

/// Each writes `spec` and returns an exit code, after a message unless it is Success.

/// Functions on buffers and vectors.
int emitCpu(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
/// LLVM IR after optimisation.
int emitLlvm(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
/// Assembly.
int emitAssembly(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
/// An object file.
int emitObject(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);

} // namespace lacuna::tool
