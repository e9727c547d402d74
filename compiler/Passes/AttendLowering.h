//===- AttendLowering.h - kernels for one attn op -------------------------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Passes/Segments.h"

namespace lacuna {

/// Writes the kernels and launches of `op` (in tiles as its attributes say) and replaces it.
/// `name` starts the kernels' names.
mlir::LogicalResult lowerAttend(attn::AttendOp op, llvm::StringRef name);

/// The same for a merge and the attends `parts` that it joins, which become one kernel.
mlir::LogicalResult lowerFusedMerge(attn::MergeOp op, llvm::ArrayRef<attn::AttendOp> parts,
                                    llvm::StringRef name);

/// The same for the merge of several results.
mlir::LogicalResult lowerMerge(attn::MergeOp op, llvm::StringRef name);

/// Adds to the plan of `kernel`, which computes with `sets`, what must hold at run time before it
/// may touch memory. What is known to fail is refused now.
mlir::LogicalResult emitRequirements(attn::AttendOp op, const Segments &segments,
                                     unsigned querySegment, mlir::ValueRange sets,
                                     KernelBuilder &kernel);

} // namespace lacuna
