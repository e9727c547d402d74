//===- LaunchRewrite.h - one launch in place of others --------------------===//
//
// Passes that make one kernel of several, or give one more inputs and outputs,
// keep what plans say: requirements in their order, and extents of what is no
// longer in memory as the plan that made it has them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"

namespace lacuna {

/// Mark of a `tile.summarize` whose kernel summarizes all blocks of the source's tokens.
constexpr llvm::StringLiteral wholeSourceMark = "lacuna.whole_source";

/// The kernel of a launch.
tile::KernelOp getKernel(tile::LaunchOp launch);

/// The one op of a kernel's body that works on memory, if it is an `Op`.
template <typename Op> Op getMainOp(tile::LaunchOp launch) {
  auto ops = getKernel(launch).getBody().front().getOps<Op>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : Op();
}

/// Builds a kernel for what `parts` do, each after the one before, on the same grid.
class LaunchRewrite {
public:
  /// Whether that is possible: nothing but the parts needs their results before the last of them,
  /// plans ask for no more than extents of results of parts, and bodies use these in an op of the
  /// tile dialect alone.
  static bool isPossible(llvm::ArrayRef<tile::LaunchOp> parts);

  /// `inputs` come to those of the parts, `outputs` behind the results that others use and those
  /// that are `needed`.
  LaunchRewrite(llvm::ArrayRef<tile::LaunchOp> parts, llvm::StringRef name,
                mlir::ValueRange needed = {}, mlir::ValueRange inputs = {},
                llvm::ArrayRef<mlir::RankedTensorType> outputs = {});

  /// A value of the function in the plan or the body.
  mlir::Value inPlan(mlir::Value value) const { return planInputs.lookup(value); }
  mlir::Value inBody(mlir::Value value) const { return bodyInputs.lookup(value); }
  /// The values of a part's body in the new one. Results of parts have none.
  mlir::IRMapping &getBodyMap(unsigned part) { return bodyMaps[part]; }
  /// The memory of a part's result, null where nobody uses it.
  mlir::Value getMemory(mlir::Value result) const { return memory.lookupOrNull(result); }
  mlir::Value getNewOutput(unsigned index) {
    return kernel.getOutputArguments()[kept.size() + index];
  }
  mlir::Value getGrid(unsigned axis) { return kernel.getGridArguments()[axis]; }
  /// Extents of a part's result, in the plan.
  llvm::ArrayRef<mlir::Value> getShape(mlir::Value result) { return shapes[result]; }

  /// Ends both regions, with the extents of the new outputs, and puts the launch before `place`,
  /// for the parts. Their results become its first ones.
  tile::LaunchOp finish(mlir::Operation *place, mlir::ValueRange newShapes = {});

  mlir::OpBuilder plan, body;

private:
  void clonePlan(tile::LaunchOp part);
  void cloneBody(unsigned index);
  bool isPart(mlir::Operation *op) const { return llvm::is_contained(parts, op); }

  llvm::SmallVector<tile::LaunchOp> parts;
  llvm::SetVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::OpResult> kept;
  mlir::IRMapping planInputs, bodyInputs, memory;
  llvm::SmallVector<mlir::IRMapping> bodyMaps;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> shapes;
  llvm::SmallVector<mlir::Value> grid;
  llvm::SmallVector<mlir::Type> newOutputs;
  tile::KernelOp kernel;
};

} // namespace lacuna
