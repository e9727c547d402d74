//===- SelectFolds.cpp - canonical forms of what selects ------------------===//
#include "dialects/Select/Select.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna::select;
using namespace lacuna;

static bool isAll(Value set) { return set.getDefiningOp<sparsity::AllOp>() != nullptr; }
static bool isNone(Value set) { return set.getDefiningOp<sparsity::NoneOp>() != nullptr; }

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

/// Blocks of one token are summarized by the token; a look at all channels is no restriction.
OpFoldResult SummarizeOp::fold(FoldAdaptor) {
  RankedTensorType type = getTokens().getType();
  auto [first, last] = getChannelRange();
  bool isWhole = first == 0 && last == type.getDimSize(3);
  Summary kind = getKind();
  bool isToken = kind == Summary::Mean || kind == Summary::Sum || kind == Summary::Min ||
                 kind == Summary::Max || kind == Summary::First;
  if (isToken && isWhole && !getFrom() && type == getResult().getType() &&
      llvm::all_of(getBlock(), [](int64_t extent) { return extent == 1; }))
    return getTokens();
  if (!isWhole || !getChannels())
    return {};
  removeChannelsAttr();
  return getResult();
}

/// Single tokens are as they are.
OpFoldResult FoldOp::fold(FoldAdaptor) {
  if (getBy() != 1 || getTokens().getType() != getResult().getType())
    return {};
  return getTokens();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

namespace {

/// All pairs count anyway.
template <typename Op> struct DropAllPairs final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getSet() || !isAll(op.getSet()))
      return rewriter.notifyMatchFailure(op, "has pairs that do not count");
    rewriter.modifyOpInPlace(op, [&] { op.getSetMutable().clear(); });
    return success();
  }
};

/// A function that returns the score it got is no function.
struct DropIdentityFunction final : OpRewritePattern<ScoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScoreOp op, PatternRewriter &rewriter) const override {
    if (op.getFunction().empty())
      return rewriter.notifyMatchFailure(op, "has no function");
    Block &block = op.getFunction().front();
    if (cast<YieldOp>(block.back()).getScore() != block.getArgument(0))
      return rewriter.notifyMatchFailure(op, "changes its scores");
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&block); });
    return success();
  }
};

} // namespace

void ScoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropAllPairs<ScoreOp>, DropIdentityFunction>(context);
}

void ScoreListOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropAllPairs<ScoreListOp>>(context);
}

void LogSumExpOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropAllPairs<LogSumExpOp>>(context);
}

//===----------------------------------------------------------------------===//
// Restrictions
//===----------------------------------------------------------------------===//

/// Nothing is shut out and nothing forced.
OpFoldResult RestrictOp::fold(FoldAdaptor) {
  if ((!getWithin() || isAll(getWithin())) && (!getForce() || isNone(getForce())))
    return getScores();
  return {};
}

namespace {

/// A set that changes nothing goes where the other one stays.
struct DropIdleSets final : OpRewritePattern<RestrictOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RestrictOp op, PatternRewriter &rewriter) const override {
    if (!op.getWithin() || !op.getForce())
      return rewriter.notifyMatchFailure(op, "has one set");
    if (!isAll(op.getWithin()) && !isNone(op.getForce()))
      return rewriter.notifyMatchFailure(op, "has two sets that change something");
    rewriter.modifyOpInPlace(op, [&] {
      if (isAll(op.getWithin()))
        op.getWithinMutable().clear();
      else
        op.getForceMutable().clear();
    });
    return success();
  }
};

/// One pass over the scores instead of two. What the second forces comes back from what the first
/// shut out.
struct MergeRestrictions final : OpRewritePattern<RestrictOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RestrictOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getScores().getDefiningOp<RestrictOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "restricts no scores that only it reads");
    auto join = [&]<typename Op>(Value a, Value b) -> Value {
      Type type = a.getType();
      return Op::create(rewriter, op.getLoc(), type, ValueRange{a, b});
    };
    Value within = inner.getWithin(), force = inner.getForce();
    if (within && op.getForce())
      within = join.operator()<sparsity::UnionOp>(within, op.getForce());
    if (op.getWithin())
      within =
          within ? join.operator()<sparsity::IntersectOp>(within, op.getWithin()) : op.getWithin();
    if (op.getForce())
      force = force ? join.operator()<sparsity::UnionOp>(force, op.getForce()) : op.getForce();
    rewriter.replaceOpWithNewOp<RestrictOp>(op, op.getType(), inner.getScores(), within, force);
    return success();
  }
};

} // namespace

void RestrictOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropIdleSets, MergeRestrictions>(context);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

namespace {

/// Bounds that bound nothing go.
struct DropIdleBounds final : OpRewritePattern<ChooseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ChooseOp op, PatternRewriter &rewriter) const override {
    bool isFloorIdle = op.getFloor() == 0, isCapIdle = op.getCap() == INT32_MAX;
    if (!isFloorIdle && !isCapIdle)
      return rewriter.notifyMatchFailure(op, "has bounds that may be reached");
    rewriter.modifyOpInPlace(op, [&] {
      if (isFloorIdle)
        op.removeFloorAttr();
      if (isCapIdle)
        op.removeCapAttr();
    });
    return success();
  }
};

/// Whether a choice chooses nothing whatever the scores are.
static bool isEmptyChoice(ChooseOp op) {
  if (op.getFloor().value_or(0) > 0)
    return false;
  bool isCounted = op.getRule() == Rule::TopK || op.getRule() == Rule::Share;
  bool isZero = op.getConstant() && op.getConstant()->isZero();
  return op.getCap() == 0 || (isCounted && isZero);
}

/// Lists without entries name no pair.
struct DropEmptyLists final : OpRewritePattern<ChooseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ChooseOp op, PatternRewriter &rewriter) const override {
    if (!isEmptyChoice(op))
      return rewriter.notifyMatchFailure(op, "may choose columns");
    bool changed = false;
    for (Operation *user : llvm::make_early_inc_range(op.getCounts().getUsers()))
      if (auto blocks = dyn_cast<sparsity::BlocksOp>(user);
          blocks && blocks.getCounts() == op.getCounts()) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(blocks);
        rewriter.replaceOpWithNewOp<sparsity::NoneOp>(blocks, blocks.getType(), blocks.getDomain());
        changed = true;
      }
    return success(changed);
  }
};

} // namespace

void ChooseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropIdleBounds, DropEmptyLists>(context);
}
