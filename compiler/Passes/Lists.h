//===- Lists.h - sets that depend on a list -------------------------------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"

namespace lacuna {

/// The ops that `sets` are made of, each once, those of the sets themselves first.
llvm::SmallVector<mlir::Operation *> findSetOps(mlir::ValueRange sets);

/// Every `sparsity.blocks` that `set` is made of, each once.
llvm::SmallVector<sparsity::BlocksOp> findLists(mlir::Value set);
/// Every `sparsity.bitmap`, the same way.
llvm::SmallVector<sparsity::BitmapOp> findBitmaps(mlir::Value set);

/// The list of `set`, when loops may walk it entry by entry: the set is made of one list, what it
/// keeps of several blocks is what it keeps of each, and no other part has to be classified. Null
/// otherwise.
sparsity::BlocksOp findAdditiveList(mlir::Value set);
/// The same, when a query tile of `queryBox` lies in one query block.
sparsity::BlocksOp findWalkedList(mlir::Value set, llvm::ArrayRef<int64_t> queryBox);

/// A copy of `set` with `replacement` for the result of `leaf`.
mlir::Value replaceLeaf(mlir::OpBuilder &builder, mlir::Value set, mlir::Operation *leaf,
                        mlir::Value replacement);

/// Marks a list that was a bitmap: the capacity is the number of key blocks that the map has.
constexpr llvm::StringLiteral bitmapMark = "lacuna.of_bitmap";

/// What is left of `set` without its list.
mlir::Value withoutList(mlir::OpBuilder &builder, mlir::Value set, sparsity::BlocksOp list);
/// What `set`, with `block` in place of its walked list, has by virtue of it: every pair that the
/// block adds, and perhaps some that the set has without it.
mlir::Value withBlock(mlir::OpBuilder &builder, mlir::Value set, sparsity::BlocksOp list,
                      mlir::Value block);

/// Requires, in the plan, that the lists of `set` have the shapes that the tensor `queries` with
/// `querySizes` tokens per axis asks for; both are values of the plan.
mlir::LogicalResult requireLists(KernelBuilder &kernel, mlir::Value set, mlir::Value queries,
                                 mlir::ValueRange querySizes);
/// The same for the bitmaps of `set`, which `keySizes` keys per axis are seen through.
mlir::LogicalResult requireBitmaps(KernelBuilder &kernel, mlir::Value set, mlir::Value queries,
                                   mlir::ValueRange querySizes, mlir::ValueRange keySizes);

} // namespace lacuna
