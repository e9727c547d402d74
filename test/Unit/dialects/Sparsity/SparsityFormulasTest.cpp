//===- SparsityFormulasTest.cpp - sequence sets against their definitions -===//
#include "test/Support/SetExpectation.h"

using namespace lacuna::test;

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Heads in these tests, and a number for each.
static const std::vector<int64_t> perHead = {0, 3, 1};

TEST(SparsityFormulas, allAndNone) {
  SetEvaluator all("", "%s = sparsity.all");
  EXPECT_TRUE(agreesOnSequences(all, 1, [](const TestPair &) { return true; }));
  SetEvaluator none("", "%s = sparsity.none");
  EXPECT_TRUE(agreesOnSequences(none, 1, [](const TestPair &) { return false; }));
}

TEST(SparsityFormulas, causalWithBothAlignments) {
  SetEvaluator end("", "%s = sparsity.causal");
  EXPECT_TRUE(
      agreesOnSequences(end, 1, [](const TestPair &p) { return p.key[0] <= p.position(); }));
  SetEvaluator start("", "%s = sparsity.causal from_start");
  EXPECT_TRUE(
      agreesOnSequences(start, 1, [](const TestPair &p) { return p.key[0] <= p.query[0]; }));
}

TEST(SparsityFormulas, windowEndsAreInclusiveAndMayBeNegative) {
  SetEvaluator both("%w: index", "%s = sparsity.window left(%w) right(0)");
  for (int64_t w : {-1, 0, 1, 5, 100})
    EXPECT_TRUE(agreesOnSequences(both.with(0, w), 1, [&](const TestPair &p) {
      int64_t d = p.position() - p.key[0];
      return 0 <= d && d <= w;
    }));
  SetEvaluator past("", "%s = sparsity.window left(6) right(-2) from_start");
  EXPECT_TRUE(agreesOnSequences(past, 1, [](const TestPair &p) {
    int64_t d = p.query[0] - p.key[0];
    return 2 <= d && d <= 6;
  }));
  SetEvaluator open("", "%s = sparsity.window right(3)");
  EXPECT_TRUE(
      agreesOnSequences(open, 1, [](const TestPair &p) { return p.key[0] - p.position() <= 3; }));
}

TEST(SparsityFormulas, windowPerHead) {
  SetEvaluator set("%w: tensor<?xi32>", "%s = sparsity.window left(%w : tensor<?xi32>) right(1)");
  EXPECT_TRUE(agreesOnSequences(set.with(0, perHead), 3, [](const TestPair &p) {
    int64_t d = p.position() - p.key[0];
    return -1 <= d && d <= perHead[p.head];
  }));
}

// Four keys before, the query, three after.
TEST(SparsityFormulas, evenWindow) {
  SetEvaluator set("", "%s = sparsity.window left(4) right(3)");
  TestPair pair{{10}, {0}, {30}, {30}};
  int live = 0;
  for (pair.key[0] = 0; pair.key[0] < 30; ++pair.key[0])
    live += set.predicate(pair);
  EXPECT_EQ(live, 8);
}

TEST(SparsityFormulas, prefixAndSuffix) {
  SetEvaluator prefix("%n: index", "%s = sparsity.prefix %n");
  SetEvaluator suffix("%n: tensor<?xindex>", "%s = sparsity.suffix %n : tensor<?xindex>");
  for (int64_t n : {-1, 0, 1, 4, 50})
    EXPECT_TRUE(
        agreesOnSequences(prefix.with(0, n), 1, [&](const TestPair &p) { return p.key[0] < n; }));
  EXPECT_TRUE(agreesOnSequences(suffix.with(0, perHead), 3, [](const TestPair &p) {
    return p.key[0] >= p.keySizes[0] - perHead[p.head];
  }));
}

TEST(SparsityFormulas, rowsColumnsAndSlashes) {
  SetEvaluator rows("", "%s = sparsity.rows [5, 0, -2, 1, 5]");
  EXPECT_TRUE(agreesOnSequences(rows, 1, [](const TestPair &p) {
    int64_t i = p.position();
    return i == 5 || i == 0 || i == -2 || i == 1;
  }));
  SetEvaluator first("", "%s = sparsity.rows 3 from_start");
  EXPECT_TRUE(agreesOnSequences(first, 1, [](const TestPair &p) { return p.query[0] < 3; }));
  SetEvaluator columns("", "%s = sparsity.columns [3, 17, 4]");
  EXPECT_TRUE(agreesOnSequences(columns, 1, [](const TestPair &p) {
    return p.key[0] == 3 || p.key[0] == 4 || p.key[0] == 17;
  }));
  SetEvaluator slashes("", "%s = sparsity.slashes [0, 6, -1]");
  EXPECT_TRUE(agreesOnSequences(slashes, 1, [](const TestPair &p) {
    int64_t d = p.position() - p.key[0];
    return d == 0 || d == 6 || d == -1;
  }));
}

