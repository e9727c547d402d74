//===- ShareSummaries.cpp - coarse summaries from finer ones --------------===//
#include "compiler/Passes/LaunchRewrite.h"
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_SHARESUMMARIESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using select::Summary;

/// Bytes of tokens for each four bytes of a partial: with fewer, reading partials saves nothing.
static constexpr int64_t leastBytes = 16;

namespace {
/// A launch that summarizes all tokens of a source in blocks of `box`.
struct Summarizer {
  tile::LaunchOp launch;
  tile::SummarizeOp op;
  int64_t box;
  /// The number in the group of the one whose partials it reads.
  std::optional<size_t> finer;
  bool isFiner = false;
};
} // namespace

static std::optional<Summarizer> findSummarizer(tile::LaunchOp launch) {
  auto op = getMainOp<tile::SummarizeOp>(launch);
  bool isKnown =
      op && op->hasAttr(wholeSourceMark) && op.getBox().size() == 1 && !op.getUnit() &&
      !op.getPartial() && launch.getInto().empty() && isa<BlockArgument>(op.getSource()) &&
      llvm::is_contained({Summary::Mean, Summary::Sum, Summary::Min, Summary::Max}, op.getKind());
  return isKnown ? std::optional<Summarizer>({launch, op, op.getBox()[0], {}}) : std::nullopt;
}

static Value sourceOf(Summarizer summary) {
  unsigned argument = cast<BlockArgument>(summary.op.getSource()).getArgNumber();
  return summary.launch.getInputs()[argument];
}

/// Whether partials of one are partials of the other.
static bool addUpAlike(Summarizer a, Summarizer b) {
  auto combination = [](Summary kind) { return kind == Summary::Mean ? Summary::Sum : kind; };
  return sourceOf(a) == sourceOf(b) && a.launch->getBlock() == b.launch->getBlock() &&
         combination(a.op.getKind()) == combination(b.op.getKind()) &&
         a.op.getChannels() == b.op.getChannels();
}

/// Groups of summaries of the same tokens, each in order of the extents of their blocks.
static std::vector<std::vector<Summarizer>> findGroups(Operation *root) {
  std::vector<std::vector<Summarizer>> groups;
  root->walk([&](tile::LaunchOp launch) {
    std::optional<Summarizer> found = findSummarizer(launch);
    if (!found)
      return;
    auto known = llvm::find_if(groups, [&](auto &g) { return addUpAlike(g.front(), *found); });
    if (known == groups.end())
      groups.push_back({*found});
    else
      known->push_back(*found);
  });
  for (std::vector<Summarizer> &group : groups)
    llvm::sort(group, [](const Summarizer &a, const Summarizer &b) {
      Operation *first = a.launch, *second = b.launch;
      return a.box != b.box ? a.box < b.box : first != second && first->isBeforeInBlock(second);
    });
  return groups;
}

/// Decides who reads whose partials; whether anybody does.
static bool connect(std::vector<Summarizer> &group) {
  auto type = cast<RankedTensorType>(sourceOf(group.front()).getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  bool isAny = false;
  for (size_t coarse = 1; coarse < group.size(); ++coarse)
    for (size_t fine = coarse; fine-- > 0 && !group[coarse].finer;)
      if (group[fine].box < group[coarse].box && group[coarse].box % group[fine].box == 0 &&
          group[fine].box * bytes >= leastBytes) {
        group[coarse].finer = fine;
        group[fine].isFiner = isAny = true;
      }
  return isAny;
}

/// Launches the summary before `place`; `partials` are those of the finer one, if there is one.
/// Returns its own, if they are wanted.
static Value share(const Summarizer &summary, int64_t finerBox, Value partials, Operation *place) {
  tile::LaunchOp launch = summary.launch;
  tile::SummarizeOp op = summary.op;
  Location loc = op.getLoc();
  int64_t width = op.getChannels()[1] - op.getChannels()[0];
  auto result = cast<RankedTensorType>(launch.getResult(0).getType());
  SmallVector<int64_t> shape(result.getShape());
  shape.back() = width;
  SmallVector<RankedTensorType> outputs;
  if (summary.isFiner)
    outputs.push_back(RankedTensorType::get(shape, Float32Type::get(op.getContext())));
  LaunchRewrite rewrite(launch, launch.getKernel(), launch.getResults(),
                        partials ? ValueRange(partials) : ValueRange(), outputs);
  IRMapping &map = rewrite.getBodyMap(0);
  Value target = rewrite.getMemory(launch.getResult(0));
  OpBuilder &body = rewrite.body;
  Value partial = summary.isFiner ? rewrite.getNewOutput(0) : Value();
  Value tokens = map.lookup(op.getSizes()[0]), block = map.lookup(op.getBlock());
  if (partials) {
    int64_t ratio = summary.box / finerBox;
    Value at =
        body.createOrFold<arith::MulIOp>(loc, rewrite.getGrid(2), makeIndex(body, loc, ratio));
    Value rows = getExtent(body, loc, rewrite.inBody(partials), 2);
    tile::SummarizeOp::create(body, loc, op.getKind(), rewrite.inBody(partials), rewrite.getGrid(0),
                              rewrite.getGrid(1), at, rows, ratio, ArrayRef<int64_t>{0, width},
                              target, block, body.getI64IntegerAttr(finerBox), tokens, partial);
  } else {
    tile::SummarizeOp::create(body, loc, op.getKind(), map.lookup(op.getSource()),
                              rewrite.getGrid(0), rewrite.getGrid(1), map.lookup(op.getAt()[0]),
                              tokens, op.getBox(), op.getChannels(), target, block, IntegerAttr(),
                              Value(), partial);
  }
  SmallVector<Value> extents(rewrite.getShape(launch.getResult(0)));
  extents.back() = makeIndex(rewrite.plan, loc, width);
  tile::LaunchOp by = rewrite.finish(place, summary.isFiner ? ValueRange(extents) : ValueRange());
  return summary.isFiner ? by.getResults().back() : Value();
}

static void shareAll(std::vector<Summarizer> &group) {
  Operation *first = group.front().launch;
  for (Summarizer &summary : group)
    if (summary.launch->isBeforeInBlock(first))
      first = summary.launch;
  // All are launched where the first one was; what they need must be there.
  for (Summarizer &summary : group)
    for (Value input : summary.launch.getInputs())
      if (Operation *definition = input.getDefiningOp();
          definition && !definition->isBeforeInBlock(first))
        return;
  // Keeps the place while the launches go.
  OpBuilder builder(first);
  Operation *place = arith::ConstantIndexOp::create(builder, first->getLoc(), 0);
  SmallVector<Value> partials(group.size());
  for (auto [index, summary] : llvm::enumerate(group)) {
    if (!summary.finer && !summary.isFiner)
      continue;
    size_t finer = summary.finer.value_or(0);
    partials[index] =
        share(summary, group[finer].box, summary.finer ? partials[finer] : Value(), place);
  }
  place->erase();
}

namespace {
struct ShareSummaries final : lacuna::impl::ShareSummariesPassBase<ShareSummaries> {
  void runOnOperation() override {
    for (std::vector<Summarizer> &group : findGroups(getOperation()))
      if (connect(group))
        shareAll(group);
  }
};
} // namespace
