//===- FootprintTest.cpp - boxes of key tiles against brute force ---------===//
#include "compiler/Analysis/Footprint.h"

#include "CheckFootprint.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace lacuna::test;
using namespace mlir;

namespace {

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
    random.drawValues(queries, keys);
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
  checkFootprint(footprint, random, formula, shape, counts);
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
  // The others combine several remainders and quotients, and are given up for a superset when they
  // take too much work. Sets as ops make them are exact; see OpFootprintTest.
  EXPECT_GE(counts.exact * 100, counts.bounded * 90);
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
  EXPECT_LT(time, 20 * slowdown);
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
  EXPECT_LT(time, 100 * slowdown);
}

} // namespace
