//===- SparsityFolds.cpp - canonical forms of single sets -----------------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lacuna;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// Constant operands
//===----------------------------------------------------------------------===//

/// The constant that `operand` is, when an attribute may hold it.
static std::optional<int64_t> getConstant(Value operand, int64_t least) {
  APInt number;
  if (!operand.getType().isIndex() || !matchPattern(operand, m_ConstantInt(&number)))
    return std::nullopt;
  int64_t value = number.getSExtValue();
  if (value < least || value > maxConstant)
    return std::nullopt;
  return value;
}

/// Moves a constant operand into attribute `name`.
static bool moveConstant(PatternRewriter &rewriter, Operation *op, MutableOperandRange operand,
                         StringRef name, int64_t least) {
  if (operand.empty())
    return false;
  std::optional<int64_t> value = getConstant(operand[0].get(), least);
  if (!value)
    return false;
  rewriter.modifyOpInPlace(op, [&] {
    operand.clear();
    op->setAttr(name, rewriter.getI64IntegerAttr(*value));
  });
  return true;
}

/// Moves the constant operands of a list among its constants.
static LogicalResult moveConstants(PatternRewriter &rewriter, Operation *op,
                                   MutableOperandRange operands, DenseI64ArrayAttr constants,
                                   StringRef name, int64_t least) {
  SmallVector<int64_t> numbers(constants.asArrayRef());
  SmallVector<Value> kept;
  unsigned next = 0;
  for (int64_t &number : numbers) {
    if (!ShapedType::isDynamic(number))
      continue;
    Value operand = operands[next++].get();
    if (std::optional<int64_t> value = getConstant(operand, least))
      number = *value;
    else
      kept.push_back(operand);
  }
  if (kept.size() == operands.size())
    return rewriter.notifyMatchFailure(op, "no operand is constant");
  rewriter.modifyOpInPlace(op, [&] {
    operands.assign(kept);
    op->setAttr(name, rewriter.getDenseI64ArrayAttr(numbers));
  });
  return success();
}

static LogicalResult foldConstants(PrefixOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getCountMutable(), "count_value", 0));
}
static LogicalResult foldConstants(SuffixOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getCountMutable(), "count_value", 0));
}
static LogicalResult foldConstants(RowsOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getCountMutable(), "count_value", 0));
}
static LogicalResult foldConstants(ColumnsOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getCountMutable(), "count_value", 0));
}
static LogicalResult foldConstants(StrideOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getStepMutable(), "step_value", 1));
}
static LogicalResult foldConstants(BandsOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getWidthMutable(), "width_value", 0));
}
static LogicalResult foldConstants(DyadicOp op, PatternRewriter &rewriter) {
  return success(moveConstant(rewriter, op, op.getNearMutable(), "near_value", 0));
}
static LogicalResult foldConstants(WindowOp op, PatternRewriter &rewriter) {
  bool left = moveConstant(rewriter, op, op.getLeftMutable(), "left_value", -maxConstant);
  bool right = moveConstant(rewriter, op, op.getRightMutable(), "right_value", -maxConstant);
  return success(left || right);
}
static LogicalResult foldConstants(DilatedOp op, PatternRewriter &rewriter) {
  // Sides stay below the square root of the limit, so that no product breaks rule dilated-2.
  constexpr int64_t most = int64_t{1} << 24;
  auto move = [&](MutableOperandRange operand, StringRef name, int64_t least) {
    if (operand.empty())
      return false;
    std::optional<int64_t> value = getConstant(operand[0].get(), least);
    return value && std::abs(*value) <= most && moveConstant(rewriter, op, operand, name, least);
  };
  bool left = move(op.getLeftMutable(), "left_value", -most);
  bool right = move(op.getRightMutable(), "right_value", -most);
  bool step = false;
  auto isSmall = [](IntegerAttr side) { return !side || std::abs(side.getInt()) <= most; };
  if (isSmall(op.getLeftValueAttr()) && isSmall(op.getRightValueAttr()))
    step = move(op.getStepMutable(), "step_value", 1);
  return success(left || right || step);
}
static LogicalResult foldConstants(BlockDiagonalOp op, PatternRewriter &rewriter) {
  return moveConstants(rewriter, op, op.getSizesMutable(), op.getStaticSizesAttr(), "static_sizes",
                       1);
}
static LogicalResult foldConstants(RadiusOp op, PatternRewriter &rewriter) {
  // A factor could break rule radius-6; as an operand the constant is still a number to formulas.
  if (op.getDilation() || op.getUnit())
    return failure();
  return moveConstants(rewriter, op, op.getRadiiMutable(), op.getStaticRadiiAttr(), "static_radii",
                       0);
}
static LogicalResult foldConstants(AffineOp op, PatternRewriter &rewriter) {
  return moveConstants(rewriter, op, op.getNumbersMutable(), op.getStaticNumbersAttr(),
                       "static_numbers", -maxConstant);
}

