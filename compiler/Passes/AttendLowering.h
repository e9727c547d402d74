//===- AttendLowering.h - kernels for one attn op -------------------------===//
#pragma once

#include "dialects/Attn/Attn.h"
#include "dialects/Tile/Tile.h"

namespace lacuna {

/// Writes the kernels and launches of `op` (in tiles as its attributes say) and replaces it.
/// `name` starts the kernels' names.
mlir::LogicalResult lowerAttend(attn::AttendOp op, llvm::StringRef name);

/// The same for the merge of several results.
mlir::LogicalResult lowerMerge(attn::MergeOp op, llvm::StringRef name);

} // namespace lacuna
