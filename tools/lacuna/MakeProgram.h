//===- MakeProgram.h - the GPU's program of a spec, kept or made -----------===//
#pragma once

#include "lacuna/ArtifactFile.h"
#include "tools/lacuna/PlanOptions.h"
#include "tools/lacuna/Spec.h"

namespace lacuna {
class BlobStore;
}

namespace lacuna::tool {

/// The program of `spec` with where it comes from: that of its artifact; else of the cache, which
/// may be null; else compiled. Kernels have no machine code, unless the artifact has. An exit code
/// after a message, or Success.
int makeProgram(Spec &spec, const PlanOptions &plan, BlobStore *cache, Artifact &artifact);

/// Writes the artifact of `spec`, with machine code where there is NVRTC and with a note on stderr
/// elsewhere.
int emitArtifact(Spec &spec, const PlanOptions &plan, llvm::raw_ostream &os);

} // namespace lacuna::tool
