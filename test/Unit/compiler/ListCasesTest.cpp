//===- ListCasesTest.cpp - failures that others met with lists of blocks ---===//
//
// As in CasesTest.cpp each test carries the number of a report; groups: E block
// lists instead of masks, F entries of lists.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/Walk.h"
#include "test/Support/SpecRunner.h"
#include "test/Unit/compiler/CaseTensors.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using lacuna::test::SpecRunner;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// The arguments of a spec, by their index.
static constexpr size_t keysAt = 1, idsAt = 3, countsAt = 4;

namespace {
/// A spec over one list, and what is in it.
struct ListSpec {
  int64_t heads = 1, lists = 1, channels = 16, queryBlock = 64, keyBlock = 64;
  std::string type = "f32", batches = "1", capacity = "?";
  /// Ops that make %set of %list.
  std::string sets = "  %set = sparsity.union %list, %list";

  std::string text() const;
};
} // namespace

std::string ListSpec::text() const {
  std::string tokens = fmt::format("tensor<?x{}x?x{}x{}>", heads, channels, type);
  std::string lse = fmt::format("tensor<?x{}x?xf32>", heads);
  std::string ids = fmt::format("tensor<{}x{}x?x{}xi32>", batches, lists, capacity);
  std::string counts = fmt::format("tensor<{}x{}x?xi32>", batches, lists);
  return fmt::format("func.func @spec(%q: {0}, %k: {0}, %v: {0}, %ids: {1}, %counts: {2}) -> "
                     "({0}, {3}) {{\n"
                     "  %list = sparsity.blocks %ids, %counts query [{4}] key [{5}] : {1}, {2}\n"
                     "{6}\n  %o, %lse = attn.attend %q, %k, %v over %set\n"
                     "    : {0}, {0}, {0} -> {0}, {3}\n  return %o, %lse : {0}, {3}\n}}\n",
                     tokens, ids, counts, lse, queryBlock, keyBlock, sets);
}

//===----------------------------------------------------------------------===//
// E: lists instead of masks
//===----------------------------------------------------------------------===//

// Without scores the log-sum-exp counts the keys of a row.
TEST(ListCases, E8_causalWrittenAsBlockLists) {
  ListSpec list;
  list.channels = 64;
  list.sets = "  %past = sparsity.causal\n  %set = sparsity.intersect %list, %past";
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}, {"ids", "100%"}},
                       [](BoundSpec &spec) { fill(input(spec, keysAt), 0); }),
            "");
  for (int64_t row : {0, 63, 64, 199})
    EXPECT_NEAR(runner.result(1).at({0, 0, row}), std::log(row + 1.0), 1e-5) << row;
}

TEST(ListCases, E13_oneListForAllHeadsAndBatchEntries) {
  ListSpec list;
  list.heads = 2;
  list.queryBlock = list.keyBlock = 32;
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.getMistake(), "");
  EXPECT_EQ(runner.run({{"b", "4"}, {"n", "128"}, {"ids", "50%"}}), "");
  // Cut to one query block: the other rows of the list are gone, and with them its tail of keys.
  EXPECT_EQ(runner.run({{"b", "4"}, {"nq", "32"}, {"nk", "128"}, {"ids", "0:3"}}), "");
}

//===----------------------------------------------------------------------===//
// F: entries
//===----------------------------------------------------------------------===//

TEST(ListCases, F1_moreEntriesThanBlocks) {
  ListSpec list;
  list.capacity = "16";
  SpecRunner runner(list.text());
  std::vector<double> ids;
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}},
                       [&](BoundSpec &spec) { ids = elements(input(spec, idsAt)); }),
            "");
  // Both blocks, then nothing.
  ASSERT_EQ(ids.size(), 32u);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), -1), 28);
}

TEST(ListCases, F2_fewerKeysThanACapacityOf2048) {
  ListSpec list;
  list.capacity = "2048";
  list.queryBlock = 16;
  list.keyBlock = 1;
  EXPECT_EQ(SpecRunner(list.text()).run({{"b", "1"}, {"n", "70"}}), "");
}

