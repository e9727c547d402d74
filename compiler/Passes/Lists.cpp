//===- Lists.cpp - sets that depend on a list -----------------------------===//
#include "compiler/Passes/Lists.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lacuna;
using sparsity::BitmapOp;
using sparsity::BlocksOp;
using sparsity::Formula;
using sparsity::FormulaSpace;
using sparsity::SetType;

SmallVector<Operation *> lacuna::findSetOps(ValueRange sets) {
  llvm::SetVector<Value> below(sets.begin(), sets.end());
  SmallVector<Operation *> ops;
  for (size_t next = 0; next < below.size(); ++next) {
    Operation *definition = below[next].getDefiningOp();
    if (!definition)
      continue;
    ops.push_back(definition);
    for (Value operand : definition->getOperands())
      if (isa<SetType>(operand.getType()))
        below.insert(operand);
  }
  return ops;
}

template <typename Op> static SmallVector<Op> findOps(Value set) {
  SmallVector<Op> found;
  for (Operation *op : findSetOps(set))
    if (auto wanted = dyn_cast<Op>(op))
      found.push_back(wanted);
  return found;
}

SmallVector<BlocksOp> lacuna::findLists(Value set) { return findOps<BlocksOp>(set); }
SmallVector<BitmapOp> lacuna::findBitmaps(Value set) { return findOps<BitmapOp>(set); }

static bool dependsOn(Value set, Operation *leaf) {
  return llvm::is_contained(findSetOps(set), leaf);
}

/// Whether what `set` keeps of two blocks is what it keeps of the one and of the other: the list
/// stands in no set that is taken away, and on one side of each intersection.
static bool isAdditive(Value set, BlocksOp list) {
  if (!dependsOn(set, list))
    return true;
  Operation *op = set.getDefiningOp();
  if (op == list)
    return true;
  auto areAdditive = [&](ValueRange sets) {
    return llvm::all_of(sets, [&](Value part) { return isAdditive(part, list); });
  };
  if (auto either = dyn_cast<sparsity::UnionOp>(op))
    return areAdditive(either.getSets());
  if (auto heads = dyn_cast<sparsity::PerHeadOp>(op))
    return areAdditive(heads.getSets());
  if (auto both = dyn_cast<sparsity::IntersectOp>(op))
    return llvm::count_if(both.getSets(), [&](Value part) { return dependsOn(part, list); }) == 1 &&
           areAdditive(both.getSets());
  if (auto rest = dyn_cast<sparsity::SubtractOp>(op))
    return !dependsOn(rest.getRemoved(), list) && isAdditive(rest.getFrom(), list);
  return false;
}

/// Whether only `list` keeps the formula of `set` from being affine.
static bool isAffineBeside(Value set, BlocksOp list) {
  auto type = cast<SetType>(set.getType());
  FormulaSpace space(set.getContext(), type.getQueryRank(), type.getKeyRank());
  FailureOr<Formula> formula = sparsity::buildFormula(set, space);
  if (failed(formula))
    return false;
  SmallVector<Formula> parts = {*formula};
  while (!parts.empty()) {
    Formula part = parts.pop_back_val();
    if (part.getKind() == Formula::Kind::Opaque && part.getOp() != list)
      return false;
    llvm::append_range(parts, part.getParts());
  }
  return true;
}

BlocksOp lacuna::findAdditiveList(Value set) {
  SmallVector<BlocksOp> lists = findLists(set);
  bool isOne = lists.size() == 1 && isAdditive(set, lists.front());
  return isOne && isAffineBeside(set, lists.front()) ? lists.front() : BlocksOp();
}

BlocksOp lacuna::findWalkedList(Value set, ArrayRef<int64_t> queryBox) {
  BlocksOp list = findAdditiveList(set);
  bool isInside = list && llvm::all_of(llvm::zip(list.getQuery(), queryBox), [](auto extents) {
                    auto [block, tile] = extents;
                    return block % tile == 0;
                  });
  return isInside ? list : BlocksOp();
}

/// A copy of `set` with `replacement` for the set of `list`. With `alone`, sets that do not depend
/// on it leave unions.
static Value replaceList(OpBuilder &builder, Value set, Operation *list, Value replacement,
                         bool alone) {
  if (set.getDefiningOp() == list)
    return replacement;
  Operation *op = set.getDefiningOp();
  bool isUnion = isa<sparsity::UnionOp, sparsity::PerHeadOp>(op);
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (!isa<SetType>(operand.getType()))
      continue;
    if (dependsOn(operand, list))
      mapping.map(operand, replaceList(builder, operand, list, replacement, alone));
    else if (alone && isUnion)
      mapping.map(operand, sparsity::NoneOp::create(builder, set.getLoc(), operand.getType(),
                                                    /*domain=*/Value()));
  }
  return builder.clone(*op, mapping)->getResult(0);
}

