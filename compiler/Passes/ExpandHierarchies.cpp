//===- ExpandHierarchies.cpp - far nodes are seen through columns ---------===//
#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/TileChoice.h"

#include "dialects/Attn/Attn.h"
#include "dialects/Attn/AttnAttributes.h"
#include "dialects/Select/Select.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace lacuna {
#define GEN_PASS_DEF_EXPANDHIERARCHIESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::DyadicOp;
using lacuna::sparsity::Partition;

/// Where a set names no top level, the level above it has at least this many keys.
static constexpr int64_t keysBelowTop = int64_t{1} << 20;

/// Keys that one summary may have, when it is made from keys and not from other summaries.
static constexpr int64_t mostKeysOfColumn = 65536;

/// A near window of so many keys holds every sequence.
static constexpr int64_t widestNear = int64_t{1} << 40;

namespace {
/// Rewrites one attend over a hierarchy with columns.
class HierarchyExpansion {
public:
  HierarchyExpansion(attn::AttendOp op, DyadicOp set)
      : op(op), set(set), loc(op.getLoc()), builder(op), columns(*set.getColumns()),
        fanout(static_cast<int64_t>(set.getFanout())), base(static_cast<int64_t>(set.getBase())) {}

  LogicalResult run();

private:
  LogicalResult check();
  bool isFenwick() { return set.getPartition() == Partition::Fenwick; }
  bool isPast() { return isFenwick() || set.getCausal(); }
  int64_t countLevels();
  Value extent(Value tensor, unsigned axis);
  /// Means of neighbouring rows, `by` of them each.
  Value reduce(Value rows, int64_t by);
  /// Blocks of the near window beside the query's own and, from a distance, its neighbours; as an
  /// attribute where they are known.
  OpFoldResult countNearBlocks();
  /// Reads the query's position, and those that its far nodes are told from.
  void readPositions(OpFoldResult nearBlocks);
  /// The set of pairs of queries and columns that satisfy all of `constraints`, expressions that
  /// must not be negative in the query d0, the column d1 and shifts to positions, s0 the query's
  /// own, s1 and s2 those of the far nodes before and after it.
  Value makeSet(ArrayRef<AffineExpr> constraints, bool withinKeys);
  AffineExpr positionBy(unsigned symbol);
  /// What is seen key by key.
  Value makeExactPart(OpFoldResult nearBlocks);
  /// The columns of a level on one side of the query.
  Value makeLevel(int64_t level, bool isTop, bool isAfter);
  attn::AttendOp attend(Value key, Value value, Value set);
  /// Adds the logarithm of the number of keys that a column stands for: `width`, but for the last
  /// one where columns after the query are seen.
  void writeCount(attn::AttendOp attend, int64_t width, bool isAfter);
  /// Whether masks of the part take registers for themselves.
  bool isHeavy(attn::AttendOp part);
  attn::MergeOp mergeParts(ArrayRef<attn::AttendOp> parts);

  attn::AttendOp op;
  DyadicOp set;
  Location loc;
  OpBuilder builder;
  int64_t columns, fanout, base;
  /// From a query's number to its position, and to those of the blocks at the near window's ends:
  /// far nodes lie around these as they would lie around the query without a window.
  Value shift, shiftBefore, shiftAfter;
  Value keyCount;
};
} // namespace

LogicalResult HierarchyExpansion::check() {
  // hierarchy-1
  if (base % columns != 0)
    return set.emitOpError("expected columns that divide the base, got ")
           << columns << " for blocks of " << base;
  // hierarchy-2
  if (Value near = set.getNear(); near && !near.getType().isIndex())
    return set.emitOpError("expected one near window for all heads with columns, got ")
           << near.getType();
  // hierarchy-3
  if (set.getOnly())
    return set.emitOpError("expected all levels with columns");
  // hierarchy-4
  int64_t width = base / columns;
  for (int64_t level = 1; !isPast() && level < countLevels(); ++level)
    width *= fanout;
  if (width > mostKeysOfColumn)
    return set.emitOpError("expected columns of at most ")
           << mostKeysOfColumn << " keys where nodes are seen from both sides, got " << width;
  // hierarchy-5
  if (op.getSinks() || !op.getScore().empty())
    return op.emitOpError("expected neither sinks nor a score function over columns");
  return success();
}

