//===- FootprintTest.cpp - boxes of key tiles against brute force ---------===//
#include "compiler/Analysis/Footprint.h"

#include "RandomFormula.h"

#include "gtest/gtest.h"

#include <chrono>
#include <map>
#include <set>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace lacuna::test;
using namespace mlir;

namespace {

using Tile = std::vector<int64_t>;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// All points of a box, last coordinate fastest.
std::vector<Tile> pointsOf(ArrayRef<int64_t> first, ArrayRef<int64_t> extents) {
  std::vector<Tile> points = {{}};
  for (auto [start, extent] : llvm::zip_equal(first, extents)) {
    std::vector<Tile> next;
    for (const Tile &point : points) {
      for (int64_t offset = 0; offset < extent; ++offset) {
        next.push_back(point);
        next.back().push_back(start + offset);
      }
    }
    points = std::move(next);
  }
  return points;
}

struct Counts {
  uint64_t cases = 0, exact = 0, bounded = 0, liveTiles = 0, fullTiles = 0, lostTiles = 0;
  uint64_t extraTiles = 0;
  size_t maxBoxes = 0;
  double slowest = 0;
  uint64_t slowestSeed = 0;
};

/// One random set, shape and size, and what went wrong with it.
class Case {
public:
  Case(MLIRContext &context, uint64_t seed, bool plainWindow)
      : seed(seed), random(context, seed, drawRank(seed, plainWindow)),
        formula(plainWindow ? random.window() : random.tree(3)) {
    rank = random.space.getQueryRank();
    int64_t most = rank == 1 ? 12 : rank == 2 ? 5 : 3;
    std::vector<int64_t> queries, keys;
    bool sameSize = random.draw(0, 1);
    for (unsigned axis = 0; axis < rank; ++axis) {
      shape.query.push_back(random.draw(1, most));
      shape.key.push_back(random.draw(0, 1) ? shape.query.back() : random.draw(1, most));
      queries.push_back(drawSize(shape.query.back()));
      keys.push_back(sameSize ? queries.back() : drawSize(shape.key.back()));
    }
    random.setSizes(queries, keys);
  }

  void check(Counts &counts);

private:
  static unsigned drawRank(uint64_t seed, bool plainWindow) {
    return plainWindow ? 1 : 1 + (seed % 10 >= 5) + (seed % 10 >= 8);
  }

  /// 0, 1, one less than a tile, a tile, one more, or a few tiles.
  int64_t drawSize(int64_t tile) {
    int64_t many = rank == 1 ? 4 : rank == 2 ? 3 : 2;
    int64_t sizes[] = {0, 1, tile - 1, tile, tile + 1, random.draw(tile, many * tile)};
    return sizes[std::min<int64_t>(random.draw(0, 9), 5)];
  }

  std::map<Tile, int> visits(ArrayRef<TileBox> boxes, const Tile &queryTile,
                             ArrayRef<int64_t> symbols) const {
    std::map<Tile, int> result;
    enumerateTiles(boxes, queryTile, symbols,
                   [&](ArrayRef<int64_t> tile) { ++result[Tile(tile.begin(), tile.end())]; });
    return result;
  }

  void checkQueryTile(const Footprint &footprint, const Tile &queryTile, Counts &counts);

