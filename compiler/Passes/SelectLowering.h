//===- SelectLowering.h - kernels of the select dialect -------------------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"
#include "dialects/Select/Select.h"

namespace lacuna {

/// Write the kernel and the launch of one op that computes scores, and replace it. `name` is the
/// kernel's.
mlir::LogicalResult lowerScore(select::ScoreOp op, llvm::StringRef name);
mlir::LogicalResult lowerLogSumExp(select::LogSumExpOp op, llvm::StringRef name);
mlir::LogicalResult lowerRestrict(select::RestrictOp op, llvm::StringRef name);
mlir::LogicalResult lowerScoreList(select::ScoreListOp op, llvm::StringRef name);

/// The same for ops that convert lists.
mlir::LogicalResult lowerListOfMask(select::ListOfMaskOp op, llvm::StringRef name);
mlir::LogicalResult lowerMaskOfList(select::MaskOfListOp op, llvm::StringRef name);
mlir::LogicalResult lowerListOfCsr(select::ListOfCsrOp op, llvm::StringRef name);
mlir::LogicalResult lowerCsrOfList(select::CsrOfListOp op, llvm::StringRef name);
mlir::LogicalResult lowerChildren(select::ChildrenOp op, llvm::StringRef name);
mlir::LogicalResult lowerPick(select::PickOp op, llvm::StringRef name);
mlir::LogicalResult lowerWithout(select::WithoutOp op, llvm::StringRef name);
/// Puts two conversions, through a map, in place of `op`.
void expandTranspose(select::TransposeOp op);

/// Lowers the ops of `function` that `isOurs` knows, each in a kernel of its own that is called
/// "<function>_<op>_<number>". They stand at the top level of the function.
mlir::LogicalResult
lowerTopLevel(mlir::func::FuncOp function, llvm::function_ref<bool(mlir::Operation *)> isOurs,
              llvm::function_ref<mlir::LogicalResult(mlir::Operation *, llvm::StringRef)> lower);

/// Ends a kernel of one result with these extents, and puts its launch in place of `op`.
void replaceByLaunch(mlir::Operation *op, KernelBuilder &kernel, mlir::ValueRange grid,
                     mlir::ValueRange shapes);

/// Requires, in the plan, that `found` and `expected`, values of the function, have equal extents
/// along `axis`. `message` shows the first as {0}.
mlir::LogicalResult requireEqualExtents(KernelBuilder &kernel, mlir::Value found,
                                        mlir::Value expected, unsigned axis,
                                        llvm::StringRef message);

/// Fills `region` with the predicate of `set` over a row and a column; its first argument is the
/// head where `eachHead` says so, else the head is `head`. `rows` and `columns` are extents in the
/// body.
mlir::LogicalResult emitPairs(KernelBuilder &kernel, mlir::Region &region, mlir::Value set,
                              bool eachHead, mlir::Value head, mlir::Value rows,
                              mlir::Value columns);

/// `number` of tokens or rows in blocks of `size`, rounded up.
mlir::Value countBlocks(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                        int64_t size);

} // namespace lacuna