Value lacuna::replaceLeaf(OpBuilder &builder, Value set, Operation *leaf, Value replacement) {
  return replaceList(builder, set, leaf, replacement, /*alone=*/false);
}

Value lacuna::withoutList(OpBuilder &builder, Value set, BlocksOp list) {
  Value none = sparsity::NoneOp::create(builder, set.getLoc(), set.getType(), /*domain=*/Value());
  return replaceList(builder, set, list, none, /*alone=*/false);
}

Value lacuna::withBlock(OpBuilder &builder, Value set, BlocksOp list, Value block) {
  return replaceList(builder, set, list, block, /*alone=*/true);
}

namespace {
/// Writes what memory that is shared by batch entries, heads and blocks of queries must satisfy.
class RowRequirements {
public:
  RowRequirements(KernelBuilder &kernel, Value queries, ValueRange querySizes)
      : kernel(kernel), plan(kernel.plan), loc(kernel.getLoc()), queries(queries),
        querySizes(querySizes) {}

  LogicalResult requireEqual(Value found, Value expected, StringRef message) {
    Value holds = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, found, expected);
    return kernel.require(holds, message, {expected, found});
  }
  Value extent(Value tensor, unsigned axis) {
    return getExtent(plan, loc, kernel.inPlan(tensor), axis);
  }
  Value countBlocks(ValueRange sizes, ArrayRef<int64_t> block) {
    return makeProduct(plan, loc, makeBoxCounts(plan, loc, sizes, block));
  }
  /// The first three extents of `tensor`, which is what `op` reads.
  template <typename Op> LogicalResult requireRows(Op op, Value tensor, StringRef what);

private:
  KernelBuilder &kernel;
  OpBuilder &plan;
  Location loc;
  Value queries;
  ValueRange querySizes;
};
} // namespace

template <typename Op>
LogicalResult RowRequirements::requireRows(Op op, Value tensor, StringRef what) {
  auto type = cast<RankedTensorType>(tensor.getType());
  std::string expected = ("expected " + what + " for {0} ").str();
  if (type.getDimSize(0) != 1 &&
      failed(requireEqual(extent(tensor, 0), getExtent(plan, loc, queries, 0),
                          expected + "batch entries, got {1}")))
    return failure();
  Value group = makeIndex(plan, loc, static_cast<int64_t>(op.getGroup()));
  Value heads = plan.createOrFold<arith::MulIOp>(loc, extent(tensor, 1), group);
  if (type.getDimSize(1) != 1 &&
      failed(requireEqual(heads, getExtent(plan, loc, queries, 1),
                          expected + "query heads, got " + what.str() + " for {1}")))
    return failure();
  return requireEqual(extent(tensor, 2), countBlocks(querySizes, op.getQuery()),
                      expected + "query blocks, got {1}");
}

LogicalResult lacuna::requireLists(KernelBuilder &kernel, Value set, Value queries,
                                   ValueRange querySizes) {
  RowRequirements rows(kernel, queries, querySizes);
  for (BlocksOp list : findLists(set)) {
    bool isMap = list->hasAttr(bitmapMark);
    if (failed(rows.requireRows(list, list.getIds(), isMap ? "bitmaps" : "lists")))
      return failure();
    for (unsigned axis = 0; axis < 3; ++axis)
      if (failed(rows.requireEqual(rows.extent(list.getCounts(), axis),
                                   rows.extent(list.getIds(), axis),
                                   "expected counts of the lists that ids has, {0} along an axis, "
                                   "got {1}")))
        return failure();
  }
  return success();
}

LogicalResult lacuna::requireBitmaps(KernelBuilder &kernel, Value set, Value queries,
                                     ValueRange querySizes, ValueRange keySizes) {
  RowRequirements rows(kernel, queries, querySizes);
  auto requireColumns = [&](Value tensor, ArrayRef<int64_t> block) {
    return rows.requireEqual(rows.extent(tensor, 3), rows.countBlocks(keySizes, block),
                             "expected bitmaps over {0} key blocks, got {1}");
  };
  for (BitmapOp map : findBitmaps(set))
    if (failed(rows.requireRows(map, map.getMask(), "bitmaps")) ||
        failed(requireColumns(map.getMask(), map.getKey())))
      return failure();
  for (BlocksOp list : findLists(set))
    if (list->hasAttr(bitmapMark) && failed(requireColumns(list.getIds(), list.getKey())))
      return failure();
  return success();
}