  uint64_t seed;
  RandomFormula random;
  Formula formula;
  TileShape shape;
  unsigned rank = 1;
};

void Case::check(Counts &counts) {
  auto start = std::chrono::steady_clock::now();
  Footprint footprint = computeFootprint(formula, random.space, shape);
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (time.count() > counts.slowest) {
    counts.slowest = time.count();
    counts.slowestSeed = seed;
  }
  std::string text = "seed " + std::to_string(seed) + ": " + describe(formula);
  for (unsigned axis = 0; axis < rank; ++axis)
    text += "; axis " + std::to_string(axis) + ": tiles " + std::to_string(shape.query[axis]) +
            " x " + std::to_string(shape.key[axis]) + ", sizes " +
            std::to_string(random.querySizes[axis]) + " x " + std::to_string(random.keySizes[axis]);
  SCOPED_TRACE(text);
  ++counts.cases;
  bool bounded = !random.hasMonotone && !formula.hasOpaque();
  counts.bounded += bounded;
  counts.exact += bounded && footprint.exact;
  counts.maxBoxes = std::max({counts.maxBoxes, footprint.live.size(), footprint.partial.size()});
  std::vector<int64_t> tiles;
  for (unsigned axis = 0; axis < rank; ++axis)
    tiles.push_back(ceilDiv(random.querySizes[axis], shape.query[axis]));
  for (const Tile &queryTile : pointsOf(std::vector<int64_t>(rank, 0), tiles))
    checkQueryTile(footprint, queryTile, counts);
}

void Case::checkQueryTile(const Footprint &footprint, const Tile &queryTile, Counts &counts) {
  std::vector<int64_t> first, last, rows, allRows, keyTiles;
  for (unsigned axis = 0; axis < rank; ++axis) {
    first.push_back(queryTile[axis] * shape.query[axis]);
    last.push_back(std::min(first.back() + shape.query[axis], random.querySizes[axis]) - 1);
    rows.push_back(last.back() - first.back() + 1);
    allRows.push_back(shape.query[axis]);
    keyTiles.push_back(ceilDiv(random.keySizes[axis], shape.key[axis]));
  }
  std::vector<int64_t> symbols;
  for (const TileSymbol &symbol : footprint.symbols)
    symbols.push_back(
        random.valueOf(symbol.symbol, symbol.at == TileSymbol::At::LastRow ? last : first));

  std::map<Tile, int> live = visits(footprint.live, queryTile, symbols);
  std::map<Tile, int> full = visits(footprint.full, queryTile, symbols);
  std::map<Tile, int> partial = visits(footprint.partial, queryTile, symbols);
  for (const auto &[tile, count] : live)
    EXPECT_EQ(count, 1) << "a live tile is visited more than once";
  for (const auto &[tile, count] : full)
    EXPECT_TRUE(count == 1 && live.count(tile)) << "full tiles are not disjoint or not live";
  std::map<Tile, int> rest = live;
  for (const auto &[tile, count] : full)
    rest.erase(tile);
  EXPECT_EQ(partial, rest) << "partial is not live without full";

  for (const Tile &keyTile : pointsOf(std::vector<int64_t>(rank, 0), keyTiles)) {
    std::vector<int64_t> firstKey, keys;
    bool inside = true;
    for (unsigned axis = 0; axis < rank; ++axis) {
      firstKey.push_back(keyTile[axis] * shape.key[axis]);
      keys.push_back(std::min(shape.key[axis], random.keySizes[axis] - firstKey.back()));
      inside &= keys.back() == shape.key[axis];
    }
    bool some = false, all = true, allWithPadding = true;
    std::vector<Tile> keyPoints = pointsOf(firstKey, keys);
    for (const Tile &query : pointsOf(first, rows)) {
      for (const Tile &key : keyPoints) {
        bool pair = random.isLive(formula, query, key);
        some |= pair;
        all &= pair;
      }
    }
    bool isLive = live.erase(keyTile), isFull = full.count(keyTile);
    counts.liveTiles += isLive;
    counts.fullTiles += isFull;
    counts.extraTiles += isLive && !some;
    if (some)
      EXPECT_TRUE(isLive) << "a live tile is missed";
    if (footprint.exact)
      EXPECT_EQ(isLive, some) << "a tile without live pairs is visited";
    if (isFull)
      EXPECT_TRUE(all && inside) << "a tile with dead pairs or absent keys counts as full";
    if (!all || !inside || isFull)
      continue;
    // Rows past the end may count as if they were there.
    for (const Tile &query : pointsOf(first, allRows))
      for (const Tile &key : keyPoints)
        allWithPadding = allWithPadding && random.isLive(formula, query, key);
    counts.lostTiles += allWithPadding;
  }
  EXPECT_TRUE(live.empty()) << "a tile outside the grid is visited";
}

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Footprint, RandomSetsMatchBruteForce) {
  uint64_t cases = numberFrom("LACUNA_PROPERTY_CASES", 2000);
  uint64_t seed = numberFrom("LACUNA_PROPERTY_SEED", 20240229);
  llvm::outs() << "seed " << seed << ", " << cases << " cases\n";
  llvm::outs().flush();
  MLIRContext context;
  Counts counts;
  for (uint64_t index = 0; index < cases && !HasFailure(); ++index)
    Case(context, seed + index, /*plainWindow=*/false).check(counts);
  llvm::outs() << counts.exact << " of " << counts.bounded << " affine sets exact; "
               << counts.liveTiles << " live tiles, " << counts.extraTiles
               << " without live pairs; " << counts.fullTiles << " full, " << counts.lostTiles
               << " more counted as partial; "
               << "at most " << counts.maxBoxes << " boxes; slowest analysis "
               << llvm::formatv("{0:f1} ms, seed {1}\n", counts.slowest, counts.slowestSeed);
  // Exactness is a promise for every set that has nothing but affine atoms; the few exceptions are
  // systems that split into too many pieces.
  EXPECT_GE(counts.exact * 100, counts.bounded * 94);
}

