//===- HopperTiles.cpp - tile shapes for sm_90a ---------------------------===//
#include "compiler/Analysis/HopperTiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace lacuna;
using llvm::ArrayRef;

/// Key tiles have a multiple of 16 keys. Shorter ones leave the tensor cores idle between tiles.
static constexpr int64_t leastKeys = 64, mostKeys = 176;
/// On sequences longer tiles were no faster, but for full sets of 72 to 128 channels with turns at
/// the tensor cores; on grids they may save tiles.
static constexpr int64_t provenKeys = 128;
/// What a full tile of such sets takes beyond its products, from the 2 % that 176 keys gain.
static constexpr double fullGap = 270;
/// Up to this many channels the exponentials take as long as the products and a third consumer
/// helps; beyond, its smaller share of registers costs more.
static constexpr int64_t mostChannelsOfThree = 64;
/// Beyond, three warpgroups of heads' rows have registers for no key tile at all.
static constexpr int64_t mostChannelsOfThreeHeads = 128;
/// Differences that the model does not see: the shape with fewer keys is taken.
static constexpr double tie = 0.005;

llvm::StringRef lacuna::stringify(HopperRefusal refusal) {
  switch (refusal) {
  case HopperRefusal::None:
    return "";
  case HopperRefusal::Registers:
    return "registers";
  case HopperRefusal::SharedMemory:
    return "shared memory";
  case HopperRefusal::Instruction:
    return "instruction shape";
  case HopperRefusal::Unproven:
    return "no gain when measured";
  case HopperRefusal::Slower:
    return "more work";
  }
  llvm_unreachable("all refusals are handled");
}

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// A warp writes its 16 rows with one copy, so they must be a box.
static bool isStorable(ArrayRef<int64_t> query) {
  int64_t rows = 16;
  for (int64_t extent : llvm::reverse(query)) {
    if (rows == 1 || extent % rows == 0)
      return true;
    if (rows % extent != 0)
      return false;
    rows /= extent;
  }
  return rows == 1;
}

/// Whether keys of such boxes are gathered.
static bool isGathered(ArrayRef<int64_t> key) {
  return key.size() == 1 && key.front() < leastCopiedKeys;
}

/// Whether the matrix instructions and the copy engine take these boxes of `heads` heads.
static bool hasInstructions(ArrayRef<int64_t> query, int64_t heads, ArrayRef<int64_t> key) {
  auto isCopyable = [](int64_t extent) { return extent >= 1 && extent <= 256; };
  Extents tile(query);
  tile.insert(tile.begin(), heads);
  int64_t rows = product(tile), keys = product(key);
  if (!llvm::all_of(tile, isCopyable) || rows % 64 != 0 || rows > 192 || !isStorable(tile))
    return false;
  if (isGathered(key))
    return keys > 0 && leastCopiedKeys % keys == 0;
  return llvm::all_of(key, isCopyable) && keys % 16 == 0 && keys <= 256 &&
         (key.size() == 1 || key.back() % 8 == 0 || 8 % key.back() == 0);
}

/// How many heads share a tile whose rows are `query` in each of them: one where that fills
/// warpgroups, and two where one would leave the rows of gathered keys to a single warpgroup.
static int64_t chooseHeads(const HopperProblem &problem, ArrayRef<int64_t> query,
                           ArrayRef<int64_t> key) {
  int64_t rows = product(query);
  bool isEnough = rows % 64 == 0 && (rows > 64 || !isGathered(key));
  if (isEnough || query.size() > 1)
    return 1;
  int64_t channels = std::max(problem.headDim, problem.valueDim);
  for (int64_t all : {128, 192, 64}) {
    bool fits = all <= 128 || channels <= mostChannelsOfThreeHeads;
    if (fits && all % rows == 0 && problem.headGroup % (all / rows) == 0)
      return all / rows;
  }
  return 1;
}

