//===- AttnToTile.cpp - one kernel per attend and query segment -----------===//
#include "compiler/Passes/AttendLowering.h"
#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace lacuna {
#define GEN_PASS_DEF_ATTNTOTILEPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Whether every op of `function` either becomes a kernel or can be computed again inside one.
static LogicalResult checkFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected a single block around attention, got ")
           << function.getBody().getBlocks().size() << " blocks";
  for (Operation &op : function.getBody().front()) {
    if (isa<attn::AttendOp, attn::MergeOp, tile::LaunchOp, func::ReturnOp>(op))
      continue;
    WalkResult nested = op.walk([](Operation *inner) {
      return isa<attn::AttendOp, attn::MergeOp>(inner) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    });
    if (nested.wasInterrupted())
      return op.emitError("expected attention at the top level of a function, got it inside '")
             << op.getName() << "'";
    if (!isCloneable(&op))
      return op.emitError("expected only attention, sets and scalars next to attention, got '")
             << op.getName() << "'";
  }
  return success();
}

static LogicalResult lowerFunction(func::FuncOp function) {
  Block &block = function.getBody().front();
  eraseDeadOps(block);
  if (failed(checkFunction(function)))
    return failure();
  unsigned count = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::string name = function.getSymName().str();
    // The name of the result is not that of every value which is made on the way to it.
    if (auto named = dyn_cast<NameLoc>(op.getLoc());
        named && isa<attn::AttendOp, attn::MergeOp>(op))
      op.setLoc(named.getChildLoc());
    if (auto attend = dyn_cast<attn::AttendOp>(op)) {
      if (findFusedMerge(attend))
        continue;
      if (failed(lowerAttend(attend, name + "_attend_" + std::to_string(count++))))
        return failure();
    } else if (auto merge = dyn_cast<attn::MergeOp>(op)) {
      SmallVector<attn::AttendOp> parts = findFusedParts(merge);
      if (!parts.empty()) {
        if (failed(lowerFusedMerge(merge, parts, name + "_attend_" + std::to_string(count++))))
          return failure();
        continue;
      }
      if (failed(lowerMerge(merge, name + "_merge_" + std::to_string(count++))))
        return failure();
    }
  }
  eraseDeadOps(block);
  return success();
}

namespace {
struct AttnToTile final : lacuna::impl::AttnToTilePassBase<AttnToTile> {
  void runOnOperation() override {
    SetVector<func::FuncOp> functions;
    getOperation()->walk([&](Operation *op) {
      if (isa<attn::AttendOp, attn::MergeOp>(op))
        if (auto function = op->getParentOfType<func::FuncOp>())
          functions.insert(function);
    });
    for (func::FuncOp function : functions)
      if (failed(lowerFunction(function)))
        return signalPassFailure();
  }
};
} // namespace