TEST(Footprint, WindowsLoseNoFullTile) {
  MLIRContext context;
  Counts counts;
  for (uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed)
    Case(context, seed, /*plainWindow=*/true).check(counts);
  EXPECT_EQ(counts.exact, counts.cases);
  EXPECT_EQ(counts.lostTiles, 0u);
  EXPECT_GT(counts.fullTiles, 500u);
}

/// The least of a few runs, in milliseconds: other work on the machine does not count.
template <typename Function> double millisecondsOf(Function &&function) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    auto start = std::chrono::steady_clock::now();
    function();
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

TEST(Footprint, CausalWindowIsFast) {
  MLIRContext context;
  double time = millisecondsOf([&] {
    Block block;
    FormulaSpace space(&context, 1, 1);
    AffineExpr left =
        space.scalar(block.addArgument(IndexType::get(&context), UnknownLoc::get(&context)));
    AffineExpr distance = space.position(0, false) - space.key(0);
    Formula formula = Formula::between(space.constant(0), distance, left);
    Footprint footprint = computeFootprint(formula, space, {{64}, {64}});
    EXPECT_TRUE(footprint.exact);
    EXPECT_EQ(footprint.live.size(), 1u);
    EXPECT_EQ(footprint.full.size(), 1u);
    EXPECT_EQ(footprint.partial.size(), 2u);
  });
  RecordProperty("milliseconds", std::to_string(time));
  llvm::outs() << "causal window: " << time << " ms\n";
  EXPECT_LT(time, 20);
}

TEST(Footprint, ThreeAxisRadiusIsFast) {
  MLIRContext context;
  double time = millisecondsOf([&] {
    Block block;
    FormulaSpace space(&context, 3, 3);
    Formula formula = Formula::always();
    for (unsigned axis = 0; axis < 3; ++axis) {
      AffineExpr radius =
          space.scalar(block.addArgument(IndexType::get(&context), UnknownLoc::get(&context)));
      AffineExpr distance = space.query(axis) - space.key(axis);
      formula = formula & Formula::between(-radius, distance, radius);
    }
    Footprint footprint = computeFootprint(formula, space, {{4, 4, 8}, {4, 4, 8}});
    EXPECT_TRUE(footprint.exact);
    EXPECT_EQ(footprint.live.size(), 1u);
    EXPECT_EQ(footprint.full.size(), 1u);
  });
  llvm::outs() << "radius on three axes: " << time << " ms\n";
  EXPECT_LT(time, 100);
}

} // namespace
