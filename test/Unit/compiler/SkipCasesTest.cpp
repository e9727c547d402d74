//===- SkipCasesTest.cpp - blocks that are left out by their scores ---------===//
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseSpec.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using lacuna::test::Shape;
using lacuna::test::SpecRunner;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// The arguments of a spec, by their index.
static constexpr size_t queriesAt = 0, keysAt = 1, valuesAt = 2, limitsAt = 3;

/// Results: output, lse and, behind what the spec returns, marks.
static constexpr unsigned outputAt = 0, lseAt = 1, marksAt = 2;

/// A spec whose limits are an argument.
static Shape withLimits(const std::string &margin = "") {
  Shape shape;
  shape.arguments = ", %t: tensor<?x1x?xf32>";
  shape.clauses = " skip query [64] key [32] below %t : tensor<?x1x?xf32>" + margin;
  return shape;
}

static Shape withMargin(const std::string &margin) {
  Shape shape;
  shape.clauses = " skip query [64] key [32] margin " + margin;
  return shape;
}

TEST(SkipCases, nothingIsBelowMinusInfinity) {
  SpecRunner runner(withLimits().spec(test::causal));
  ASSERT_EQ(runner.run({{"b", "2"}, {"n", "200"}},
                       [](BoundSpec &spec) { fill(input(spec, limitsAt), -infinity); }),
            "");
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t column = 0; column < 7; ++column)
      EXPECT_EQ(runner.result(marksAt).at({1, 0, row, column}), column <= 2 * row + 1)
          << row << ' ' << column;
}

// Rows without a taken block are like rows without a live key.
TEST(SkipCases, everythingIsBelowInfinity) {
  SpecRunner runner(withLimits().spec(test::all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [](BoundSpec &spec) { fill(input(spec, limitsAt), infinity); }),
            "");
  for (double number : elements(runner.result(outputAt)))
    EXPECT_EQ(number, 0);
  for (double number : elements(runner.result(lseAt)))
    EXPECT_EQ(number, -infinity);
}

// Of 100 rows the last 36 are a block of their own.
TEST(SkipCases, oneRowKeepsABlock) {
  SpecRunner runner(withLimits().spec(test::all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, limitsAt), infinity);
                         input(spec, limitsAt).set({0, 0, 99}, -infinity);
                       }),
            "");
  for (int64_t column = 0; column < 4; ++column) {
    EXPECT_EQ(runner.result(marksAt).at({0, 0, 0, column}), 0);
    EXPECT_EQ(runner.result(marksAt).at({0, 0, 1, column}), 1);
  }
}

/// Scores that are the same in all rows: `score` of the key's number.
static void setScores(BoundSpec &spec, double (*score)(int64_t)) {
  fill(input(spec, queriesAt), 0);
  fill(input(spec, keysAt), 0);
  Tensor &queries = input(spec, queriesAt), &keys = input(spec, keysAt);
  for (int64_t row = 0; row < queries.shape[2]; ++row)
    queries.set({0, 0, row, 0}, 4);
  for (int64_t key = 0; key < keys.shape[2]; ++key)
    keys.set({0, 0, key, 0}, score(key));
}

// Descending blocks are left out once they are 2 below the first; ascending ones never are.
TEST(SkipCases, aMarginDependsOnTheOrder) {
  SpecRunner runner(withMargin("2.0").spec(test::all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "160"}},
                       [](BoundSpec &spec) {
                         setScores(spec, [](int64_t key) { return -0.75 * double(key / 32); });
                       }),
            "");
  for (int64_t column = 0; column < 5; ++column)
    EXPECT_EQ(runner.result(marksAt).at({0, 0, 0, column}), column < 3) << column;
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "160"}},
                       [](BoundSpec &spec) {
                         setScores(spec, [](int64_t key) { return 0.75 * double(key / 32); });
                       }),
            "");
  for (int64_t column = 0; column < 5; ++column)
    EXPECT_EQ(runner.result(marksAt).at({0, 0, 0, column}), 1) << column;
}

// Live keys lie in two runs; full tiles come between partial ones, and in order.
TEST(SkipCases, setsOfSeveralBoxes) {
  const char *sinks = "  %a = sparsity.window left(70) right(0)\n  %b = sparsity.prefix 40\n"
                      "  %c = sparsity.union %a, %b\n  %d = sparsity.causal\n"
                      "  %set = sparsity.intersect %c, %d";
  for (const char *margin : {"0.0", "0.5", "3.0"}) {
    SpecRunner runner(withMargin(margin).spec(sinks));
    ASSERT_EQ(runner.getMistake(), "");
    for (const char *n : {"0", "1", "64", "65", "300", "513"})
      EXPECT_EQ(runner.run({{"b", "1"}, {"n", n}}), "") << margin << ' ' << n;
    EXPECT_EQ(runner.run({{"b", "2"}, {"nq", "70"}, {"nk", "300"}}), "") << margin;
  }
}

