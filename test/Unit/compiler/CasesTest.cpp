//===- CasesTest.cpp - failures that others met, with the right value -----===//
//
// Each test is named by what was reported and carries the report's number from
// the collection this project keeps; groups: A empty rows and log-sum-exp,
// B lengths beside the tile, C zero sizes, D windows, E heads.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/Random.h"
#include "lib/Support/Walk.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseSpec.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::test;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// A: empty rows, log-sum-exp, sinks
//===----------------------------------------------------------------------===//

TEST(Cases, A4_noKeysAtAll) {
  SpecRunner runner(Shape().spec(all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "5"}, {"nk", "0"}}), "");
  EXPECT_THAT(elements(runner.result(0)), testing::Each(0));
  EXPECT_THAT(elements(runner.result(1)), testing::Each(-infinity));
}

TEST(Cases, A5_moreQueriesThanKeysUnderACausalMask) {
  Shape shape;
  shape.type = "bf16";
  SpecRunner runner(shape.spec(causal));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "100"}, {"nk", "70"}}), "");
  EXPECT_EQ(runner.result(1).at({0, 0, 29}), -infinity);
  EXPECT_EQ(runner.result(0).at({0, 0, 29, 3}), 0);
  EXPECT_TRUE(std::isfinite(runner.result(1).at({0, 0, 30})));
}

/// Inputs whose every raw score is -524288 and whose values are `value`.
static void makeScoresHuge(BoundSpec &spec, double value) {
  fill(input(spec, 0), 64);
  fill(input(spec, 1), -64);
  fill(input(spec, 2), value);
}

TEST(Cases, A7_twoKeysWithHugeNegativeScores) {
  Shape shape;
  shape.channels = 128;
  SpecRunner runner(shape.spec(all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "2"}},
                       [](BoundSpec &spec) { makeScoresHuge(spec, 1); }),
            "");
  EXPECT_EQ(runner.result(0).at({0, 0, 0, 0}), 1);
  EXPECT_NEAR(runner.result(1).at({0, 0, 0}), -46340.26, 0.01);
}

TEST(Cases, A8_oneKeyWithAHugeNegativeScore) {
  Shape shape;
  shape.channels = 128;
  SpecRunner runner(shape.spec(all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "1"}},
                       [](BoundSpec &spec) { makeScoresHuge(spec, 0.75); }),
            "");
  EXPECT_EQ(runner.result(0).at({0, 0, 0, 0}), 0.75);
  EXPECT_NEAR(runner.result(1).at({0, 0, 0}), -66855.86 * std::log(2), 0.01);
}

TEST(Cases, A10_oneQueryBlockWithoutKeys) {
  SpecRunner runner(Shape().spec(R"(
  %all = sparsity.all
  %block = sparsity.affine affine_set<(i, j) : (i - 64 >= 0, 127 - i >= 0)>
  %set = sparsity.subtract %all, %block)"));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}), "");
  EXPECT_EQ(runner.result(1).at({0, 0, 64}), -infinity);
  EXPECT_EQ(runner.result(0).at({0, 0, 127, 0}), 0);
  EXPECT_NE(runner.result(0).at({0, 0, 63, 0}), 0);
  EXPECT_NE(runner.result(0).at({0, 0, 128, 0}), 0);
}

TEST(Cases, A13_theLseIsANaturalLogarithm) {
  SpecRunner runner(Shape().spec(all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "8"}}, [](BoundSpec &spec) { fill(input(spec, 0), 0); }),
            "");
  EXPECT_NEAR(runner.result(1).at({0, 0, 3}), std::log(8), 1e-6);
}

/// Two heads with sinks.
static Shape withSinks() {
  Shape shape;
  shape.queryHeads = 2;
  shape.keyHeads = 2;
  shape.arguments = ", %sinks: tensor<2xf32>";
  shape.clauses = " sinks %sinks : tensor<2xf32>";
  return shape;
}

TEST(Cases, A14_aSinkOverNoUsedKeys) {
  SpecRunner runner(withSinks().spec("  %set = sparsity.prefix 0"));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "3"}, {"nk", "128"}, {"sinks", "0.5:0.5"}}), "");
  EXPECT_THAT(elements(runner.result(0)), testing::Each(0));
  EXPECT_THAT(elements(runner.result(1)), testing::Each(0.5));
}

