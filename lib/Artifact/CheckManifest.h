//===- CheckManifest.h - is a program well formed? -------------------------===//
#pragma once

#include "lacuna/Artifact.h"
#include "lacuna/Status.h"

namespace lacuna {

/// Dynamic shared memory that one block may have, in bytes (compute capability 9.0).
inline constexpr unsigned largestSharedBytes = 232448;
/// Bytes of all parameters of one kernel.
inline constexpr unsigned largestParameterBytes = 32764;
/// Host values that all launches of a program have together.
inline constexpr size_t mostHostValues = size_t{1} << 20;

/// Refuses a manifest whose numbers cannot be launched or refer to nothing. What a launch reads
/// from a checked manifest needs no further test of indices.
Status checkManifest(const KernelManifest &manifest);

/// `checkManifest` for every kernel, and everything between kernels: buffers come before their use,
/// kinds and ranks of arguments fit what the host programs read, boxes fit their swizzle.
Status checkProgram(const Program &program);

} // namespace lacuna
