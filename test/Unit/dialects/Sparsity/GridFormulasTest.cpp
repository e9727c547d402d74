//===- GridFormulasTest.cpp - grid sets against their definitions ---------===//
#include "test/Support/SetExpectation.h"

using namespace lacuna::test;

static const std::vector<std::vector<int64_t>> planes = {{0, 5}, {1, 1}, {3, 7}, {9, 4}};

/// A set on a grid of two axes.
static SetEvaluator plane(const std::string &arguments, const std::string &op) {
  return {arguments, "%g = sparsity.grid [8, 8]\n%s = " + op + " in %g : !sparsity.domain<2>"};
}

/// NATTEN's neighbourhood by its own words: sort the keys of the residue, find the window of 2 r +
/// 1 around the query, and move it into the list.
static bool inShifted(int64_t x, int64_t y, int64_t radius, int64_t dilation, int64_t size) {
  std::vector<int64_t> group;
  for (int64_t unit = x % dilation; unit < size; unit += dilation)
    group.push_back(unit);
  int64_t count = group.size(), width = std::min(2 * radius + 1, count);
  int64_t start = std::clamp<int64_t>(x / dilation - radius, 0, count - width);
  auto first = group.begin() + start;
  return std::find(first, first + width, y) != first + width;
}

TEST(GridFormulas, causalIsTheOrderOfTokens) {
  SetEvaluator set = plane("", "sparsity.causal");
  for (const auto &sizes : planes)
    EXPECT_TRUE(agreesOnGrid(set, sizes, 1, [&](const TestPair &p) {
      return p.key[0] * sizes[1] + p.key[1] <= p.query[0] * sizes[1] + p.query[1];
    }));
  SetEvaluator cube("", "%g = sparsity.grid [2, 3, 4]\n"
                        "%s = sparsity.causal in %g : !sparsity.domain<3>");
  EXPECT_TRUE(agreesOnGrid(cube, {2, 3, 4}, 1, [](const TestPair &p) { return p.key <= p.query; }));
}

TEST(GridFormulas, blockDiagonalPerAxis) {
  SetEvaluator set = plane("%n: index", "sparsity.block_diagonal [2, %n]");
  for (const auto &sizes : planes)
    EXPECT_TRUE(agreesOnGrid(set.with(0, 3), sizes, 1, [](const TestPair &p) {
      return p.query[0] / 2 == p.key[0] / 2 && p.query[1] / 3 == p.key[1] / 3;
    }));
}

TEST(GridFormulas, radiusClip) {
  SetEvaluator set =
      plane("%r: index, %h: tensor<?xi32>", "sparsity.radius [%r, %h : tensor<?xi32>]");
  for (int64_t r : {-1, 0, 2, 20})
    for (const auto &sizes : planes)
      EXPECT_TRUE(agreesOnGrid(set.with(0, r).with(1, {1, 0}), sizes, 2, [&](const TestPair &p) {
        return std::abs(p.query[0] - p.key[0]) <= r &&
               std::abs(p.query[1] - p.key[1]) <= (p.head == 0 ? 1 : 0);
      }));
}

TEST(GridFormulas, radiusCausalAxisDilationAndUnit) {
  SetEvaluator set = plane("", "sparsity.radius [1, 2] causal [1] dilation [1, 2] unit [3, 1]");
  for (const auto &sizes : planes)
    EXPECT_TRUE(agreesOnGrid(set, sizes, 1, [](const TestPair &p) {
      int64_t d = p.query[1] - p.key[1];
      return std::abs(p.query[0] / 3 - p.key[0] / 3) <= 1 && d % 2 == 0 && 0 <= d && d <= 4;
    }));
}

TEST(GridFormulas, radiusShiftKeepsItsSize) {
  SetEvaluator set = plane("%r: index", "sparsity.radius [1, %r] border(shift) dilation [2, 1]");
  for (int64_t r : {0, 1, 2, 9})
    for (const auto &sizes : planes) {
      EXPECT_TRUE(agreesOnGrid(set.with(0, r), sizes, 1, [&](const TestPair &p) {
        return inShifted(p.query[0], p.key[0], 1, 2, sizes[0]) &&
               inShifted(p.query[1], p.key[1], r, 1, sizes[1]);
      }));
      EXPECT_TRUE(neverDecreases(set, sizes, sizes, 1));
    }
  EXPECT_TRUE(agreesOnGrid(set.with(0, -1), {3, 7}, 1, [](const TestPair &) { return false; }));
}

TEST(GridFormulas, radiusShiftOverUnits) {
  SetEvaluator set = plane("", "sparsity.radius [1, 1] border(shift) unit [2, 3]");
  for (const auto &sizes : {std::vector<int64_t>{9, 10}, {4, 12}, {1, 2}})
    EXPECT_TRUE(agreesOnGrid(set, sizes, 1, [&](const TestPair &p) {
      return inShifted(p.query[0] / 2, p.key[0] / 2, 1, 1, (sizes[0] + 1) / 2) &&
             inShifted(p.query[1] / 3, p.key[1] / 3, 1, 1, (sizes[1] + 2) / 3);
    }));
}

TEST(GridFormulas, radiusShiftOnACausalAxisEndsAtTheQuery) {
  SetEvaluator set = plane("%r: index", "sparsity.radius [%r, 20] border(shift) causal [0]");
  for (int64_t r : {-1, 0, 1, 3})
    EXPECT_TRUE(agreesOnGrid(set.with(0, r), {9, 4}, 1, [&](const TestPair &p) {
      int64_t d = p.query[0] - p.key[0];
      return 0 <= d && d <= 2 * r;
    }));
}

TEST(GridFormulas, radiusOfOtherNorms) {
  for (const char *norm : {"l1", "l2"}) {
    std::string options = std::string(" norm(") + norm + ") causal [0] unit [1, 2]";
    auto expected = [&](int64_t r) {
      return [&, r](const TestPair &p) {
        int64_t a = p.query[0] - p.key[0], b = p.query[1] / 2 - p.key[1] / 2;
        bool near = std::string(norm) == "l1" ? std::abs(a) + std::abs(b) <= r
                                              : r >= 0 && a * a + b * b <= r * r;
        return near && a >= 0;
      };
    };
    SetEvaluator constant = plane("", "sparsity.radius 3" + options);
    SetEvaluator variable = plane("%r: index", "sparsity.radius %r" + options);
    EXPECT_TRUE(agreesOnGrid(constant, {9, 11}, 1, expected(3)));
    for (int64_t r : {-2, 0, 4})
      EXPECT_TRUE(agreesOnGrid(variable.with(0, r), {7, 9}, 1, expected(r)));
  }
}

TEST(GridFormulas, bandsHalveWhenTheDistanceDoubles) {
  SetEvaluator set = plane("%w: index", "sparsity.bands %w levels 3 near 2");
  for (int64_t w : {-1, 0, 1, 5, 9})
    EXPECT_TRUE(agreesOnGrid(set.with(0, w), {20, 6}, 1, [&](const TestPair &p) {
      int64_t frames = std::abs(p.query[0] - p.key[0]);
      int64_t width = w;
      for (int64_t reach = 4; frames >= reach; reach *= 2)
        width = reach == 16 ? -1 : width >> 1;
      return std::abs(p.query[1] - p.key[1]) <= width && width >= 0;
    }));
}
