//===- PlanReport.cpp - what the planner of sm_90a chose, and why ---------===//
#include "tools/lacuna/PlanReport.h"

#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/TileChoice.h"
#include "lib/Support/Text.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using llvm::formatv;

namespace lacuna::tool {

std::string shapeText(llvm::ArrayRef<int64_t> tile) {
  std::string text;
  for (auto [axis, extent] : llvm::enumerate(tile))
    text += formatv("{0}{1}", axis ? " x " : "", extent).str();
  return text;
}

FailureOr<std::vector<PlanReport>> reportPlans(const BoundSpec &spec,
                                               const SpecToHopperOptions &options) {
  func::FuncOp function = spec.function;
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  // Sets in the form in which the planner sees them.
  PassManager simplify(module->getContext());
  buildPrepareSets(simplify, options);
  if (failed(simplify.run(*module)))
    return failure();
  std::vector<PlanReport> plans;
  auto copy = module->lookupSymbol<func::FuncOp>(function.getSymName());
  // The first kernel of each attend: one per query segment, or one for all that a merge joins.
  std::vector<unsigned> firstKernel;
  unsigned kernels = 0;
  DenseMap<Operation *, unsigned> numbers;
  for (Operation &each : copy.getBody().front()) {
    if (auto merge = dyn_cast<attn::MergeOp>(each)) {
      SmallVector<attn::AttendOp> parts = findFusedParts(merge);
      for (attn::AttendOp part : parts) {
        firstKernel[numbers[part]] = kernels;
        plans[numbers[part]].fused = static_cast<int64_t>(parts.size());
      }
      kernels += !parts.empty();
    }
    auto op = dyn_cast<attn::AttendOp>(each);
    if (!op)
      continue;
    numbers[op] = plans.size();
    Segments segments;
    if (failed(segments.readDomain(op)))
      return failure();
    PlanReport &plan = plans.emplace_back();
    plan.queries = boundExtent(spec, op.getQuery(), 2);
    plan.keys = boundExtent(spec, op.getKey(), 2);
    firstKernel.push_back(kernels);
    kernels += findFusedMerge(op) ? 0 : segments.size();
    if (!hasHopperModel(segments))
      continue;
    FailureOr<std::vector<HopperCandidate>> shapes =
        compareHopperTiles(op, segments, options.queryTile, options.keyTile);
    if (failed(shapes))
      return failure();
    plan.shapes = std::move(*shapes);
    FailureOr<HopperProblem> problem = getHopperProblem(op);
    if (failed(problem))
      return failure();
    plan.mask = problem->mask;
    HopperProblem dense;
    dense.headDim = problem->headDim;
    dense.valueDim = problem->valueDim;
    dense.isFull = true;
    plan.dense = compareForSequence(dense).front().shape;
    plan.denseQuerySlots = fitHopperRings(plan.dense).querySlots;
  }
  PassManager passes(module->getContext());
  buildSpecToHopper(passes, options);
  if (failed(passes.run(*module)))
    return failure();
  std::vector<hopper::AttendOp> attends;
  module->walk([&](hopper::AttendOp op) { attends.push_back(op); });
  for (auto [plan, first] : llvm::zip_equal(plans, firstKernel)) {
    // The kernels of one attend have the same pipeline.
    if (first < attends.size()) {
      hopper::AttendOp op = attends[first];
      plan.rings = {static_cast<int64_t>(*op.getQuerySlots()),
                    static_cast<int64_t>(*op.getStages())};
      plan.registers = {static_cast<int64_t>(*op.getProducerRegisters()),
                        static_cast<int64_t>(*op.getConsumerRegisters())};
      plan.consumers = static_cast<int64_t>(*op.getConsumers());
      plan.sharedBytes = op.getSharedBytes();
      auto keys = static_cast<int64_t>(op.getKeys());
      plan.packedKeys = op.getPieceKeys() < keys ? keys : 0;
      plan.blocks = static_cast<int64_t>(op.getBlocks());
      plan.pingPong = op.getPingPong();
      plan.ascending = op.getAscending();
    }
  }
  return plans;
}

/// Clocks per second in a loop of products, and multiprocessors.
static constexpr double clockRate = 1.6e9, multiprocessors = 132;

namespace {
/// What the model predicts for counted tiles.
struct Prediction {
  double seconds = 0, flops = 0;
  /// What a full tile waits for.
  llvm::StringRef limit;