/// Calls `visit` with each box of `tokens` whose last extent is a multiple of `innermost`.
static void forEachBox(int64_t tokens, size_t rank, int64_t innermost,
                       llvm::function_ref<void(const Extents &)> visit) {
  Extents box(rank, 1);
  auto choose = [&](auto &&self, size_t axis, int64_t left) -> void {
    if (axis + 1 == rank) {
      box[axis] = left;
      if (left % innermost == 0)
        visit(box);
      return;
    }
    for (int64_t extent = 1; extent <= left; ++extent)
      if (left % extent == 0) {
        box[axis] = extent;
        self(self, axis + 1, left / extent);
      }
  };
  choose(choose, 0, tokens);
}

static bool gainsFromLongTiles(const HopperProblem &problem, const HopperShape &shape) {
  int64_t channels = std::max(shape.headDim, shape.valueDim);
  return problem.isFull && shape.consumers() == 2 && channels > 64 && channels <= 128;
}

/// Whether a shape that nobody asked for has only been seen to lose.
static bool isUnproven(const HopperProblem &problem, const HopperShape &shape, bool isGrid) {
  bool isTall =
      shape.consumers() == 3 && std::max(shape.headDim, shape.valueDim) > mostChannelsOfThree;
  bool isWide = !isGrid && shape.keys > provenKeys && !gainsFromLongTiles(problem, shape);
  return (isTall && problem.query.empty()) || (isWide && problem.key.empty());
}

static int64_t limitRegisters(const HopperProblem &problem, const HopperShape &shape) {
  int64_t producer = shape.isGathered ? packingProducer : problem.producerRegisters;
  return hopperRegistersFor(shape.consumers(), producer).consumer;
}

/// The most keys of a tile of gathered ones that registers and shared memory allow.
static int64_t chooseGatheredKeys(const HopperProblem &problem, HopperShape shape) {
  for (shape.keys = mostPackedKeys; shape.keys > leastCopiedKeys; shape.keys -= 16)
    if (estimateRegisters(shape, gatheredElements) <= limitRegisters(problem, shape) &&
        sharedMemoryBytes(shape, fitHopperRings(shape)) <= sharedMemoryLimit)
      break;
  return shape.keys;
}

/// Registers, shared memory and rings of a shape, and whether it can be.
static HopperCandidate describe(const HopperProblem &problem, const Extents &query,
                                const Extents &key) {
  bool isGrid = query.size() > 1;
  HopperCandidate candidate;
  candidate.query = query;
  candidate.key = key;
  HopperShape &shape = candidate.shape;
  candidate.heads = chooseHeads(problem, query, key);
  shape = {problem.headDim, problem.valueDim, candidate.heads * product(query), product(key)};
  shape.isGathered = isGathered(key);
  if (shape.isGathered)
    shape.keys = chooseGatheredKeys(problem, shape);
  candidate.registers =
      estimateRegisters(shape, shape.isGathered ? gatheredElements : problem.elementRegisters);
  candidate.registerLimit = limitRegisters(problem, shape);
  HopperRings rings = fitHopperRings(shape);
  candidate.querySlots = rings.querySlots;
  candidate.stages = rings.stages;
  candidate.sharedBytes = sharedMemoryBytes(shape, rings);
  if (!hasInstructions(query, candidate.heads, key))
    candidate.refusal = HopperRefusal::Instruction;
  else if (candidate.sharedBytes > sharedMemoryLimit)
    candidate.refusal = HopperRefusal::SharedMemory;
  else if (candidate.registers > candidate.registerLimit)
    candidate.refusal = HopperRefusal::Registers;
  else if (isUnproven(problem, shape, isGrid))
    candidate.refusal = HopperRefusal::Unproven;
  return candidate;
}

