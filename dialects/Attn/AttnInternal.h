//===- AttnInternal.h - what verifiers of the dialect share ---------------===//
#pragma once

#include "dialects/Attn/Attn.h"

namespace lacuna::attn {

/// shape-1, shape-2: what holds for every tensor of tokens.
mlir::LogicalResult verifyTokens(mlir::Operation *op, llvm::StringRef what,
                                 mlir::RankedTensorType type);

/// Calls `check` with each op that `set` is made of, its own first; fails where none says what a
/// part of it holds.
mlir::LogicalResult
verifySetOps(mlir::Operation *op, mlir::Value set,
             llvm::function_ref<mlir::LogicalResult(mlir::Operation *definition)> check);

/// Whether two extents are both known and differ.
inline bool differ(int64_t a, int64_t b) {
  return !mlir::ShapedType::isDynamic(a) && !mlir::ShapedType::isDynamic(b) && a != b;
}

} // namespace lacuna::attn