TEST(Cases, A16_leadingEmptyRowsWithSinksAndWideHeads) {
  Shape shape = withSinks();
  shape.channels = shape.valueChannels = 512;
  SpecRunner runner(shape.spec(causal));
  // Fourteen queries stand before the first key.
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "40"}, {"nk", "26"}, {"sinks", "0.5:-1"}}), "");
  for (int64_t row = 0; row < 14; ++row) {
    EXPECT_EQ(runner.result(0).at({0, 1, row, 511}), 0);
    EXPECT_EQ(runner.result(1).at({0, 1, row}), -1);
  }
  EXPECT_NE(runner.result(0).at({0, 1, 14, 511}), 0);
}

TEST(Cases, A17_aSinkAndNoFiniteScore) {
  Shape shape = withSinks();
  shape.clauses += R"( score (%s, %b, %h, %i, %j) {
    %never = arith.constant 0xFF800000 : f32
    attn.yield %never : f32
  })";
  SpecRunner runner(shape.spec(all));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "9"}, {"sinks", "0.5:2"}}), "");
  EXPECT_EQ(runner.result(1).at({0, 0, 4}), 0.5);
  EXPECT_EQ(runner.result(1).at({0, 1, 4}), 2);
  EXPECT_EQ(runner.result(0).at({0, 1, 4, 0}), 0);
}

TEST(Cases, A19_mergingEmptyParts) {
  SpecRunner runner(R"(
func.func @parts(%q: tensor<?x2x?x16xf32>, %k: tensor<?x2x?x16xf32>, %left: index, %count: index)
    -> (tensor<?x2x?x16xf32>, tensor<?x2x?xf32>) {
  %near = sparsity.window left(%left) right(0)
  %first = sparsity.prefix %count
  %far = sparsity.subtract %first, %near
  %o0, %lse0 = attn.attend %q, %k, %k over %near
    : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
      -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
  %o1, %lse1 = attn.attend %q, %k, %k over %far
    : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
      -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
  %o, %lse = attn.merge (%o0, %lse0), (%o1, %lse1) : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
}
)");
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "70"}, {"left", "-1"}, {"count", "0"}}), "");
  EXPECT_THAT(elements(runner.result(0)), testing::Each(0));
  EXPECT_THAT(elements(runner.result(1)), testing::Each(-infinity));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "70"}, {"left", "5"}, {"count", "0"}}), "");
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "70"}, {"left", "-1"}, {"count", "9"}}), "");
  EXPECT_EQ(runner.run({{"b", "2"}, {"n", "70"}, {"left", "20"}, {"count", "33"}}), "");
}

//===----------------------------------------------------------------------===//
// B: lengths beside the tile
//===----------------------------------------------------------------------===//

TEST(Cases, B1_causalOfLength137) {
  SpecRunner runner(Shape().spec(causal));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "137"}}), "");
}

TEST(Cases, B2_keysThatAreNoMultipleOfTheTile) {
  SpecRunner runner(Shape().spec(all));
  for (const char *keys : {"1", "31", "33", "63", "65", "127", "129", "200"})
    EXPECT_EQ(runner.run({{"b", "1"}, {"nq", "64"}, {"nk", keys}}), "") << keys;
}

TEST(Cases, B4_tailKeysHaveNoWeight) {
  // Scores are negative throughout: a tail key of zeros would win.
  SpecRunner runner(Shape().spec("  %set = sparsity.block_diagonal 64"));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, 0), 1);
                         fill(input(spec, 1), -1);
                       }),
            "");
}

TEST(Cases, B5_everyCallGivesTheSameBits) {
  Shape shape;
  shape.queryHeads = shape.keyHeads = 24;
  shape.channels = shape.valueChannels = 32;
  SpecRunner runner(shape.spec("  %set = sparsity.window left(127) right(0)"));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "4092"}}), "");
  std::vector<double> first = elements(runner.result(0));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "4092"}}), "");
  EXPECT_EQ(first, elements(runner.result(0)));
}

TEST(Cases, B10_lastBlockOfFourTokens) {
  SpecRunner runner(Shape().spec("  %set = sparsity.block_diagonal 128"));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "64260"}}), "");
}

TEST(Cases, B11_exactMultiplesAndSeveralBatches) {
  SpecRunner runner(Shape().spec(causal));
  for (const char *length : {"64", "128", "256"})
    EXPECT_EQ(runner.run({{"b", "3"}, {"n", length}}), "") << length;
}

TEST(Cases, B13_queriesThatAreNoMultipleOf32) {
  SpecRunner runner(Shape().spec(all));
  for (const char *queries : {"1", "31", "33", "47", "95"})
    EXPECT_EQ(runner.run({{"b", "1"}, {"nq", queries}, {"nk", "64"}}), "") << queries;
}