//===----------------------------------------------------------------------===//
// Simpler sets
//===----------------------------------------------------------------------===//

/// Sorted and without repetition; null when it is so already.
static DenseI64ArrayAttr sortList(Builder &builder, ArrayRef<int64_t> list) {
  SmallVector<int64_t> sorted(list);
  llvm::sort(sorted);
  sorted.erase(llvm::unique(sorted), sorted.end());
  return ArrayRef(sorted) == list ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(sorted);
}

static LogicalResult sortInPlace(PatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> list) {
  DenseI64ArrayAttr sorted = sortList(rewriter, list);
  if (!sorted)
    return rewriter.notifyMatchFailure(op, "the list is sorted");
  rewriter.modifyOpInPlace(op, [&] { op->setAttr("list", sorted); });
  return success();
}

/// A sequence set that holds every pair, or none.
static LogicalResult replaceByAll(PatternRewriter &rewriter, Operation *op, Value domain = {}) {
  rewriter.replaceOpWithNewOp<AllOp>(op, op->getResult(0).getType(), domain);
  return success();
}
static LogicalResult replaceByNone(PatternRewriter &rewriter, Operation *op, Value domain = {}) {
  rewriter.replaceOpWithNewOp<NoneOp>(op, op->getResult(0).getType(), domain);
  return success();
}

/// Whether constants leave nothing between the ends.
static bool isEmptyWindow(IntegerAttr left, IntegerAttr right) {
  return left && right && left.getInt() < -right.getInt();
}

static LogicalResult simplify(WindowOp op, PatternRewriter &rewriter) {
  bool hasLeft = op.getLeft() || op.getLeftValueAttr();
  bool hasRight = op.getRight() || op.getRightValueAttr();
  if (!hasLeft && !hasRight)
    return replaceByAll(rewriter, op);
  if (isEmptyWindow(op.getLeftValueAttr(), op.getRightValueAttr()))
    return replaceByNone(rewriter, op);
  if (!hasLeft && op.getRightValueAttr() && op.getRightValueAttr().getInt() == 0) {
    rewriter.replaceOpWithNewOp<CausalOp>(op, Value(), op.getFromStart());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "both ends count");
}

template <typename OpT> static LogicalResult simplifyCount(OpT op, PatternRewriter &rewriter) {
  if (op.getCountValueAttr() && op.getCountValueAttr().getInt() == 0)
    return replaceByNone(rewriter, op);
  return rewriter.notifyMatchFailure(op, "some keys are counted");
}
static LogicalResult simplify(PrefixOp op, PatternRewriter &rewriter) {
  return simplifyCount(op, rewriter);
}
static LogicalResult simplify(SuffixOp op, PatternRewriter &rewriter) {
  return simplifyCount(op, rewriter);
}

static LogicalResult simplify(RowsOp op, PatternRewriter &rewriter) {
  if (op.getList())
    return sortInPlace(rewriter, op, *op.getList());
  return rewriter.notifyMatchFailure(op, "rows are counted");
}

static LogicalResult simplify(ColumnsOp op, PatternRewriter &rewriter) {
  if (op.getList())
    return sortInPlace(rewriter, op, *op.getList());
  rewriter.replaceOpWithNewOp<PrefixOp>(op, op.getCount(), op.getCountValueAttr());
  return success();
}

static LogicalResult simplify(SlashesOp op, PatternRewriter &rewriter) {
  if (succeeded(sortInPlace(rewriter, op, op.getList())))
    return success();
  ArrayRef<int64_t> list = op.getList();
  if (list.back() - list.front() + 1 != static_cast<int64_t>(list.size()))
    return rewriter.notifyMatchFailure(op, "the list has gaps");
  // Neighbouring lines are a window.
  rewriter.replaceOpWithNewOp<WindowOp>(op, Value(), rewriter.getI64IntegerAttr(list.back()),
                                        Value(), rewriter.getI64IntegerAttr(-list.front()),
                                        op.getFromStart());
  return success();
}

static LogicalResult simplify(StrideOp op, PatternRewriter &rewriter) {
  if (op.getStepValueAttr() && op.getStepValueAttr().getInt() == 1)
    return replaceByAll(rewriter, op);
  return rewriter.notifyMatchFailure(op, "the step leaves keys out");
}