TEST(SparsityFormulas, strideOfConstantsAndOfRunTimeNumbers) {
  auto expected = [](int64_t s) {
    return
        [s](const TestPair &p) { return (p.position() - p.key[0]) % std::max<int64_t>(s, 1) == 0; };
  };
  SetEvaluator constant("", "%s = sparsity.stride 3");
  EXPECT_TRUE(agreesOnSequences(constant, 1, expected(3)));
  SetEvaluator variable("%n: index", "%s = sparsity.stride %n");
  for (int64_t s : {-1, 0, 1, 4})
    EXPECT_TRUE(agreesOnSequences(variable.with(0, s), 1, expected(s)));
}

TEST(SparsityFormulas, dilatedWindowsCountKeys) {
  auto expected = [](int64_t left, int64_t right, int64_t step) {
    return [=](const TestPair &p) {
      int64_t d = p.position() - p.key[0];
      return d % step == 0 && -right <= d / step && d / step <= left;
    };
  };
  SetEvaluator constant("%l: index", "%s = sparsity.dilated left(%l) right(1) step(4)");
  for (int64_t left : {-1, 0, 2})
    EXPECT_TRUE(agreesOnSequences(constant.with(0, left), 1, expected(left, 1, 4)));
  SetEvaluator variable("%l: index, %n: index", "%s = sparsity.dilated left(%l) right(2) step(%n)");
  for (int64_t step : {0, 1, 3}) {
    variable.with(0, 2).with(1, step);
    EXPECT_TRUE(agreesOnSequences(variable, 1, expected(2, 2, std::max<int64_t>(step, 1))));
    EXPECT_TRUE(neverDecreases(variable, {13}, {20}, 1));
  }
  SetEvaluator open("", "%s = sparsity.dilated right(0) step(5)");
  EXPECT_TRUE(agreesOnSequences(open, 1, expected(1000, 0, 5)));
}

TEST(SparsityFormulas, blockDiagonal) {
  auto expected = [](int64_t n) {
    return [n](const TestPair &p) { return floorDiv(p.position(), n) == floorDiv(p.key[0], n); };
  };
  SetEvaluator constant("", "%s = sparsity.block_diagonal 4");
  EXPECT_TRUE(agreesOnSequences(constant, 1, expected(4)));
  SetEvaluator variable("%n: index", "%s = sparsity.block_diagonal %n");
  for (int64_t n : {-3, 0, 1, 5, 100}) {
    EXPECT_TRUE(agreesOnSequences(variable.with(0, n), 1, expected(std::max<int64_t>(n, 1))));
    EXPECT_TRUE(neverDecreases(variable, {13}, {7}, 1));
  }
}

TEST(SparsityFormulas, affineSetsOfTheUser) {
  SetEvaluator band(
      "%w: index",
      "%s = sparsity.affine affine_set<(i, j)[w] : (i - j >= 0, w - i + j >= 0)> [%w]");
  EXPECT_TRUE(agreesOnSequences(band.with(0, 4), 1, [](const TestPair &p) {
    int64_t d = p.position() - p.key[0];
    return 0 <= d && d <= 4;
  }));
  SetEvaluator mixed("", "%s = sparsity.affine affine_set<(i, j)[w] : (i floordiv 2 - j mod 3 - w "
                         "== 0)> [-1] from_start");
  EXPECT_TRUE(agreesOnSequences(
      mixed, 1, [](const TestPair &p) { return p.query[0] / 2 - p.key[0] % 3 == -1; }));
  SetEvaluator across("", "%s = sparsity.affine affine_set<(i, a, b) : (i - a - 2 * b >= 0)> : "
                          "!sparsity.set<1 to 2>");
  EXPECT_TRUE(agrees(across, {9}, {3, 4}, 1,
                     [](const TestPair &p) { return p.query[0] >= p.key[0] + 2 * p.key[1]; }));
}

TEST(SparsityFormulas, whereSeesBatchHeadPositionAndKey) {
  SetEvaluator set("%c: tensor<?xi32>", R"(
    %s = sparsity.where (%b, %h, %i, %j) {
      %color = tensor.extract %c[%h] : tensor<?xi32>
      %number = arith.index_cast %color : i32 to index
      %sum = arith.addi %i, %j : index
      %live = arith.cmpi sge, %sum, %number : index
      sparsity.yield %live : i1
    })");
  EXPECT_TRUE(agreesOnSequences(set.with(0, {4, -1, 20}), 3, [](const TestPair &p) {
    return p.position() + p.key[0] >= std::vector<int64_t>{4, -1, 20}[p.head];
  }));
}
