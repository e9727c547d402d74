//===- ListsToBitmaps.cpp - restrictions ask maps, not lists --------------===//
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Passes.h"
#include "dialects/Select/Select.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace lacuna {
#define GEN_PASS_DEF_LISTSTOBITMAPSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using sparsity::BitmapOp;
using sparsity::BlocksOp;

/// So many entries are compared as fast as a map is made and asked.
static constexpr int64_t fewEntries = 8;

/// The map of what `list` names, for so many columns.
static Value makeMap(OpBuilder &builder, BlocksOp list, Value columns) {
  Location loc = list.getLoc();
  Value key = arith::ConstantIndexOp::create(builder, loc, list.getKey().front());
  Value blocks = arith::CeilDivSIOp::create(builder, loc, columns, key);
  SmallVector<int64_t> shape(list.getIds().getType().getShape());
  shape.back() = ShapedType::kDynamic;
  auto type = RankedTensorType::get(shape, builder.getI8Type());
  Value mask =
      select::MaskOfListOp::create(builder, loc, type, list.getIds(), list.getCounts(), blocks,
                                   /*columns_value=*/IntegerAttr());
  return BitmapOp::create(builder, loc, mask, list.getQuery(), list.getKey(), list.getGroup(),
                          /*domain=*/Value());
}

/// `set` with maps for its long lists.
static Value replaceLists(OpBuilder &builder, Value set, Value columns) {
  for (BlocksOp list : findLists(set)) {
    int64_t capacity = list.getIds().getType().getShape().back();
    bool isShort = !ShapedType::isDynamic(capacity) && capacity <= fewEntries;
    if (list.getDomain() || isShort)
      continue;
    set = replaceLeaf(builder, set, list, makeMap(builder, list, columns));
  }
  return set;
}

namespace {
struct ListsToBitmaps final : lacuna::impl::ListsToBitmapsPassBase<ListsToBitmaps> {
  void runOnOperation() override {
    getOperation().walk([](select::RestrictOp op) {
      OpBuilder builder(op);
      Value columns = tensor::DimOp::create(builder, op.getLoc(), op.getScores(), 3);
      for (MutableOperandRange operand : {op.getWithinMutable(), op.getForceMutable()})
        if (!operand.empty())
          operand.assign(replaceLists(builder, Value(OperandRange(operand).front()), columns));
    });
  }
};
} // namespace