TEST(ListCases, F5_garbageBehindTheCount) {
  ListSpec list;
  list.capacity = "4";
  SpecRunner runner(list.text());
  auto oneEntry = [](double garbage) {
    return [garbage](BoundSpec &spec) {
      fill(input(spec, idsAt), garbage);
      fill(input(spec, countsAt), 1);
      for (int64_t t = 0; t < 4; ++t)
        input(spec, idsAt).set({0, 0, t, 0}, static_cast<double>(3 - t));
    };
  };
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}, oneEntry(-1)), "");
  std::vector<double> expected = elements(runner.result(0));
  for (double garbage : {2147483647.0, -2147483648.0, 0.0, 4.0}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}, oneEntry(garbage)), "") << garbage;
    EXPECT_EQ(elements(runner.result(0)), expected) << garbage;
  }
}

TEST(ListCases, F7_twoOfFourBlocksPerRow) {
  ListSpec list;
  list.heads = list.lists = 2;
  list.channels = 128;
  list.queryBlock = list.keyBlock = 256;
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "1024"}, {"ids", "50%"}},
                       [](BoundSpec &spec) { fill(input(spec, keysAt), 0); }),
            "");
  for (double lse : elements(runner.result(1)))
    ASSERT_NEAR(lse, std::log(512.0), 1e-4);
}

TEST(ListCases, F8_everyQueryBlockKeepsTheFirstKeyBlock) {
  ListSpec list;
  list.heads = list.lists = 2;
  list.channels = 64;
  list.queryBlock = 128;
  list.type = "f16";
  list.capacity = "1";
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "512"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, keysAt), 0);
                         fill(input(spec, idsAt), 0);
                       }),
            "");
  for (double lse : elements(runner.result(1)))
    ASSERT_NEAR(lse, std::log(64.0), 1e-4);
}

TEST(ListCases, F11_listsOfAnotherLength) {
  ListSpec list;
  SpecRunner runner(list.text());
  auto cut = [](size_t argument, int64_t blocks) {
    return [argument, blocks](BoundSpec &spec) { input(spec, argument).shape[2] = blocks; };
  };
  EXPECT_THAT(runner.run({{"b", "1"}, {"n", "200"}, {"ids", "50%"}}, cut(idsAt, 3)),
              testing::HasSubstr("expected lists for 4 query blocks, got 3"));
  EXPECT_THAT(runner.run({{"b", "1"}, {"n", "200"}, {"ids", "50%"}}, cut(countsAt, 3)),
              testing::HasSubstr("expected counts of the lists that ids has"));
}

// A set has one source of its pairs. Two that disagree are two sets, and what is done with both is
// said: neither is taken for the other.
TEST(ListCases, F10_aMapAndAListThatDisagree) {
  std::string tokens = "tensor<?x1x?x16xf32>", ids = "tensor<?x1x?x?xi32>";
  SpecRunner runner(fmt::format(
      "func.func @spec(%q: {0}, %k: {0}, %v: {0}, %ids: {1}, %counts: tensor<?x1x?xi32>,\n"
      "    %map: tensor<?x1x?x?xi8>) -> ({0}, tensor<?x1x?xf32>) {{\n"
      "  %list = sparsity.blocks %ids, %counts query [64] key [64] : {1}, tensor<?x1x?xi32>\n"
      "  %bits = sparsity.bitmap %map query [64] key [64] : tensor<?x1x?x?xi8>\n"
      "  %set = sparsity.intersect %list, %bits\n"
      "  %o, %lse = attn.attend %q, %k, %v over %set : {0}, {0}, {0} -> {0}, tensor<?x1x?xf32>\n"
      "  return %o, %lse : {0}, tensor<?x1x?xf32>\n}}\n",
      tokens, ids));
  ASSERT_EQ(runner.getMistake(), "");
  // The list has all blocks, the map all but the first.
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "256"}, {"ids", "100%"}, {"map", "100%"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, keysAt), 0);
                         fill(input(spec, countsAt + 1), 1);
                         for (int64_t row = 0; row < 4; ++row)
                           input(spec, countsAt + 1).set({0, 0, row, 0}, 0);
                       }),
            "");
  for (double lse : elements(runner.result(1)))
    ASSERT_NEAR(lse, std::log(192.0), 1e-4);
}

