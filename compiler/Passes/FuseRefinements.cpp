//===- FuseRefinements.cpp - one kernel per level of a search -------------===//
#include "compiler/Passes/LaunchRewrite.h"
#include "compiler/Passes/Passes.h"

#include "mlir/IR/Matchers.h"

namespace lacuna {
#define GEN_PASS_DEF_FUSEREFINEMENTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Candidates of a row, and channels, that a warp keeps in registers.
static constexpr int64_t mostCandidates = 512, mostChannels = 512;

//===----------------------------------------------------------------------===//
// How long lists can be
//===----------------------------------------------------------------------===//

static std::optional<int64_t> boundExtent(Value tensor, unsigned axis);

/// What a value of the plan of `launch` is at most; it is not negative.
static std::optional<int64_t> boundValue(Value value, tile::LaunchOp launch) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return known.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto input = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!input || !axis)
      return {};
    return boundExtent(launch.getInputs()[input.getArgNumber()], static_cast<unsigned>(*axis));
  }
  if (!isa<arith::MinSIOp, arith::MulIOp, arith::MaxSIOp>(op))
    return {};
  std::optional<int64_t> a = boundValue(op->getOperand(0), launch),
                         b = boundValue(op->getOperand(1), launch);
  if (isa<arith::MinSIOp>(op))
    return a && b ? std::min(*a, *b) : a ? a : b;
  if (!a || !b || *a > INT32_MAX || *b > INT32_MAX)
    return {};
  return isa<arith::MulIOp>(op) ? *a * *b : std::max(*a, *b);
}

/// What an extent of a tensor of the function is at most, by its type and the plan that made it.
static std::optional<int64_t> boundExtent(Value tensor, unsigned axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto launch = tensor.getDefiningOp<tile::LaunchOp>();
  if (!launch)
    return {};
  auto plan = cast<tile::PlanOp>(getKernel(launch).getPlan().front().getTerminator());
  size_t place = axis;
  for (OpResult result : launch->getResults()) {
    if (result == tensor)
      break;
    place += static_cast<size_t>(cast<RankedTensorType>(result.getType()).getRank());
  }
  return boundValue(plan.getShapes()[place], launch);
}

//===----------------------------------------------------------------------===//
// The levels
//===----------------------------------------------------------------------===//

namespace {
/// The launches of one level.
struct Level {
  tile::LaunchOp children, scores, choice, pick;
  int64_t most = 0;

  SmallVector<tile::LaunchOp> all() const { return {children, scores, choice, pick}; }
};
} // namespace

/// The value of the function that an operand of the launch's op stands for.
static Value valueOf(tile::LaunchOp launch, Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || argument.getArgNumber() >= launch.getInputs().size())
    return {};
  return launch.getInputs()[argument.getArgNumber()];
}
/// The launch of an `Op` whose result `index` the value is.
template <typename Op> static tile::LaunchOp launchOf(Value value, unsigned index) {
  auto launch = value ? value.getDefiningOp<tile::LaunchOp>() : tile::LaunchOp();
  bool isIt = launch && launch.getResult(index) == value && getMainOp<Op>(launch);
  return isIt ? launch : tile::LaunchOp();
}

static std::optional<Level> findLevel(tile::LaunchOp pick) {
  auto op = getMainOp<tile::PickOp>(pick);
  if (!op)
    return {};
  Level level;
  level.pick = pick;
  Value ids = valueOf(pick, op.getIds()), counts = valueOf(pick, op.getCounts());
  level.children = launchOf<tile::ChildrenOp>(ids, 0);
  level.choice = launchOf<tile::ChooseOp>(valueOf(pick, op.getPlaces()), 0);
  if (!level.children || level.children.getResult(1) != counts || !level.choice)
    return {};
  auto choice = getMainOp<tile::ChooseOp>(level.choice);
  if (choice.getScope() != select::Scope::Row || !choice.getWithin().empty() ||
      !choice.getForce().empty())
    return {};
  level.scores = launchOf<tile::ScoreListOp>(valueOf(level.choice, choice.getScores()), 0);
  if (!level.scores)
    return {};
  auto scores = getMainOp<tile::ScoreListOp>(level.scores);
  if (valueOf(level.scores, scores.getIds()) != ids ||
      valueOf(level.scores, scores.getCounts()) != counts ||
      cast<RankedTensorType>(scores.getQuery().getType()).getDimSize(3) > mostChannels)
    return {};
  std::optional<int64_t> most = boundExtent(ids, 3);
  if (!most || *most < 1 || *most > mostCandidates || !LaunchRewrite::isPossible(level.all()))
    return {};
  level.most = *most;
  return level;
}

static void fuse(Level level) {
  auto children = getMainOp<tile::ChildrenOp>(level.children);
  auto scores = getMainOp<tile::ScoreListOp>(level.scores);
  auto choice = getMainOp<tile::ChooseOp>(level.choice);
  std::string name = (level.pick->getParentOfType<func::FuncOp>().getSymName() + "_refine").str();
  Value picked = level.pick.getResult(0), counts = level.choice.getResult(1);
  LaunchRewrite rewrite(level.all(), name, {picked, counts});
  IRMapping &list = rewrite.getBodyMap(0), &pair = rewrite.getBodyMap(1),
            &rule = rewrite.getBodyMap(2);
  auto refined = tile::RefineOp::create(
      rewrite.body, choice.getLoc(), choice.getRule(), pair.lookup(scores.getQuery()),
      pair.lookup(scores.getKey()), list.lookup(children.getIds()),
      list.lookup(children.getCounts()), rewrite.getGrid(0), rewrite.getGrid(1), rewrite.getGrid(2),
      children.getBy(), list.lookup(children.getColumns()), static_cast<uint64_t>(level.most),
      scores.getScale(), choice.getNumber() ? rule.lookup(choice.getNumber()) : Value(),
      choice.getConstantAttr(), choice.getFloorAttr(), choice.getCapAttr(),
      rewrite.getMemory(picked), rewrite.getMemory(counts),
      rewrite.getMemory(level.children.getResult(0)),
      rewrite.getMemory(level.children.getResult(1)), rewrite.getMemory(level.scores.getResult(0)),
      rewrite.getMemory(level.choice.getResult(0)));
  scores.getWithin().cloneInto(&refined.getWithin(), pair);
  scores.getForce().cloneInto(&refined.getForce(), pair);
  rewrite.finish(level.pick);
}

namespace {
struct FuseRefinements final : lacuna::impl::FuseRefinementsPassBase<FuseRefinements> {
  void runOnOperation() override {
    // What is fused is erased; no level's pick is part of another level.
    SmallVector<tile::LaunchOp> picks;
    getOperation().walk([&](tile::LaunchOp launch) {
      if (getMainOp<tile::PickOp>(launch))
        picks.push_back(launch);
    });
    for (tile::LaunchOp launch : picks)
      if (std::optional<Level> level = findLevel(launch))
        fuse(*level);
  }
};
} // namespace
