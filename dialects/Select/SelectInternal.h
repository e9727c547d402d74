//===- SelectInternal.h - what verifiers of the dialect share -------------===//
#pragma once

#include "dialects/Select/Select.h"

namespace lacuna::select {

/// shape-3: `type` has these extents, where both are known; dynamic for what only a run knows.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what,
                                mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape);

/// block-1: a number of tokens, rows or nodes that are taken together.
mlir::LogicalResult verifyBlock(mlir::Operation *op, llvm::StringRef what, int64_t extent);

} // namespace lacuna::select