//===----------------------------------------------------------------------===//
// C: zero sizes
//===----------------------------------------------------------------------===//

/// Heads and channels of packed documents under a causal mask.
static Shape packed(int64_t queryHeads, int64_t keyHeads, int64_t channels) {
  Shape shape;
  shape.queryHeads = queryHeads;
  shape.keyHeads = keyHeads;
  shape.channels = shape.valueChannels = channels;
  shape.arguments = ", %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>";
  return shape;
}

static const char *const documents =
    "  %set = sparsity.documents %cu_q, %cu_k causal : tensor<?xi32>, tensor<?xi32>";

TEST(Cases, C1_documentsWithoutQueriesOrKeys) {
  SpecRunner runner(packed(9, 3, 64).spec(documents));
  EXPECT_EQ(
      runner.run({{"b", "1"}, {"nq", "2"}, {"nk", "8"}, {"cu_q", "0:1:1:2"}, {"cu_k", "0:3:3:8"}}),
      "");
  // Queries of a document without keys are empty rows.
  ASSERT_EQ(
      runner.run({{"b", "1"}, {"nq", "2"}, {"nk", "3"}, {"cu_q", "0:1:1:2"}, {"cu_k", "0:3:3:3"}}),
      "");
  EXPECT_EQ(runner.result(1).at({0, 8, 1}), -infinity);
}

TEST(Cases, C2_oneTokenInFourDocuments) {
  SpecRunner runner(packed(21, 7, 120).spec(documents));
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "1"}, {"cu_q", "0:0:0:0:1"}, {"cu_k", "0:0:0:0:1"}}), "");
  EXPECT_TRUE(std::isfinite(runner.result(1).at({0, 20, 0})));
}

TEST(Cases, C4_noQueriesNoBatchAndOffsetsOfZeros) {
  SpecRunner dense(Shape().spec(all));
  ASSERT_EQ(dense.run({{"b", "2"}, {"nq", "0"}, {"nk", "4096"}}), "");
  EXPECT_EQ(dense.result(0).shape, (std::vector<int64_t>{2, 1, 0, 16}));
  ASSERT_EQ(dense.run({{"b", "0"}, {"nq", "64"}, {"nk", "4096"}}), "");
  EXPECT_EQ(dense.result(1).shape, (std::vector<int64_t>{0, 1, 64}));
  SpecRunner runner(packed(2, 1, 16).spec(documents));
  ASSERT_EQ(
      runner.run({{"b", "1"}, {"nq", "0"}, {"nk", "8"}, {"cu_q", "0:0:0"}, {"cu_k", "0:5:8"}}), "");
  ASSERT_EQ(
      runner.run({{"b", "1"}, {"nq", "4"}, {"nk", "8"}, {"cu_q", "0:0:0"}, {"cu_k", "0:5:8"}}), "");
  EXPECT_THAT(elements(runner.result(1)), testing::Each(-infinity));
}

TEST(Cases, C5_batchOfZero) {
  Shape shape;
  shape.queryHeads = shape.keyHeads = 10;
  shape.channels = shape.valueChannels = 64;
  SpecRunner runner(shape.spec(all));
  ASSERT_EQ(runner.run({{"b", "0"}, {"nq", "3952"}, {"nk", "16"}}), "");
  EXPECT_EQ(runner.result(0).shape, (std::vector<int64_t>{0, 10, 3952, 64}));
}

//===----------------------------------------------------------------------===//
// D: windows, alignment, neighbourhoods
//===----------------------------------------------------------------------===//

TEST(Cases, D1_aWindowOfAllKeysIsCausal) {
  Shape shape;
  shape.type = "f16";
  shape.arguments = ", %left: index";
  SpecRunner window(shape.spec("  %set = sparsity.window left(%left) right(0)"));
  shape.arguments = "";
  SpecRunner triangle(shape.spec(causal));
  ASSERT_EQ(triangle.run({{"b", "1"}, {"n", "500"}}), "");
  for (const char *left : {"499", "500", "1000000000000"}) {
    ASSERT_EQ(window.run({{"b", "1"}, {"n", "500"}, {"left", left}}), "");
    EXPECT_THAT(elements(window.result(1)),
                testing::Pointwise(testing::DoubleNear(1e-5), elements(triangle.result(1))));
  }
}

/// A window with run-time ends.
static std::string windowSpec(int64_t channels = 16, int64_t valueChannels = 16) {
  Shape shape;
  shape.channels = channels;
  shape.valueChannels = valueChannels;
  shape.arguments = ", %left: index, %right: index";
  return shape.spec("  %set = sparsity.window left(%left) right(%right)");
}

