//===- MakeProgram.h - the program of a spec, kept or made -----------------===//
#pragma once

#include "compiler/Driver/CpuProgram.h"
#include "lacuna/ArtifactFile.h"
#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

namespace lacuna {
class BlobStore;
}

namespace lacuna::tool {

/// The GPU's program of `spec` with where it comes from: that of its artifact; else of the cache,
/// which may be null; else compiled. Kernels have no machine code, unless the artifact has. An exit
/// code after a message, or Success.
int makeProgram(Spec &spec, const PlanOptions &plan, BlobStore *cache, Artifact &artifact);

/// The same for this CPU, with machine code.
int makeCpuProgram(Spec &spec, const PlanOptions &plan, std::unique_ptr<CpuProgram> &program);

/// Writes the artifact of `spec`, with machine code where there is NVRTC and with a note on stderr
/// elsewhere.
int emitArtifact(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);

} // namespace lacuna::tool