int64_t HierarchyExpansion::countLevels() {
  if (set.getLevels())
    return static_cast<int64_t>(*set.getLevels());
  int64_t levels = 1, width = base / columns * fanout;
  for (int64_t size = base * fanout; size < keysBelowTop; size *= fanout, width *= fanout) {
    if (!isPast() && width > mostKeysOfColumn)
      break;
    ++levels;
  }
  return levels;
}

Value HierarchyExpansion::extent(Value tensor, unsigned axis) {
  return builder.createOrFold<tensor::DimOp>(loc, tensor,
                                             arith::ConstantIndexOp::create(builder, loc, axis));
}

Value HierarchyExpansion::reduce(Value rows, int64_t by) {
  if (by == 1)
    return rows;
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[2] = type.isDynamicDim(2) ? shape[2] : (shape[2] + by - 1) / by;
  return select::SummarizeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), select::Summary::Mean,
      rows, ArrayRef<int64_t>{by}, DenseI64ArrayAttr(), Value(), /*whole=*/false, Value());
}

OpFoldResult HierarchyExpansion::countNearBlocks() {
  int64_t least = isFenwick() ? 0 : 1;
  auto beyond = [&](int64_t keys) {
    int64_t blocks = llvm::divideCeil(std::min(keys, widestNear), base);
    return builder.getIndexAttr(std::max(blocks - least, int64_t{0}));
  };
  Value near = set.getNear();
  if (!near)
    return beyond(set.getNearValue().value_or(0));
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  };
  near = builder.createOrFold<arith::MinSIOp>(loc, near, constant(widestNear));
  Value blocks = builder.createOrFold<arith::CeilDivSIOp>(loc, near, constant(base));
  blocks = builder.createOrFold<arith::SubIOp>(loc, blocks, constant(least));
  return builder.createOrFold<arith::MaxSIOp>(loc, blocks, constant(0));
}

void HierarchyExpansion::readPositions(OpFoldResult nearBlocks) {
  shift = arith::ConstantIndexOp::create(builder, loc, 0);
  keyCount = extent(op.getKey(), 2);
  if (!set.getFromStart())
    shift = builder.createOrFold<arith::SubIOp>(loc, keyCount, extent(op.getQuery(), 2));
  shiftBefore = shiftAfter = shift;
  if (isConstantIntValue(nearBlocks, 0))
    return;
  Value blocks = getValueOrCreateConstantIndexOp(builder, loc, nearBlocks);
  Value size = arith::ConstantIndexOp::create(builder, loc, base);
  Value keys = builder.createOrFold<arith::MulIOp>(loc, blocks, size);
  shiftBefore = builder.createOrFold<arith::SubIOp>(loc, shift, keys);
  shiftAfter = builder.createOrFold<arith::AddIOp>(loc, shift, keys);
}

AffineExpr HierarchyExpansion::positionBy(unsigned symbol) {
  return getAffineDimExpr(0, op.getContext()) + getAffineSymbolExpr(symbol, op.getContext());
}

Value HierarchyExpansion::makeSet(ArrayRef<AffineExpr> constraints, bool withinKeys) {
  // Only the shifts that constraints use are numbers of the set.
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> numbers;
  unsigned symbol = 0;
  for (Value value : {shift, shiftBefore, shiftAfter}) {
    auto uses = [&](AffineExpr expr) { return expr.isFunctionOfSymbol(symbol); };
    replacements.push_back(
        getAffineSymbolExpr(static_cast<unsigned>(numbers.size()), op.getContext()));
    if (llvm::any_of(constraints, uses))
      numbers.push_back(value);
    ++symbol;
  }
  SmallVector<AffineExpr> renamed = llvm::map_to_vector(
      constraints, [&](AffineExpr expr) { return expr.replaceSymbols(replacements); });
  SmallVector<bool> isEqual(renamed.size(), false);
  IntegerSet integers = IntegerSet::get(2, static_cast<unsigned>(numbers.size()), renamed, isEqual);
  SmallVector<int64_t> dynamic(numbers.size(), ShapedType::kDynamic);
  return sparsity::AffineOp::create(builder, loc, sparsity::SetType::get(op.getContext(), {1}),
                                    integers, numbers, dynamic, Value(), /*from_start=*/true,
                                    withinKeys);
}