TEST(Cases, D2_aRightEndBeyondTheKeys) {
  SpecRunner runner(windowSpec());
  EXPECT_EQ(runner.run({{"b", "1"}, {"nq", "100"}, {"nk", "30"}, {"left", "10"}, {"right", "90"}}),
            "");
}

TEST(Cases, D4_aRightEndOfZeroIsAValue) {
  SpecRunner runner(windowSpec());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "50"}, {"left", "1000"}, {"right", "0"}},
                       [](BoundSpec &spec) { fill(input(spec, 0), 0); }),
            "");
  EXPECT_NEAR(runner.result(1).at({0, 0, 9}), std::log(10), 1e-6);
}

TEST(Cases, D5_rowsBeforeTheFirstKeyAreZero) {
  SpecRunner runner(windowSpec(64, 24));
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "129"}, {"nk", "20"}, {"left", "32"}, {"right", "64"}}),
            "");
  // Query 0 stands at position -109 and reaches up to key -45.
  EXPECT_EQ(runner.result(1).at({0, 0, 0}), -infinity);
  EXPECT_EQ(runner.result(0).at({0, 0, 0, 23}), 0);
}

TEST(Cases, D7_bothEndsOfAWindowAreInclusive) {
  SpecRunner runner(windowSpec());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}, {"left", "7"}, {"right", "3"}},
                       [](BoundSpec &spec) { fill(input(spec, 0), 0); }),
            "");
  EXPECT_NEAR(runner.result(1).at({0, 0, 50}), std::log(11), 1e-6);
}

TEST(Cases, D8_windowsOfOneKeyAndOfNone) {
  SpecRunner runner(windowSpec());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "70"}, {"left", "0"}, {"right", "0"}}), "");
  EXPECT_NE(runner.result(0).at({0, 0, 69, 0}), 0);
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "70"}, {"left", "-1"}, {"right", "0"}}), "");
  EXPECT_THAT(elements(runner.result(0)), testing::Each(0));
}

TEST(Cases, D11_neighbourhoodsOfAnySize) {
  Shape shape;
  shape.channels = shape.valueChannels = 8;
  shape.arguments = ", %r: index";
  shape.setType = " : !sparsity.set<2>";
  SpecRunner runner(shape.spec(R"(
  %image = sparsity.grid [256, 256]
  %set = sparsity.radius [%r, %r] border(shift) in %image : !sparsity.domain<2>)"));
  for (const char *radius : {"7", "14"})
    EXPECT_EQ(runner.run({{"b", "1"}, {"r", radius}}), "") << radius;
}

//===----------------------------------------------------------------------===//
// E: heads and channels
//===----------------------------------------------------------------------===//

TEST(Cases, E1_sixQueryHeadsPerKeyHead) {
  Shape shape;
  shape.queryHeads = 12;
  shape.keyHeads = 2;
  SpecRunner runner(shape.spec(all));
  EXPECT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "4096"}}), "");
}

TEST(Cases, E2_sevenQueryHeadsPerKeyHead) {
  Shape shape;
  shape.queryHeads = 28;
  shape.keyHeads = 4;
  shape.channels = shape.valueChannels = 128;
  SpecRunner runner(shape.spec(causal));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "70"}}), "");
}

TEST(Cases, E4_headsThatDoNotDivideAreRefused) {
  Shape shape;
  shape.queryHeads = 3;
  shape.keyHeads = 2;
  EXPECT_THAT(SpecRunner(shape.spec(all)).getMistake(), testing::HasSubstr("3 and 2"));
}

TEST(Cases, E5_lengthsAndChannelsThatAreNoPowersOfTwo) {
  Shape shape;
  shape.queryHeads = shape.keyHeads = 16;
  shape.channels = shape.valueChannels = 96;
  shape.type = "f16";
  SpecRunner runner(shape.spec("  %set = sparsity.window left(15) right(0)"));
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_EQ(runner.run({{"b", "2"}, {"n", "28800"}}), "");
}

TEST(Cases, E10_thirtyOneChannels) {
  Shape shape;
  shape.channels = shape.valueChannels = 31;
  SpecRunner runner(shape.spec(causal));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "100"}}), "");
}

TEST(Cases, E11_wideKeysAndNarrowerValues) {
  Shape shape;
  shape.channels = 192;
  shape.valueChannels = 128;
  SpecRunner runner(shape.spec(causal));
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "100"}}), "");
}
