//===- KernelBuilder.h - one tile.kernel and its launch -------------------===//
//
// A kernel sees nothing of the function around it: its inputs are the
// function's arguments and earlier launches' results, and every scalar and set
// that it uses is computed again inside. This class does that plumbing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace lacuna {

/// Whether `op` can be computed again inside a kernel: it has no effect and no tensor result, or is
/// a constant.
bool isCloneable(mlir::Operation *op);

/// Erases ops without uses or effects, users first.
void eraseDeadOps(mlir::Block &block);

/// A constant of type index.
mlir::Value makeIndex(mlir::OpBuilder &builder, mlir::Location loc, int64_t number);
/// The extent of `tensor` along `axis`, a constant where it is one.
mlir::Value getExtent(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                      unsigned axis);
/// The product of `factors`, 1 if there is none.
mlir::Value makeProduct(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange factors);
/// How many boxes cover `sizes` along each axis.
llvm::SmallVector<mlir::Value> makeBoxCounts(mlir::OpBuilder &builder, mlir::Location loc,
                                             mlir::ValueRange sizes, llvm::ArrayRef<int64_t> box);
/// Row-major number, among the boxes that cover `sizes`, of the one that starts at `at`.
mlir::Value makeBoxNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange at,
                          mlir::ValueRange sizes, llvm::ArrayRef<int64_t> box);

class KernelBuilder;

/// Requires, in the plan, that key heads divide query heads; both are values of the plan.
mlir::LogicalResult requireKeyHeads(KernelBuilder &kernel, mlir::Value heads, mlir::Value keyHeads);

/// Builds one kernel for an op of a function. The caller writes IR at `plan` and `body`, with the
/// function's values as `inPlan` and `inBody` give them, then calls `finish` and `launch`.
class KernelBuilder {
public:
  /// Makes a kernel next to `op`'s function. `uses` are the function's values that the kernel needs
  /// (their definitions are cloned, or they become inputs); `outputs` the types of its results.
  KernelBuilder(mlir::Operation *op, llvm::StringRef name, mlir::ValueRange uses,
                llvm::ArrayRef<mlir::RankedTensorType> outputs, unsigned gridRank);

  mlir::Location getLoc() const { return loc; }
  tile::KernelOp getKernel() const { return kernel; }
  mlir::Value inPlan(mlir::Value value) const { return planMap.lookup(value); }
  mlir::Value inBody(mlir::Value value) const { return bodyMap.lookup(value); }
  /// The maps from the function's values to those of each region.
  const mlir::IRMapping &getPlanMap() const { return planMap; }
  mlir::IRMapping &getBodyMap() { return bodyMap; }
  mlir::Value getOutput(unsigned index) { return kernel.getOutputArguments()[index]; }
  mlir::Value getGrid(unsigned axis) { return kernel.getGridArguments()[axis]; }

  /// Adds to the plan that `condition` must hold. A condition known to be false fails now, with the
  /// message at the op; one known to be true adds nothing.
  mlir::LogicalResult require(mlir::Value condition, llvm::StringRef message,
                              mlir::ValueRange values);

  /// Ends both regions.
  void finish(mlir::ValueRange grid, mlir::ValueRange shapes);
  /// The launch, placed before the op.
  tile::LaunchOp launch(mlir::ValueRange into);

  mlir::OpBuilder plan, body;

private:
  mlir::Operation *op;
  mlir::Location loc;
  llvm::SmallVector<mlir::RankedTensorType> outputs;
  llvm::SetVector<mlir::Value> inputs;
  mlir::IRMapping planMap, bodyMap;
  tile::KernelOp kernel;
};

} // namespace lacuna
