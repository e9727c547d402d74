//===- FoldRestrictions.cpp - restrictions inside choices -----------------===//
#include "compiler/Passes/LaunchRewrite.h"
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_FOLDRESTRICTIONSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// The launch that restricts the scores of a choice, or null.
static tile::LaunchOp findRestriction(tile::LaunchOp launch, tile::ChooseOp choice) {
  if (choice.getScope() != select::Scope::Row || !choice.getWithin().empty() ||
      !choice.getForce().empty())
    return {};
  auto scores = dyn_cast<BlockArgument>(choice.getScores());
  auto before = scores ? launch.getInputs()[scores.getArgNumber()].getDefiningOp<tile::LaunchOp>()
                       : tile::LaunchOp();
  return before && getMainOp<tile::RestrictOp>(before) ? before : tile::LaunchOp();
}

static void fold(tile::LaunchOp before, tile::LaunchOp launch) {
  auto restricted = getMainOp<tile::RestrictOp>(before);
  auto choice = getMainOp<tile::ChooseOp>(launch);
  LaunchRewrite rewrite({before, launch}, launch.getKernel(), launch.getResults());
  IRMapping &first = rewrite.getBodyMap(0), &second = rewrite.getBodyMap(1);
  SmallVector<Value> at =
      llvm::map_to_vector(choice.getAt(), [&](Value value) { return second.lookup(value); });
  auto fused = tile::ChooseOp::create(
      rewrite.body, choice.getLoc(), choice.getRule(), first.lookup(restricted.getSource()), at,
      choice.getNumber() ? second.lookup(choice.getNumber()) : Value(), choice.getConstantAttr(),
      choice.getFloorAttr(), choice.getCapAttr(), choice.getScope(),
      rewrite.getMemory(launch.getResult(0)), rewrite.getMemory(launch.getResult(1)),
      rewrite.getMemory(before.getResult(0)));
  restricted.getWithin().cloneInto(&fused.getWithin(), first);
  restricted.getForce().cloneInto(&fused.getForce(), first);
  rewrite.finish(launch);
}

namespace {
struct FoldRestrictions final : lacuna::impl::FoldRestrictionsPassBase<FoldRestrictions> {
  void runOnOperation() override {
    SmallVector<tile::LaunchOp> launches;
    getOperation().walk([&](tile::LaunchOp launch) { launches.push_back(launch); });
    for (tile::LaunchOp launch : launches)
      if (auto choice = getMainOp<tile::ChooseOp>(launch))
        if (tile::LaunchOp before = findRestriction(launch, choice);
            before && LaunchRewrite::isPossible({before, launch}))
          fold(before, launch);
  }
};
} // namespace
