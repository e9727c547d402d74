//===- KernelLowering.h - one tile.kernel as functions --------------------===//
#pragma once

#include "compiler/Cpu/HelperFunctions.h"

#include "mlir/IR/IRMapping.h"

namespace lacuna {

/// Writes `@<name>_plan` and `@<name>_body` next to a kernel.
class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, HelperFunctions &helpers)
      : kernel(kernel), helpers(helpers) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult lowerPlan();
  mlir::LogicalResult lowerBody();
  /// The coordinates of grid point `number`; the last axis runs fastest.
  llvm::SmallVector<mlir::Value> locate(VectorBuilder &builder, mlir::Value number,
                                        mlir::ValueRange extents);

  mlir::LogicalResult lowerBlock(VectorBuilder &builder, mlir::Block &block);
  mlir::LogicalResult lowerOp(VectorBuilder &builder, mlir::Operation &op);
  mlir::LogicalResult lowerFor(VectorBuilder &builder, mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(VectorBuilder &builder, mlir::scf::IfOp op);
  /// A branch of `scf.if`, whose tiles end in `targets` and whose other results are yielded.
  mlir::LogicalResult lowerBranch(VectorBuilder &builder, mlir::Block &block, mlir::Block *into,
                                  mlir::ValueRange results, mlir::ArrayRef<mlir::Value> targets);
  mlir::LogicalResult lowerLoad(VectorBuilder &builder, tile::LoadOp op);
  mlir::LogicalResult lowerDot(VectorBuilder &builder, tile::DotOp op);
  mlir::LogicalResult lowerScore(VectorBuilder &builder, tile::ScoreOp op);
  mlir::LogicalResult lowerMask(VectorBuilder &builder, tile::MaskOp op);
  mlir::LogicalResult lowerClassify(VectorBuilder &builder, tile::ClassifyOp op);
  mlir::LogicalResult lowerBegin(VectorBuilder &builder, tile::BeginOp op);
  mlir::LogicalResult lowerStep(VectorBuilder &builder, tile::SoftmaxStepOp op);
  mlir::LogicalResult lowerSkip(VectorBuilder &builder, tile::SkipOp op);
  mlir::LogicalResult lowerUnmark(VectorBuilder &builder, tile::UnmarkOp op);
  mlir::LogicalResult lowerFinish(VectorBuilder &builder, tile::FinishOp op);
  mlir::LogicalResult lowerMerge(VectorBuilder &builder, tile::MergeOp op);
  mlir::LogicalResult lowerStore(VectorBuilder &builder, tile::StoreOp op);
  mlir::LogicalResult lowerSummarize(VectorBuilder &builder, tile::SummarizeOp op);
  mlir::LogicalResult lowerFold(VectorBuilder &builder, tile::FoldOp op);
  mlir::LogicalResult lowerProject(VectorBuilder &builder, tile::ProjectOp op);
  mlir::LogicalResult lowerScoreBlocks(VectorBuilder &builder, tile::ScoreBlocksOp op);
  mlir::LogicalResult lowerRestrict(VectorBuilder &builder, tile::RestrictOp op);
  mlir::LogicalResult lowerScoreList(VectorBuilder &builder, tile::ScoreListOp op);
  mlir::LogicalResult lowerChoose(VectorBuilder &builder, tile::ChooseOp op);
  mlir::LogicalResult lowerSample(VectorBuilder &builder, tile::SampleOp op);
  mlir::LogicalResult lowerMargin(VectorBuilder &builder, tile::MarginOp op);
  mlir::LogicalResult lowerGate(VectorBuilder &builder, tile::GateOp op);
  mlir::LogicalResult lowerLinearState(VectorBuilder &builder, tile::LinearStateOp op);
  mlir::LogicalResult lowerLinearPrefix(VectorBuilder &builder, tile::LinearPrefixOp op);
  mlir::LogicalResult lowerLinearFold(VectorBuilder &builder, tile::LinearFoldOp op);
  mlir::LogicalResult lowerLinearRead(VectorBuilder &builder, tile::LinearReadOp op);
  mlir::LogicalResult lowerGatedMerge(VectorBuilder &builder, tile::GatedMergeOp op);

  mlir::Value scalar(mlir::Value value) { return values.lookup(value); }
  llvm::SmallVector<mlir::Value> scalars(mlir::ValueRange range);
  /// The buffer of a tile in one layout; null after a diagnostic at `user`.
  mlir::Value find(mlir::Operation *user, mlir::Value tile, TileLayout layout);
  void bind(mlir::Value tile, TileLayout layout, mlir::Value buffer);
  /// The tile's buffer, to be overwritten by `user`: its own, or a copy where the tile lives on.
  mlir::Value consume(VectorBuilder &builder, mlir::Operation *user, mlir::Value tile);

  /// A buffer that is free until the innermost scope ends.
  mlir::Value allocate(mlir::MemRefType type, mlir::Location loc);
  mlir::Value allocate(mlir::Value tile);
  /// Room for the words of a request.
  template <typename Request> mlir::Value allocateRequest(mlir::Operation *op);
  void openScope() { scopes.emplace_back(); }
  void closeScope();

  tile::KernelOp kernel;
  HelperFunctions &helpers;
  /// Scalars, and tensors as memrefs.
  mlir::IRMapping values;
  /// Buffers of tiles, per layout.
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> tiles;
  /// Whether scores that may be skipped are taken.
  llvm::DenseMap<mlir::Value, mlir::Value> taken;
  /// Buffers in use per scope, and those that may be used again.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> scopes;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::Value>> spare;
  /// In front of the loop over grid points.
  mlir::Operation *allocationPoint = nullptr;
  int64_t stackBytes = 0;
  llvm::SmallVector<mlir::Value> heapBuffers;
};

} // namespace lacuna