// A query tile may hold several blocks; each is taken or not by itself.
TEST(SkipCases, severalBlocksInATile) {
  SpecRunner runner(withLimits(" margin 2.5").spec(test::causal), /*queryTile=*/192);
  ASSERT_EQ(runner.getMistake(), "");
  for (const char *n : {"1", "65", "200", "513"})
    EXPECT_EQ(runner.run({{"b", "2"}, {"n", n}},
                         [](BoundSpec &spec) {
                           Tensor &limits = input(spec, limitsAt);
                           fill(limits, -infinity);
                           for (int64_t row = 64; row < std::min<int64_t>(limits.shape[2], 128);
                                ++row)
                             limits.set({0, 0, row}, 3);
                         }),
              "")
        << n;
}

// Entries of a list come in an order of their own, so that the set is classified.
TEST(SkipCases, listsUnderAMargin) {
  Shape shape = withMargin("0.5");
  shape.arguments = ", %ids: tensor<?x1x?x?xi32>, %counts: tensor<?x1x?xi32>";
  const char *set = "  %set = sparsity.blocks %ids, %counts query [64] key [64] "
                    ": tensor<?x1x?x?xi32>, tensor<?x1x?xi32>";
  SpecRunner runner(shape.spec(set));
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_EQ(runner.run({{"b", "2"}, {"n", "500"}, {"ids", "50%"}}), "");
  // And is walked under limits, which have no order.
  shape.arguments += ", %t: tensor<?x1x?xf32>";
  shape.clauses = " skip query [64] key [32] below %t : tensor<?x1x?xf32>";
  SpecRunner limited(shape.spec(set));
  ASSERT_EQ(limited.getMistake(), "");
  EXPECT_EQ(limited.run({{"b", "2"}, {"n", "500"}, {"ids", "50%"}},
                        [](BoundSpec &spec) { fill(input(spec, 5), 1.5); }),
            "");
}

TEST(SkipCases, bothRulesASinkAndAScore) {
  Shape shape = withLimits(" margin 1.0 score (%s, %b, %h, %i, %j) {\n    %x = math.tanh %s : f32\n"
                           "    attn.yield %x : f32\n  }");
  shape.arguments += ", %sinks: tensor<1xf32>";
  shape.clauses = " sinks %sinks : tensor<1xf32>" + shape.clauses;
  SpecRunner runner(shape.spec(test::causal));
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_EQ(runner.run({{"b", "2"}, {"n", "333"}},
                       [](BoundSpec &spec) { fill(input(spec, limitsAt), 0.9); }),
            "");
}

// Nothing of a block that is left out reaches a row; NaN in a key keeps its block.
TEST(SkipCases, notANumber) {
  SpecRunner runner(withLimits().spec(test::all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "64"}},
                       [](BoundSpec &spec) {
                         setScores(spec, [](int64_t key) { return key < 32 ? -1.0 : 1.0; });
                         fill(input(spec, limitsAt), 0);
                         input(spec, valuesAt).set({0, 0, 3, 0}, std::nan(""));
                       }),
            "");
  for (double number : elements(runner.result(outputAt)))
    EXPECT_FALSE(std::isnan(number));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "64"}},
                       [](BoundSpec &spec) {
                         setScores(spec, [](int64_t key) { return key < 32 ? -1.0 : 1.0; });
                         fill(input(spec, limitsAt), 0);
                         input(spec, keysAt).set({0, 0, 3, 0}, std::nan(""));
                       }),
            "");
  EXPECT_TRUE(std::isnan(runner.result(outputAt).at({0, 0, 0, 0})));
}

TEST(SkipCases, limitsOfAnotherShape) {
  SpecRunner runner(withLimits().spec(test::all));
  EXPECT_THAT(
      runner.run({{"b", "1"}, {"n", "64"}, {"t", "1x1x63"}}),
      testing::HasSubstr("expected 'q' to have nq = 63 like the arguments before it, got 64"));
  EXPECT_THAT(runner.run({{"b", "1"}, {"n", "64"}},
                         [](BoundSpec &spec) { input(spec, limitsAt).shape[2] = 63; }),
              testing::HasSubstr("expected a limit per row of the query, got 63 and 64"));
}
