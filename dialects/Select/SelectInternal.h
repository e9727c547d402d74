//===- SelectInternal.h - what verifiers of the dialect share -------------===//
#pragma once

#include "dialects/Select/Select.h"

namespace lacuna::select {

/// shape-3: `type` has these extents, where both are known; dynamic for what only a run knows.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what,
                                mlir::RankedTensorType type, llvm::ArrayRef<int64_t> shape);

} // namespace lacuna::select