/// Puts the chosen candidate first and marks the others.
static void rank(std::vector<HopperCandidate> &candidates) {
  if (candidates.empty())
    return;
  auto isBefore = [](const HopperCandidate &a, const HopperCandidate &b) {
    bool refused[] = {a.refusal != HopperRefusal::None, b.refusal != HopperRefusal::None};
    return std::tie(refused[0], a.cost, a.shape.keys, a.query, a.key) <
           std::tie(refused[1], b.cost, b.shape.keys, b.query, b.key);
  };
  llvm::sort(candidates, isBefore);
  auto best = candidates.begin();
  // Where every shape needs more registers than there are, the one that needs the fewest spills
  // least.
  if (best->refusal == HopperRefusal::Registers || best->refusal == HopperRefusal::SharedMemory) {
    auto excess = [](const HopperCandidate &shape) {
      return std::pair(shape.refusal != HopperRefusal::Registers,
                       shape.registers - shape.registerLimit);
    };
    best = llvm::min_element(candidates,
                             [&](const auto &a, const auto &b) { return excess(a) < excess(b); });
  }
  for (auto other = best; other != candidates.end(); ++other) {
    if (other->refusal != HopperRefusal::None || other->cost > candidates.front().cost * (1 + tie))
      break;
    if (other->shape.keys < best->shape.keys)
      best = other;
  }
  std::rotate(candidates.begin(), best, best + 1);
  for (HopperCandidate &other : llvm::drop_begin(candidates))
    if (other.refusal == HopperRefusal::None)
      other.refusal = HopperRefusal::Slower;
}

/// Whether the box divides the block of a list, if there is one.
static bool fitsBlock(const Extents &box, const Extents &block) {
  return block.empty() || llvm::all_of(llvm::zip_equal(block, box), [](auto extents) {
           auto [whole, part] = extents;
           return whole % part == 0;
         });
}

/// Query boxes worth a look, or the one that was asked for.
static std::vector<Extents> queryBoxes(const HopperProblem &problem, ArrayRef<int64_t> sizes) {
  if (!problem.query.empty())
    return {problem.query};
  std::vector<Extents> boxes;
  for (int64_t rows : {64, 128, 192}) {
    // One warpgroup alone is for blocks that two do not divide.
    if (rows == 64 && (problem.queryBlock.empty() || product(problem.queryBlock) % 128 == 0))
      continue;
    forEachBox(rows, sizes.size(), 1, [&](const Extents &box) {
      if (!fitsBlock(box, problem.queryBlock))
        return;
      // An axis that is shorter than half of its extent wastes more than half of the rows.
      for (auto [extent, size] : llvm::zip_equal(box, sizes))
        if (extent > 1 && extent >= 2 * size)
          return;
      if (isStorable(box))
        boxes.push_back(box);
    });
  }
  // The rows of a block that is too small for a warpgroup, in several heads.
  if (boxes.empty() && problem.queryBlock.size() == 1)
    for (int64_t rows = problem.queryBlock.front(); rows > 0 && boxes.empty(); --rows)
      if (problem.queryBlock.front() % rows == 0 &&
          rows * chooseHeads(problem, {rows}, problem.keyBlock) % 64 == 0)
        boxes.push_back({rows});
  // Every extent of a tiny grid is too long: pad the innermost axis.
  if (boxes.empty() && problem.queryBlock.empty()) {
    boxes.emplace_back(sizes.size(), 1);
    boxes.back().back() = 128;
  }
  return boxes;
}

static std::vector<Extents> keyBoxes(const HopperProblem &problem, size_t rank) {
  if (!problem.key.empty())
    return {problem.key};
  std::vector<Extents> boxes;
  // Small blocks have small tiles, and the smallest are gathered.
  const bool isListed = !problem.keyBlock.empty();
  if (isListed && isGathered(problem.keyBlock) && leastCopiedKeys % problem.keyBlock.front() == 0)
    return {problem.keyBlock};
  // Other boxes are long along the innermost axis, where masks cost least.
  int64_t innermost = rank == 1 ? 16 : 8;
  if (rank > 1 && isListed && problem.keyBlock.back() % 8 != 0)
    innermost = std::min<int64_t>(problem.keyBlock.back() & -problem.keyBlock.back(), 4);
  for (int64_t keys = isListed ? 16 : leastKeys; keys <= mostKeys; keys += 16)
    forEachBox(keys, rank, innermost, [&](const Extents &box) {
      if (box.back() % 8 != 0 && 8 % box.back() != 0)
        return;
      if (fitsBlock(box, problem.keyBlock))
        boxes.push_back(box);
    });
  return boxes;
}

