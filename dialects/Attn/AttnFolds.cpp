//===- AttnFolds.cpp - canonical forms of attend and merge ----------------===//
#include "dialects/Attn/Attn.h"
#include "dialects/Attn/AttnAttributes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna::attn;

namespace {

/// What nobody reads of lse and marks is not stored.
struct DropUnusedResults final : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op, PatternRewriter &rewriter) const override {
    auto isRead = [](Value result) { return result && !result.use_empty(); };
    bool hasLse = isRead(op.getLse()), hasTaken = isRead(op.getTaken());
    if (op->getNumResults() == 1u + hasLse + hasTaken)
      return rewriter.notifyMatchFailure(op, "has no unused lse or marks");
    AttendOp lean = op.withResults(rewriter, hasLse, hasTaken);
    for (auto [old, result] : {std::pair(Value(op.getOutput()), Value(lean.getOutput())),
                               {op.getLse(), lean.getLse()},
                               {op.getTaken(), lean.getTaken()}})
      if (old && result)
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where there is no key, there is nothing to skip.
struct DropEmptySkip final : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op, PatternRewriter &rewriter) const override {
    if (!op.hasSkip() || op.getTaken())
      return rewriter.notifyMatchFailure(op, "skips nothing, or says what it took");
    if (!op.getSet().getDefiningOp<lacuna::sparsity::NoneOp>())
      return rewriter.notifyMatchFailure(op, "may see keys");
    rewriter.modifyOpInPlace(op, [&] {
      op.getBelowMutable().clear();
      op.removeSkipQueryAttr();
      op.removeSkipKeyAttr();
      op.removeMarginAttr();
    });
    return success();
  }
};

/// A region that returns the score it got is no region.
struct DropIdentityScore final : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op, PatternRewriter &rewriter) const override {
    if (op.getScore().empty())
      return rewriter.notifyMatchFailure(op, "has no score region");
    Block &block = op.getScore().front();
    auto yield = cast<YieldOp>(block.getTerminator());
    if (yield.getScore() != block.getArgument(0))
      return rewriter.notifyMatchFailure(op, "changes its scores");
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&block); });
    return success();
  }
};

/// merge(merge(a, b), c) is merge(a, b, c): one pass over memory less, and one rounding.
struct FlattenMerge final : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> outputs, lses;
    bool changed = false;
    for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses())) {
      auto inner = output.getDefiningOp<MergeOp>();
      if (inner && inner.getLse() == lse && output.hasOneUse() && lse.hasOneUse() &&
          !inner->hasAttr(oneKernel)) {
        llvm::append_range(outputs, inner.getOutputs());
        llvm::append_range(lses, inner.getLses());
        changed = true;
      } else {
        outputs.push_back(output);
        lses.push_back(lse);
      }
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "has no part that only it reads and that is a merge");
    rewriter.replaceOpWithNewOp<MergeOp>(op, op->getResultTypes(), outputs, lses);
    return success();
  }
};

/// Whether `output`, `lse` are those of attention that sees nothing: weight 0 in every merge.
static bool isEmptyPart(Value output, Value lse) {
  if (auto read = output.getDefiningOp<LinearReadOp>())
    return read.getLse() == lse && read.getSet().getDefiningOp<lacuna::sparsity::NoneOp>();
  auto attend = output.getDefiningOp<AttendOp>();
  return attend && attend.getLse() == lse && !attend.getSinks() &&
         attend.getSet().getDefiningOp<lacuna::sparsity::NoneOp>();
}

/// A part without keys has weight 0; one part stays, so that the shape does.
struct DropEmptyParts final : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> outputs, lses;
    for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses())) {
      if (isEmptyPart(output, lse))
        continue;
      outputs.push_back(output);
      lses.push_back(lse);
    }
    if (outputs.size() == op.getOutputs().size())
      return rewriter.notifyMatchFailure(op, "has no empty part");
    if (outputs.empty()) {
      outputs.push_back(op.getOutputs().front());
      lses.push_back(op.getLses().front());
      if (op.getOutputs().size() == 1)
        return rewriter.notifyMatchFailure(op, "has one part");
    }
    rewriter.replaceOpWithNewOp<MergeOp>(op, op->getResultTypes(), outputs, lses);
    return success();
  }
};

} // namespace

void AttendOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedResults, DropEmptySkip, DropIdentityScore>(context);
}

void MergeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenMerge, DropEmptyParts>(context);
}

/// One part is its own merge.
LogicalResult MergeOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getOutputs().size() != 1)
    return failure();
  results.assign({getOutputs().front(), getLses().front()});
  return success();
}
