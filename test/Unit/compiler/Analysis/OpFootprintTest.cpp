//===- OpFootprintTest.cpp - tiles of set ops against brute force ---------===//
#include "CheckFootprint.h"

#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace lacuna;
using namespace lacuna::sparsity;
using namespace lacuna::test;
using namespace mlir;

namespace {

/// A set as a user writes it, over a sequence, a grid of two axes (%g2) or of three (%g3); %a and
/// %b are run-time numbers. Sets whose symbols are monotone are tested with random formulas
/// instead: their values need the op's own code.
struct Spec {
  const char *name, *text;
  unsigned rank = 1;
};

const Spec specs[] = {
    {"streaming", "%w = sparsity.window left(%a) right(0)\n %p = sparsity.prefix 2\n"
                  "%u = sparsity.union %w, %p\n %c = sparsity.causal\n"
                  "%set = sparsity.intersect %u, %c"},
    {"dilated", "%set = sparsity.dilated left(%a) right(2) step(3)"},
    {"stride", "%set = sparsity.stride 5"},
    {"blockDiagonal", "%set = sparsity.block_diagonal 6"},
    {"blockDiagonalFromStart", "%set = sparsity.block_diagonal 7 from_start"},
    {"prefixLm", "%p = sparsity.prefix %a\n %c = sparsity.causal\n %set = sparsity.union %p, %c"},
    {"affine",
     "%set = sparsity.affine affine_set<(i, j)[w] : ((i - j) mod 4 == 0, w - i + j >= 0)> "
     "[%a]"},
    {"fenwick", "%set = sparsity.dyadic fenwick base 2 levels 4"},
    {"distance", "%set = sparsity.dyadic distance base 2 levels 4 causal"},
    {"distanceOneLevel", "%set = sparsity.dyadic distance base 2 only [-1, 1] causal"},
    {"complement", "%w = sparsity.window left(3) right(%a)\n %set = sparsity.complement %w"},
    {"radius2d", "%set = sparsity.radius [2, %a] in %g2 : !sparsity.domain<2>", 2},
    {"radius2dL1", "%set = sparsity.radius [3] norm(l1) in %g2 : !sparsity.domain<2>", 2},
    {"radius2dDilated",
     "%set = sparsity.radius [1, 2] dilation [2, 1] in %g2 : !sparsity.domain<2>", 2},
    {"bands", "%set = sparsity.bands 4 levels 3 in %g2 : !sparsity.domain<2>", 2},
    {"radius3d", "%set = sparsity.radius [1, 2, %a] in %g3 : !sparsity.domain<3>", 3},
    {"blocks3d", "%set = sparsity.block_diagonal [2, 3, 2] in %g3 : !sparsity.domain<3>", 3},
};

class OpFootprint : public testing::TestWithParam<Spec> {
protected:
  OpFootprint() {
    context.loadDialect<func::FuncDialect, SparsityDialect, arith::ArithDialect>();
    std::string text = "func.func @f(%a: index, %b: index, %n: index) {\n"
                       "%g2 = sparsity.grid [%n, %n]\n %g3 = sparsity.grid [%n, %n, %n]\n";
    text += std::string(GetParam().text) + "\n return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      module->walk([&](SetOpInterface op) { set = op->getResult(0); });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Value set;
};

TEST_P(OpFootprint, matchesBruteForce) {
  ASSERT_TRUE(set) << "the set does not parse";
  unsigned rank = GetParam().rank;
  SetValues values(context, rank);
  FailureOr<Formula> formula = buildFormula(set, values.space);
  ASSERT_TRUE(succeeded(formula));
  Counts counts;
  int64_t sizes[] = {0, 1, 6, 7, rank == 1 ? 33 : rank == 2 ? 9 : 5};
  for (int64_t tile : {1, 2, 7}) {
    TileShape shape{SmallVector<int64_t>(rank, rank == 3 ? std::min<int64_t>(tile, 3) : tile),
                    SmallVector<int64_t>(rank, rank == 3 ? 2 : tile)};
    Footprint footprint = computeFootprint(*formula, values.space, shape);
    EXPECT_TRUE(footprint.exact) << "tiles of " << tile;
    for (int64_t queries : sizes) {
      for (int64_t keys : {queries, queries + 4}) {
        // A grid is the same for queries and keys.
        if (rank > 1 && keys != queries)
          continue;
        values.setSizes(
            SmallVector<int64_t>(rank, queries), SmallVector<int64_t>(rank, keys),
            [&](const Symbol &symbol) {
              return cast<BlockArgument>(symbol.value).getArgNumber() == 2 ? queries : 3;
            },
            [](int64_t rows) { return std::vector<int64_t>(rows); });
        checkFootprint(footprint, values, *formula, shape, counts);
      }
    }
  }
  EXPECT_GT(counts.liveTiles, 0u);
}

TEST_P(OpFootprint, isFast) {
  ASSERT_TRUE(set) << "the set does not parse";
  unsigned rank = GetParam().rank;
  FormulaSpace space(&context, rank, rank);
  FailureOr<Formula> formula = buildFormula(set, space);
  ASSERT_TRUE(succeeded(formula));
  TileShape shape{SmallVector<int64_t>(rank, rank == 1 ? 64 : rank == 2 ? 8 : 4), {}};
  shape.key = shape.query;
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    auto start = std::chrono::steady_clock::now();
    Footprint footprint = computeFootprint(*formula, space, shape);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  EXPECT_LT(best, 100 * slowdown);
}

INSTANTIATE_TEST_SUITE_P(Sets, OpFootprint, testing::ValuesIn(specs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