std::vector<HopperCandidate> lacuna::compareForSequence(const HopperProblem &problem) {
  std::vector<HopperCandidate> candidates;
  for (const Extents &query : queryBoxes(problem, {int64_t{1} << 20}))
    for (const Extents &key : keyBoxes(problem, 1)) {
      HopperCandidate &one = candidates.emplace_back(describe(problem, query, key));
      const HopperShape &shape = one.shape;
      TileClocks clocks = estimateTile(shape, ScoreMask::None);
      double total = clocks.total;
      if (gainsFromLongTiles(problem, shape))
        total = std::max(clocks.softmax, clocks.products + fullGap);
      one.cost = total / static_cast<double>(shape.rows * shape.keys);
    }
  rank(candidates);
  return candidates;
}

/// Tiles of `extent` keys that lie in `span`, and those that are live for every row. Tiles that do
/// not start with the span start anywhere in it.
static std::pair<double, double> countTiles(const AxisSpan &span, int64_t extent, bool aligned) {
  auto length = static_cast<double>(span.length), tokens = static_cast<double>(extent);
  if (aligned)
    return {(length - 1) / tokens + 1,
            std::max((static_cast<double>(span.fullEnd - span.fullFirst) + 1) / tokens - 1, 0.0)};
  // The last tile may reach past the span, where keys are masked.
  auto first = static_cast<int64_t>(llvm::divideCeil(span.fullFirst, extent));
  return {static_cast<double>(llvm::divideCeil(span.length, extent)),
          static_cast<double>(std::max<int64_t>(span.fullEnd / extent - first, 0))};
}

/// Adds up tiles and clocks over all query tiles.
static void price(HopperCandidate &candidate, ScoreMask mask, const SpanCounts &spans, bool aligned,
                  double queryTiles, double queries) {
  candidate.queryTiles = queryTiles;
  for (const auto &[span, weight] : spans) {
    double all = weight, full = weight;
    for (auto [axis, extent] : llvm::zip_equal(span, candidate.key)) {
      auto [live, unmasked] = countTiles(axis, extent, aligned);
      all *= live;
      full *= unmasked;
    }
    candidate.keyTiles += all;
    candidate.fullTiles += full;
  }
  double clocks =
      queryTiles * estimateItem(candidate.querySlots) +
      candidate.fullTiles * estimateTile(candidate.shape, ScoreMask::None).total +
      (candidate.keyTiles - candidate.fullTiles) * estimateTile(candidate.shape, mask).total;
  candidate.cost = clocks / queries;
}

std::vector<HopperCandidate> lacuna::compareForGrid(const HopperProblem &problem, KeySpans &spans) {
  std::vector<HopperCandidate> candidates;
  ArrayRef<int64_t> sizes = spans.getSizes();
  std::vector<Extents> keys = keyBoxes(problem, sizes.size());
  for (const Extents &query : queryBoxes(problem, sizes)) {
    SpanCounts counts = spans.count(query);
    double queryTiles = 1;
    for (auto [size, extent] : llvm::zip_equal(sizes, query))
      queryTiles *= static_cast<double>(llvm::divideCeil(size, extent));
    for (const Extents &key : keys) {
      HopperCandidate &one = candidates.emplace_back(describe(problem, query, key));
      price(one, problem.mask, counts, /*aligned=*/!spans.isProduct(), queryTiles,
            static_cast<double>(product(sizes)));
    }
  }
  rank(candidates);
  return candidates;
}
