//===- HeadTiles.cpp - tiles of the rows of several heads -----------------===//
#include "compiler/Passes/HeadTiles.h"

#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Passes/Lists.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace lacuna;

/// Whether what is live, beside what a list says, depends on the head.
static bool dependsOnHead(Value set) {
  // Lists are asked for their group, and documents are those of all heads; other tensors have an
  // element for each head.
  return llvm::any_of(findSetOps(set), [](Operation *op) {
    if (isa<sparsity::PerHeadOp>(op))
      return true;
    bool isShared = isa<sparsity::BlocksOp, sparsity::DocumentsOp>(op);
    return !isShared && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  });
}

int64_t lacuna::countHeadGroup(attn::AttendOp op, int64_t group) {
  bool scoresHeads = !op.getScore().empty() && !op.getScore().front().getArgument(2).use_empty();
  if (op.getSinks() || scoresHeads || dependsOnHead(op.getSet()))
    return 1;
  // What is only known at launch is required there.
  int64_t heads = op.getQuery().getType().getDimSize(1),
          keyHeads = op.getKey().getType().getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads) || keyHeads == 0)
    return group;
  return std::gcd(group, heads / keyHeads);
}

void lacuna::joinHeads(tile::KernelOp kernel, Value query, Value key, int64_t heads) {
  if (heads == 1)
    return;
  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  BlockArgument point = kernel.getGridArguments()[1];
  Value first = arith::MulIOp::create(builder, loc, point, makeIndex(builder, loc, heads));
  point.replaceAllUsesExcept(first, first.getDefiningOp());

  Block &plan = kernel.getPlan().front();
  auto inPlan = [&](Value argument) {
    return plan.getArgument(cast<BlockArgument>(argument).getArgNumber());
  };
  auto terminator = cast<tile::PlanOp>(plan.getTerminator());
  builder.setInsertionPoint(terminator);
  Value count = makeIndex(builder, loc, heads), all = getExtent(builder, loc, inPlan(query), 1),
        keyHeads = getExtent(builder, loc, inPlan(key), 1);
  Value some = builder.createOrFold<arith::MaxSIOp>(loc, keyHeads, makeIndex(builder, loc, 1));
  Value rest = builder.createOrFold<arith::RemUIOp>(
      loc, all, builder.createOrFold<arith::MulIOp>(loc, some, count));
  Value isWhole = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest,
                                                      makeIndex(builder, loc, 0));
  if (!matchPattern(isWhole, m_One()))
    tile::RequireOp::create(builder, loc, isWhole,
                            "expected query heads in groups of {0} for each key head, got {1} and "
                            "{2} key heads",
                            ValueRange{count, all, keyHeads});
  kernel->removeAttr(headTileMark);
  terminator.getGridMutable()[1].assign(
      builder.createOrFold<arith::DivUIOp>(loc, terminator.getGrid()[1], count));
}