Value HierarchyExpansion::makeExactPart(OpFoldResult nearBlocks) {
  if (isConstantIntValue(nearBlocks, 0)) {
    auto exact = cast<DyadicOp>(builder.clone(*set));
    exact.removeColumnsAttr();
    exact.removeNearValueAttr();
    exact.getNearMutable().clear();
    exact.setOnly(ArrayRef<int64_t>{-1, -1});
    return exact;
  }
  AffineExpr key = getAffineDimExpr(1, op.getContext());
  int64_t neighbour = isFenwick() ? 0 : base;
  AffineExpr first = positionBy(1).floorDiv(base) * base;
  AffineExpr last =
      isPast() ? positionBy(0) : positionBy(2).floorDiv(base) * base + (base - 1 + neighbour);
  return makeSet({key - first + neighbour, last - key}, isPast());
}

Value HierarchyExpansion::makeLevel(int64_t level, bool isTop, bool isAfter) {
  AffineExpr column = getAffineDimExpr(1, op.getContext());
  int64_t size = base;
  for (int64_t step = 0; step < level; ++step)
    size *= fanout;
  // The own node of a position on this level and its parent; nodes have `columns` columns each.
  auto ownOf = [&](unsigned symbol) { return positionBy(symbol).floorDiv(size) * columns; };
  auto parentOf = [&](unsigned symbol) {
    return positionBy(symbol).floorDiv(size * fanout) * (columns * fanout);
  };
  int64_t child = columns, children = columns * fanout;
  if (isFenwick()) {
    SmallVector<AffineExpr> past = {ownOf(1) - column - 1};
    if (!isTop)
      past.push_back(column - parentOf(1));
    return makeSet(past, /*withinKeys=*/true);
  }
  if (isAfter) {
    SmallVector<AffineExpr> future = {column - ownOf(2) - 2 * child};
    if (!isTop)
      future.push_back(parentOf(2) + 2 * children - 1 - column);
    return makeSet(future, /*withinKeys=*/false);
  }
  SmallVector<AffineExpr> past = {ownOf(1) - child - column - 1};
  if (!isTop)
    past.push_back(column - parentOf(1) + children);
  return makeSet(past, /*withinKeys=*/true);
}

void HierarchyExpansion::writeCount(attn::AttendOp attend, int64_t width, bool isAfter) {
  if (width == 1)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(attend);
  Type f32 = builder.getF32Type(), index = builder.getIndexType();
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  };
  // Nodes before the query's own are whole.
  Value log = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(std::log(double(width)))));
  Value last, logOfLast;
  if (isAfter) {
    Value count = builder.createOrFold<arith::CeilDivSIOp>(loc, keyCount, number(width));
    last = builder.createOrFold<arith::SubIOp>(loc, count, number(1));
    Value before = builder.createOrFold<arith::MulIOp>(loc, last, number(width));
    Value keys = builder.createOrFold<arith::SubIOp>(loc, keyCount, before);
    Value word = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), keys);
    logOfLast = math::LogOp::create(builder, loc, arith::SIToFPOp::create(builder, loc, f32, word));
  }
  Block *block = builder.createBlock(&attend.getScore());
  for (Type type : {f32, index, index, index, index})
    block->addArgument(type, loc);
  if (isAfter) {
    Value isLast =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, block->getArgument(4), last);
    log = arith::SelectOp::create(builder, loc, isLast, logOfLast, log);
  }
  Value sum = arith::AddFOp::create(builder, loc, block->getArgument(0), log);
  attn::YieldOp::create(builder, loc, sum);
}

attn::AttendOp HierarchyExpansion::attend(Value key, Value value, Value pairs) {
  auto output = op.getOutput().getType();
  auto lse = RankedTensorType::get(output.getShape().drop_back(), builder.getF32Type());
  return attn::AttendOp::create(
      builder, loc, output, lse, /*taken=*/Type(), op.getQuery(), key, value, pairs,
      /*sinks=*/Value(), /*below=*/Value(), op.getScaleAttr(), builder.getUnitAttr(),
      /*skip_query=*/DenseI64ArrayAttr(), /*skip_key=*/DenseI64ArrayAttr(), /*margin=*/FloatAttr(),
      op.getQueryTileAttr(), op.getKeyTileAttr());
}

