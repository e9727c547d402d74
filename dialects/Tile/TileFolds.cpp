//===- TileFolds.cpp - canonical forms of tile programs -------------------===//
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna::tile;

/// A condition that always holds is no requirement.
LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) {
  APInt condition;
  if (!matchPattern(op.getCondition(), m_ConstantInt(&condition)))
    return rewriter.notifyMatchFailure(op, "is not decided at compile time");
  if (condition.isZero())
    return rewriter.notifyMatchFailure(op, "never holds; the launch must report it");
  rewriter.eraseOp(op);
  return success();
}

/// No tile of the empty set is live.
LogicalResult ForEachOp::canonicalize(ForEachOp op, PatternRewriter &rewriter) {
  if (!op.getSet().getDefiningOp<sparsity::NoneOp>())
    return rewriter.notifyMatchFailure(op, "has a set that may be live somewhere");
  rewriter.replaceOp(op, op.getInit());
  return success();
}

/// No pair of the empty set is live. That all pairs are is never known here: keys outside the grid
/// are dead.
LogicalResult ClassifyOp::canonicalize(ClassifyOp op, PatternRewriter &rewriter) {
  if (!op.getSet() || !op.getSet().getDefiningOp<sparsity::NoneOp>())
    return rewriter.notifyMatchFailure(op, "has a set that may be live somewhere");
  rewriter.replaceOpWithNewOp<arith::ConstantIntOp>(op, op.getType(), 0);
  return success();
}

/// One part is its own merge.
LogicalResult MergeOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getOutputs().size() != 1 || getOutputs().front().getType() != getOutput().getType() ||
      getLses().front().getType() != getLse().getType())
    return failure();
  results.assign({getOutputs().front(), getLses().front()});
  return success();
}