static LogicalResult simplify(DilatedOp op, PatternRewriter &rewriter) {
  if (isEmptyWindow(op.getLeftValueAttr(), op.getRightValueAttr()))
    return replaceByNone(rewriter, op);
  if (!op.getStepValueAttr() || op.getStepValueAttr().getInt() != 1)
    return rewriter.notifyMatchFailure(op, "the step leaves keys out");
  rewriter.replaceOpWithNewOp<WindowOp>(op, op.getLeft(), op.getLeftValueAttr(), op.getRight(),
                                        op.getRightValueAttr(), op.getFromStart());
  return success();
}

static LogicalResult simplify(DyadicOp op, PatternRewriter &rewriter) {
  if (op.getOnly() || op.getColumns())
    return rewriter.notifyMatchFailure(op, "its levels matter");
  if (op.getCausal() || op.getPartition() == Partition::Fenwick)
    rewriter.replaceOpWithNewOp<CausalOp>(op, Value(), op.getFromStart());
  else
    rewriter.replaceOpWithNewOp<AllOp>(op, op.getSet().getType(), Value());
  return success();
}

static LogicalResult simplify(BandsOp op, PatternRewriter &rewriter) {
  return rewriter.notifyMatchFailure(op, "bands have no simpler form");
}

static LogicalResult simplify(AffineOp op, PatternRewriter &rewriter) {
  if (op.getConstraints().isEmptyIntegerSet())
    return replaceByNone(rewriter, op, op.getDomain());
  return rewriter.notifyMatchFailure(op, "the constraints may hold");
}

/// Greatest coordinate on each axis of a grid, or nothing when a size is not constant.
static std::optional<SmallVector<int64_t>> getLastCoordinates(Value domain) {
  auto grid = domain ? domain.getDefiningOp<GridOp>() : GridOp();
  if (!grid || llvm::any_of(grid.getStaticSizes(), ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<int64_t> last;
  for (int64_t size : grid.getStaticSizes())
    last.push_back(std::max<int64_t>(size - 1, 0));
  return last;
}

static LogicalResult simplify(BlockDiagonalOp op, PatternRewriter &rewriter) {
  std::optional<SmallVector<int64_t>> last = getLastCoordinates(op.getDomain());
  if (!last)
    return rewriter.notifyMatchFailure(op, "the axes have no constant size");
  for (auto [size, end] : llvm::zip_equal(op.getStaticSizes(), *last))
    if (ShapedType::isDynamic(size) || size <= end)
      return rewriter.notifyMatchFailure(op, "a block is smaller than its axis");
  return replaceByAll(rewriter, op, op.getDomain());
}

/// Whether constant radii reach from any token to any other.
static bool coversGrid(RadiusOp op, ArrayRef<int64_t> last) {
  if (op.getCausal() || llvm::any_of(op.getStaticRadii(), ShapedType::isDynamic))
    return false;
  if (op.getDilation() && llvm::any_of(*op.getDilation(), [](int64_t t) { return t != 1; }))
    return false;
  int64_t sum = 0;
  for (auto [axis, end] : llvm::enumerate(last)) {
    int64_t farthest = end / (op.getUnit() ? (*op.getUnit())[axis] : 1);
    if (op.getNorm() == Norm::Box && op.getStaticRadii()[axis] < farthest)
      return false;
    // The l2 distance is not greater than the l1 distance.
    sum += std::min(farthest, maxConstant);
  }
  return op.getNorm() == Norm::Box || op.getStaticRadii()[0] >= sum;
}

static LogicalResult simplify(RadiusOp op, PatternRewriter &rewriter) {
  std::optional<SmallVector<int64_t>> last = getLastCoordinates(op.getDomain());
  if (!last || !coversGrid(op, *last))
    return rewriter.notifyMatchFailure(op, "the radii may leave tokens out");
  return replaceByAll(rewriter, op, op.getDomain());
}

#define LACUNA_CANONICALIZE(op)                                                                    \
  void op::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {               \
    patterns.add(+[](op set, PatternRewriter &rewriter) { return foldConstants(set, rewriter); }); \
    patterns.add(+[](op set, PatternRewriter &rewriter) { return simplify(set, rewriter); });      \
  }
LACUNA_CANONICALIZE(WindowOp)
LACUNA_CANONICALIZE(PrefixOp)
LACUNA_CANONICALIZE(SuffixOp)
LACUNA_CANONICALIZE(RowsOp)
LACUNA_CANONICALIZE(ColumnsOp)
LACUNA_CANONICALIZE(StrideOp)
LACUNA_CANONICALIZE(DilatedOp)
LACUNA_CANONICALIZE(DyadicOp)
LACUNA_CANONICALIZE(BlockDiagonalOp)
LACUNA_CANONICALIZE(RadiusOp)
LACUNA_CANONICALIZE(BandsOp)
LACUNA_CANONICALIZE(AffineOp)
#undef LACUNA_CANONICALIZE

void SlashesOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](SlashesOp op, PatternRewriter &rewriter) { return simplify(op, rewriter); });
}