bool HierarchyExpansion::isHeavy(attn::AttendOp part) {
  std::optional<HierarchyPart> place = HierarchyPart::read(part);
  auto isKnown = [](Value number) { return matchPattern(number, m_Constant()); };
  // The last column after a query may be shorter, which its score function asks for.
  return !part.getSet().getDefiningOp<sparsity::AffineOp>() || !isKnown(shift) ||
         !isKnown(shiftBefore) || place->side == HierarchyPart::Side::After;
}

attn::MergeOp HierarchyExpansion::mergeParts(ArrayRef<attn::AttendOp> parts) {
  auto merge = [&](ValueRange outputs, ValueRange lses) {
    return attn::MergeOp::create(builder, loc, outputs.front().getType(), lses.front().getType(),
                                 outputs, lses);
  };
  // One kernel for as many parts as it has registers for, and a merge of what these leave.
  SmallVector<Value> outputs, lses, ofKernels, lsesOfKernels;
  auto closeKernel = [&] {
    if (outputs.size() > 1) {
      attn::MergeOp inner = merge(outputs, lses);
      inner->setAttr(attn::oneKernel, builder.getUnitAttr());
      outputs = {inner.getOutput()};
      lses = {inner.getLse()};
    }
    llvm::append_range(ofKernels, outputs);
    llvm::append_range(lsesOfKernels, lses);
    outputs.clear();
    lses.clear();
  };
  int64_t heavy = 0;
  bool isLarge =
      llvm::count_if(parts, [&](attn::AttendOp part) { return isHeavy(part); }) > mostHeavyParts;
  for (attn::AttendOp part : parts) {
    heavy += isHeavy(part);
    if (isLarge && heavy > mostHeavyParts) {
      closeKernel();
      heavy = isHeavy(part);
    }
    outputs.push_back(part.getOutput());
    lses.push_back(part.getLse());
  }
  if (!isLarge)
    return merge(outputs, lses);
  closeKernel();
  return merge(ofKernels, lsesOfKernels);
}

LogicalResult HierarchyExpansion::run() {
  if (failed(check()))
    return failure();
  OpFoldResult nearBlocks = countNearBlocks();
  readPositions(nearBlocks);
  Value exact = makeExactPart(nearBlocks);
  SmallVector<attn::AttendOp> parts = {attend(op.getKey(), op.getValue(), exact)};
  auto note = [&](const HierarchyPart &part) {
    parts.back()->setAttr(HierarchyPart::attribute, part.write(op.getContext()));
  };
  note({-1, base, base, HierarchyPart::Side::Both});
  // Nodes before a query's own are whole where the query stands at a key.
  if (set.getFromStart())
    parts.front()->setAttr(attn::AttnDialect::queriesWithinKeys, builder.getUnitAttr());
  Value keys = op.getKey(), values = op.getValue();
  int64_t width = base / columns, levels = countLevels();
  for (int64_t level = 0; level < levels; ++level, width *= fanout) {
    // A mean of means is the mean where nodes are whole, which takes one pass over each level.
    bool fromBelow = isPast() && level > 0;
    int64_t by = fromBelow ? fanout : width;
    keys = reduce(fromBelow ? keys : op.getKey(), by);
    values = reduce(fromBelow ? values : op.getValue(), by);
    using Side = HierarchyPart::Side;
    for (Side side : {Side::Before, Side::After}) {
      bool isAfter = side == Side::After;
      if (isAfter && isPast())
        continue;
      parts.push_back(attend(keys, values, makeLevel(level, level == levels - 1, isAfter)));
      writeCount(parts.back(), width, isAfter);
      note({level, width * columns, columns, side});
    }
  }
  attn::MergeOp merge = mergeParts(parts);
  op.getOutput().replaceAllUsesWith(merge.getOutput());
  if (op.getLse())
    op.getLse().replaceAllUsesWith(merge.getLse());
  op.erase();
  return success();
}

namespace {
struct ExpandHierarchies final : lacuna::impl::ExpandHierarchiesPassBase<ExpandHierarchies> {
  void runOnOperation() override {
    SmallVector<std::pair<attn::AttendOp, DyadicOp>> found;
    getOperation()->walk([&](attn::AttendOp op) {
      if (auto set = op.getSet().getDefiningOp<DyadicOp>(); set && set.getColumns())
        found.emplace_back(op, set);
    });
    for (auto [op, set] : found) {
      if (failed(HierarchyExpansion(op, set).run()))
        return signalPassFailure();
      if (set->use_empty())
        set.erase();
    }
  }
};
} // namespace