  double rate() const { return seconds > 0 ? flops / seconds : 0; }
};
} // namespace

static llvm::StringRef limitOf(const TileClocks &clocks) {
  if (clocks.loads >= clocks.total)
    return "loads";
  return clocks.softmax > clocks.products ? "softmax" : "products";
}

/// Clocks of a tile; of a whole one where keys are gathered.
static TileClocks estimateWhole(const PlanReport &plan, ScoreMask mask) {
  HopperShape shape = plan.shapes.front().shape;
  if (shape.isGathered)
    shape.keys = plan.packedKeys;
  return estimateTile(shape, mask);
}

/// How much of such a tile one of those that are counted is: in one head, and a piece of a tile of
/// gathered keys.
static double partOfWhole(const PlanReport &plan) {
  const HopperCandidate &chosen = plan.shapes.front();
  double part = 1 / static_cast<double>(chosen.heads);
  return chosen.shape.isGathered
             ? part * static_cast<double>(chosen.key.front()) / static_cast<double>(plan.packedKeys)
             : part;
}

/// Clocks of a tile without a mask; of its part of a packed one.
static TileClocks estimateFull(const PlanReport &plan) {
  HopperShape shape = plan.shapes.front().shape;
  if (plan.packedKeys == 0 || shape.isGathered)
    return estimateWhole(plan, ScoreMask::None);
  double part = static_cast<double>(shape.keys) / static_cast<double>(plan.packedKeys);
  // Each piece is copied by itself.
  double loads = estimateTile(shape, ScoreMask::None).loads;
  shape.keys = plan.packedKeys;
  TileClocks clocks = estimateTile(shape, ScoreMask::None);
  for (double *each : {&clocks.products, &clocks.softmax, &clocks.loads, &clocks.total})
    *each *= part;
  clocks.loads = loads;
  clocks.total = std::max(clocks.total, loads);
  return clocks;
}

static Prediction predict(const PlanReport &plan, const AttendCounts *counts) {
  const HopperCandidate &shape = plan.shapes.front();
  TileClocks full = estimateFull(plan);
  TileClocks partial = estimateWhole(plan, plan.mask);
  Prediction prediction;
  bool mostlyFull = !counts || 2 * counts->counts.fullTiles >= counts->counts.liveTiles;
  prediction.limit = limitOf(mostlyFull ? full : partial);
  if (!counts || counts->counted == 0)
    return prediction;
  double entries = static_cast<double>(counts->batch) * static_cast<double>(counts->heads) /
                   static_cast<double>(counts->counted);
  double items =
      static_cast<double>(counts->counted) *
      std::ceil(static_cast<double>(plan.queries) / static_cast<double>(shape.shape.rows));
  double clocks =
      partOfWhole(plan) * (static_cast<double>(counts->counts.fullTiles) * full.total +
                           static_cast<double>(counts->counts.partialTiles()) * partial.total) +
      items * estimateItem(plan.rings.querySlots);
  prediction.seconds = entries * clocks / clockRate / multiprocessors;
  prediction.flops = 2.0 * static_cast<double>(shape.shape.headDim + shape.shape.valueDim) *
                     static_cast<double>(counts->totalLivePairs());
  return prediction;
}

/// Seconds for what `counts` counted if all keys were attended to, without masks.
static double predictDense(const PlanReport &plan, const AttendCounts &counts) {
  auto tiles = [](int64_t tokens, int64_t size) {
    return std::ceil(static_cast<double>(tokens) / static_cast<double>(size));
  };
  double items = tiles(plan.queries, plan.dense.rows);
  double clocks =
      items * (tiles(plan.keys, plan.dense.keys) * estimateTile(plan.dense, ScoreMask::None).total +
               estimateItem(plan.denseQuerySlots));
  return static_cast<double>(counts.batch) * static_cast<double>(counts.heads) * clocks /
         clockRate / multiprocessors;
}

namespace {
/// The set beside attention over all keys.
struct DenseComparison {
  double seconds = 0;
  /// Which part of its time the set takes, and the share of live pairs with which it would take as
  /// long.
  double ratio = 0, breakEven = 0;
  /// Whether the set is all pairs with these values.
  bool isAll = false;
};
} // namespace

static std::optional<DenseComparison> compareWithDense(const PlanReport &plan,
                                                       const AttendCounts *counts) {
  // Copies of single keys are not those of the model.
  if (plan.shapes.front().shape.keys < leastCopiedKeys)
    return std::nullopt;
  Prediction set = predict(plan, counts);
  if (!counts || set.seconds <= 0 || counts->counts.livePairs == 0)
    return std::nullopt;
  double seconds = predictDense(plan, *counts);
  double share =
      static_cast<double>(counts->counts.livePairs) / static_cast<double>(counts->counts.allPairs);
  double ratio = set.seconds / seconds;
  return DenseComparison{seconds, ratio, share / ratio, share == 1};
}

/// The set is kept whatever comes out: its walk never visits more tiles than one over all keys, and
/// those that are partial would need their masks there, too. Small blocks may still lose to large
/// tiles of everything.
static std::string denseText(const DenseComparison &dense) {
  std::string text = formatv("all keys would take {0}, {1:F2} times as long as the set",
                             durationText(dense.seconds), 1 / dense.ratio);
  if (dense.isAll)
    return text + ", which is all of them here";
  if (dense.breakEven >= 1)
    return text + "; the set is faster at any density";
  text += formatv("; even at {0:F1} % of the pairs", 100 * dense.breakEven).str();
  return dense.ratio > 1 ? text + "; the set is kept, for all keys are other pairs" : text;
}

/// The candidates that say most: the best shape of each query box, and the cheapest of each that
/// cannot be.
static std::vector<const HopperCandidate *> findTelling(const PlanReport &plan) {
  constexpr size_t most = 6;
  std::vector<const HopperCandidate *> slower, impossible;
  const HopperCandidate &chosen = plan.shapes.front();
  // Shapes are sorted: the first one that is unlike those before says most.
  for (const HopperCandidate &shape : llvm::drop_begin(plan.shapes)) {
    bool isSlower = shape.refusal == HopperRefusal::Slower;
    auto &list = isSlower ? slower : impossible;
    bool known = llvm::any_of(list, [&](const HopperCandidate *other) {
      return isSlower ? other->query == shape.query : other->refusal == shape.refusal;
    });
    if (!known && list.size() < most)
      list.push_back(&shape);
  }
  // The chosen query box with another key box is worth a line, too.
  auto next = llvm::find_if(llvm::drop_begin(plan.shapes), [&](const HopperCandidate &shape) {
    return shape.query == chosen.query && shape.refusal == HopperRefusal::Slower;
  });
  if (next != plan.shapes.end() && !llvm::is_contained(slower, &*next))
    slower.insert(slower.begin(), &*next);
  llvm::append_range(slower, impossible);
  return slower;
}

/// Why a candidate was refused, with its numbers.
static std::string reasonText(const HopperCandidate &shape, const HopperCandidate &chosen) {
  std::string reason = stringify(shape.refusal).str();
  switch (shape.refusal) {
  case HopperRefusal::Registers:
    return formatv("{0}: {1} of {2}", reason, shape.registers, shape.registerLimit);
  case HopperRefusal::SharedMemory:
    return formatv("{0}: {1} bytes", reason, groupedText(shape.sharedBytes));
  case HopperRefusal::Slower: {
    std::string text =
        formatv("{0}: {1:F1} % more clocks", reason, 100 * (shape.cost / chosen.cost - 1));
    if (shape.queryTiles > 0)
      text += formatv(", {0:F1} key tiles a query tile", shape.keyTiles / shape.queryTiles).str();
    return text;
  }
  default:
    return reason;
  }
}

static std::string clocksText(const TileClocks &clocks) {
  return formatv("{0:F0} clocks: products {1:F0}, softmax {2:F0}, loads {3:F0}", clocks.total,
                 clocks.products, clocks.softmax, clocks.loads);
}

static void printShape(const PlanReport &plan, const AttendCounts *counts, llvm::raw_ostream &os) {
  const HopperCandidate &chosen = plan.shapes.front();
  os << "    registers       about " << chosen.registers << " of " << plan.registers.consumer
     << " per thread that computes, " << plan.registers.producer << " for the producer\n"
     << "    full tile       " << clocksText(estimateFull(plan)) << '\n'
     << "    partial tile    " << clocksText(estimateWhole(plan, plan.mask)) << '\n';
  if (chosen.queryTiles > 0)
    os << formatv("    key tiles       {0} for {1} query tiles of a head, {2:F1} each, {3} of them "
                  "full\n",
                  groupedText(std::llround(chosen.keyTiles)),
                  groupedText(std::llround(chosen.queryTiles)), chosen.keyTiles / chosen.queryTiles,
                  groupedText(std::llround(chosen.fullTiles)));
  Prediction prediction = predict(plan, counts);
  os << "    expected        limited by " << prediction.limit;
  if (prediction.seconds > 0)
    os << ": " << durationText(prediction.seconds) << ", " << siText(prediction.rate())
       << "FLOP/s on live pairs";
  os << '\n';
  if (std::optional<DenseComparison> dense = compareWithDense(plan, counts))
    os << "    dense           " << denseText(*dense) << '\n';
  std::vector<const HopperCandidate *> telling = findTelling(plan);
  if (!telling.empty())
    os << "    refused\n";
  for (const HopperCandidate *shape : telling)
    os << "      "
       << formatv("{0,-28} {1}\n", shapeText(shape->query) + " by " + shapeText(shape->key),
                  reasonText(*shape, chosen));
}

void printPlan(const PlanReport &plan, const AttendCounts *counts, llvm::raw_ostream &os) {
  os << "  plan for sm_90a:\n    pipeline        " << plan.consumers
     << (plan.consumers == 1 ? " warpgroup of" : " warpgroups of") << " 64 rows"
     << (plan.pingPong ? " that take turns, " : ", ") << plan.rings.querySlots
     << (plan.rings.querySlots == 1 ? " query slot, " : " query slots, ") << plan.rings.stages
     << (plan.rings.stages == 1 ? " stage, " : " stages, ") << (plan.ascending ? "first" : "last")
     << " query tiles first\n    shared memory   " << groupedText(plan.sharedBytes) << " of "
     << groupedText(sharedMemoryLimitOf(plan.blocks)) << " bytes"
     << (plan.blocks > 1 ? formatv(", {0} blocks on a multiprocessor", plan.blocks).str() : "")
     << '\n';
  if (plan.fused > 1)
    os << "    fused           one kernel for " << plan.fused
       << " attends, without partial results in memory\n";
  bool isGathered = !plan.shapes.empty() && plan.shapes.front().shape.isGathered;
  if (plan.packedKeys > 0)
    os << (isGathered ? "    gathered        keys are copied row by row into tiles of "
                      : "    packing         key tiles without a mask share tiles of ")
       << plan.packedKeys << " keys\n";
  if (!plan.shapes.empty() && plan.shapes.front().heads > 1)
    os << "    heads           " << plan.shapes.front().heads << " heads share a tile of "
       << plan.shapes.front().shape.rows << " rows\n";
  if (plan.shapes.empty())
    os << "    tiles           even boxes: shapes are compared on domains of one segment only\n";
  else
    printShape(plan, counts, os);
}

static llvm::json::Object toJson(const TileClocks &clocks) {
  return llvm::json::Object{{"products", clocks.products},
                            {"softmax", clocks.softmax},
                            {"loads", clocks.loads},
                            {"total", clocks.total}};
}

static llvm::json::Object toJson(const HopperCandidate &shape) {
  llvm::json::Object object{{"query_tile", llvm::json::Array(shape.query)},
                            {"key_tile", llvm::json::Array(shape.key)},
                            {"registers", shape.registers},
                            {"register_limit", shape.registerLimit},
                            {"shared_bytes", shape.sharedBytes},
                            {"cost", shape.cost}};
  if (shape.queryTiles > 0) {
    object["query_tiles"] = shape.queryTiles;
    object["key_tiles"] = shape.keyTiles;
    object["full_tiles"] = shape.fullTiles;
  }
  if (shape.heads > 1)
    object["heads"] = shape.heads;
  if (shape.refusal != HopperRefusal::None)
    object["refused"] = stringify(shape.refusal);
  return object;
}

llvm::json::Object toJson(const PlanReport &plan, const AttendCounts *counts) {
  llvm::json::Object object{{"consumers", plan.consumers},
                            {"stages", plan.rings.stages},
                            {"query_slots", plan.rings.querySlots},
                            {"consumer_registers", plan.registers.consumer},
                            {"producer_registers", plan.registers.producer},
                            {"shared_bytes", plan.sharedBytes},
                            {"ping_pong", plan.pingPong},
                            {"ascending", plan.ascending},
                            {"fused_attends", plan.fused}};
  if (plan.shapes.empty())
    return object;
  const HopperCandidate &chosen = plan.shapes.front();
  Prediction prediction = predict(plan, counts);
  object["chosen"] = toJson(chosen);
  object["full_tile_clocks"] = toJson(estimateWhole(plan, ScoreMask::None));
  object["partial_tile_clocks"] = toJson(estimateWhole(plan, plan.mask));
  object["limit"] = prediction.limit;
  if (prediction.seconds > 0) {
    object["expected_seconds"] = prediction.seconds;
    object["expected_gflops"] = prediction.rate() / 1e9;
  }
  if (std::optional<DenseComparison> dense = compareWithDense(plan, counts)) {
    object["dense_seconds"] = dense->seconds;
    object["break_even_share"] = dense->breakEven;
  }
  llvm::json::Array refused;
  for (const HopperCandidate *shape : findTelling(plan))
    refused.push_back(toJson(*shape));
  object["refused"] = std::move(refused);
  return object;
}

} // namespace lacuna::tool
