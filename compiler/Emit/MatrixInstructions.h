//===- MatrixInstructions.h - wgmma of the shapes that a kernel uses ------===//
#pragma once

#include "dialects/Hopper/Hopper.h"

#include <string>

namespace lacuna {

/// CUDA functions for the two products of a key tile: `wgmmaShared` (queries and keys in shared
/// memory, `keys` columns) and `wgmmaRegisters` (weights in registers, values in shared memory,
/// `valueDim` columns), both 64 rows and 16 deep.
std::string matrixInstructions(int64_t keys, int64_t valueDim, bool bf16);

} // namespace lacuna
