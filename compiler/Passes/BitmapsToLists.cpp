//===- BitmapsToLists.cpp - lists where loops may walk them ---------------===//
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/TileChoice.h"
#include "dialects/Select/Select.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace lacuna {
#define GEN_PASS_DEF_BITMAPSTOLISTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using sparsity::BitmapOp;
using sparsity::BlocksOp;

namespace {
struct BitmapsToLists final : lacuna::impl::BitmapsToListsPassBase<BitmapsToLists> {
  using BitmapsToListsPassBase::BitmapsToListsPassBase;

  /// Whether tiles of the target lie in the blocks of the attend's list.
  bool hasTiles(attn::AttendOp op);
  void convert(attn::AttendOp op);
  /// The list of what `map` marks.
  BlocksOp makeList(BitmapOp map);

  void runOnOperation() override {
    getOperation().walk([&](attn::AttendOp op) { convert(op); });
  }
};
} // namespace

bool BitmapsToLists::hasTiles(attn::AttendOp op) {
  // A tile that is asked for need not lie in a block, and would make each pair look for its block
  // in a list instead of at one byte.
  if (op.getQueryTile() || op.getKeyTile() || !queryTile.empty() || !keyTile.empty())
    return false;
  ScopedDiagnosticHandler quiet(op.getContext(), [](Diagnostic &) { return success(); });
  Segments segments;
  if (failed(segments.readDomain(op)) || segments.size() != 1)
    return false;
  if (target != "sm_90a")
    return true;
  return hasHopperModel(segments) && succeeded(compareHopperTiles(op, segments, {}, {}));
}

BlocksOp BitmapsToLists::makeList(BitmapOp map) {
  OpBuilder builder(map->getContext());
  builder.setInsertionPointAfter(map);
  RankedTensorType mask = map.getMask().getType();
  SmallVector<int64_t> shape(mask.getShape());
  auto ids = RankedTensorType::get(shape, builder.getI32Type());
  shape.pop_back();
  auto counts = RankedTensorType::get(shape, builder.getI32Type());
  auto lists = select::ListOfMaskOp::create(
      builder, map.getLoc(), ids, counts, map.getMask(), /*capacity=*/Value(),
      /*capacity_value=*/IntegerAttr(), /*cut=*/false, /*transposed=*/false);
  auto blocks = BlocksOp::create(builder, map.getLoc(), lists.getIds(), lists.getCounts(),
                                 map.getQuery(), map.getKey(), map.getGroup(), map.getDomain());
  blocks->setAttr(bitmapMark, builder.getUnitAttr());
  return blocks;
}

void BitmapsToLists::convert(attn::AttendOp op) {
  SmallVector<BitmapOp> maps = findBitmaps(op.getSet());
  // Where tiles have an order lists are not walked.
  if (maps.size() != 1 || op.isOrdered() || !findLists(op.getSet()).empty())
    return;
  BlocksOp list = makeList(maps.front());
  OpBuilder builder(op);
  Value before = op.getSet(), after = replaceLeaf(builder, before, maps.front(), list.getSet());
  op.getSetMutable().assign(after);
  // Equal conversions are merged by the cleanup that follows; unused ones go.
  if (!findAdditiveList(after) || !hasTiles(op))
    op.getSetMutable().assign(before);
}