TEST(ListCases, F13_48HeadsOf768BlocksOf64) {
  ListSpec list;
  list.heads = list.lists = 48;
  list.channels = 8;
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "49152"}, {"ids", "0.1%"}},
                       [](BoundSpec &spec) { fill(input(spec, keysAt), 0); }),
            "");
  for (double lse : elements(runner.result(1)))
    ASSERT_NEAR(lse, std::log(64.0), 1e-4);
}

TEST(ListCases, F14_32HeadsOf384BlocksOf128) {
  ListSpec list;
  list.heads = list.lists = 32;
  list.channels = 8;
  list.queryBlock = list.keyBlock = 128;
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "49152"}, {"ids", "0.2%"}},
                       [](BoundSpec &spec) { fill(input(spec, keysAt), 0); }),
            "");
  for (double lse : elements(runner.result(1)))
    ASSERT_NEAR(lse, std::log(128.0), 1e-4);
}

TEST(ListCases, F16_oneQueryAndListsOfMinusOne) {
  ListSpec list;
  list.heads = list.lists = 4;
  list.channels = 128;
  list.capacity = "8";
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"nq", "1"}, {"nk", "512"}},
                       [](BoundSpec &spec) {
                         fill(input(spec, idsAt), -1);
                         input(spec, idsAt).set({0, 2, 0, 5}, 7);
                       }),
            "");
  EXPECT_EQ(runner.result(1).at({0, 0, 0}), -infinity);
  EXPECT_EQ(runner.result(0).at({0, 3, 0, 17}), 0);
  EXPECT_TRUE(std::isfinite(runner.result(1).at({0, 2, 0})));
}

TEST(ListCases, F16_emptyLists) {
  ListSpec list;
  SpecRunner runner(list.text());
  for (double count : {0.0, -1.0, -2147483648.0}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"n", "100"}, {"ids", "100%"}},
                         [&](BoundSpec &spec) { fill(input(spec, countsAt), count); }),
              "");
    EXPECT_THAT(elements(runner.result(0)), testing::Each(0));
    EXPECT_THAT(elements(runner.result(1)), testing::Each(-infinity));
  }
}

TEST(ListCases, F23_idsThatNameNoBlock) {
  ListSpec list;
  list.capacity = "3";
  SpecRunner runner(list.text());
  auto beside = [](double first, double last) {
    return [first, last](BoundSpec &spec) {
      for (int64_t t = 0; t < 4; ++t) {
        input(spec, idsAt).set({0, 0, t, 0}, first);
        input(spec, idsAt).set({0, 0, t, 1}, 3);
        input(spec, idsAt).set({0, 0, t, 2}, last);
      }
    };
  };
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}, beside(-1, -1)), "");
  std::vector<double> expected = elements(runner.result(0));
  for (double id : {-2.0, 4.0, 2147483647.0, -2147483648.0}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}, beside(id, id)), "") << id;
    EXPECT_EQ(elements(runner.result(0)), expected) << id;
  }
}

TEST(ListCases, F23_countsBeyondTheCapacity) {
  ListSpec list;
  list.capacity = "2";
  SpecRunner runner(list.text());
  ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}}), "");
  std::vector<double> expected = elements(runner.result(0));
  for (double count : {3.0, 2147483647.0}) {
    ASSERT_EQ(runner.run({{"b", "1"}, {"n", "200"}},
                         [&](BoundSpec &spec) { fill(input(spec, countsAt), count); }),
              "");
    EXPECT_EQ(elements(runner.result(0)), expected) << count;
  }
}

TEST(ListCases, F23_unsortedIds) {
  ListSpec list;
  list.sets = "  %past = sparsity.causal\n  %near = sparsity.window left(40) right(0)\n"
              "  %either = sparsity.union %list, %near\n"
              "  %set = sparsity.intersect %either, %past";
  SpecRunner runner(list.text());
  EXPECT_EQ(runner.run({{"b", "1"}, {"n", "200"}, {"ids", "3:0:2:1:2:3:0:1:0:1:2:3:1:3:2:0"}}), "");
}
