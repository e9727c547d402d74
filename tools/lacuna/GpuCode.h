//===- GpuCode.h - the levels of compile that a GPU has -------------------===//
#pragma once

#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

#include "llvm/Support/raw_ostream.h"

namespace lacuna::tool {

// Each writes the spec's kernels in one form; an exit code, after a message unless it is Success.
// All but `emitCuda` need NVRTC, none a GPU.

int emitCuda(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
int emitPtx(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
int emitCubin(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);
int emitSassReport(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);

} // namespace lacuna::tool
