//===- SkipsTest.cpp - marks of blocks against hand-made scores -------------===//
#include "lib/Reference/Skips.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// One query block of two rows, key blocks of two keys. A score is the key's only channel.
struct Problem {
  OwnedTensor query{ElementType::F64, {1, 1, 2, 1}}, key{ElementType::F64, {1, 1, 6, 1}};
  OwnedTensor taken{ElementType::I8, {1, 1, 1, 3}}, below{ElementType::F32, {1, 1, 2}};
  Attend attend;

  explicit Problem(std::vector<double> scores) {
    for (int64_t row = 0; row < 2; ++row) {
      query.view().set({0, 0, row, 0}, 1);
      below.view().set({0, 0, row}, -infinity);
    }
    for (int64_t j = 0; j < 6; ++j)
      key.view().set({0, 0, j, 0}, scores[static_cast<size_t>(j)]);
    attend.query = query.view();
    attend.key = attend.value = key.view();
    attend.set = allPairs();
    attend.skip = Skip{2, 2, below.view(), {}, taken.view()};
  }
  /// How many of three marks are wrong.
  int64_t countWrong(std::vector<double> marks) {
    for (int64_t block = 0; block < 3; ++block)
      taken.view().set({0, 0, 0, block}, marks[static_cast<size_t>(block)]);
    return compareTaken(attend, {{0, 0, 0}}, 1, 1).beyond;
  }
};
} // namespace

TEST(Skips, aBlockBelowTheLimitsOfAllRowsIsLeftOut) {
  Problem problem({1, 2, 5, 1, 9, 9});
  problem.below.view().set({0, 0, 0}, 3);
  problem.below.view().set({0, 0, 1}, 3);
  EXPECT_EQ(problem.countWrong({0, 1, 1}), 0);
  EXPECT_EQ(problem.countWrong({1, 1, 1}), 1);
  EXPECT_EQ(problem.countWrong({0, 0, 1}), 1);
  // One row needs them all.
  problem.below.view().set({0, 0, 1}, -infinity);
  EXPECT_EQ(problem.countWrong({1, 1, 1}), 0);
  EXPECT_EQ(problem.countWrong({0, 1, 1}), 1);
}

TEST(Skips, aMarginCountsFromBlocksThatWereTaken) {
  Problem problem({1, 2, 9, 1, 5, 0});
  problem.attend.skip->margin = 3;
  // The first block is far below the second one, which comes later.
  EXPECT_EQ(problem.countWrong({1, 1, 0}), 0);
  EXPECT_EQ(problem.countWrong({0, 1, 0}), 1);
  EXPECT_EQ(problem.countWrong({1, 1, 1}), 1);
  // Had the second one been left out, which is wrong, then the third one would be near.
  EXPECT_EQ(problem.countWrong({1, 0, 1}), 1);
}

TEST(Skips, eitherIsRightAtTheLimit) {
  Problem problem({1, 1, 1, 1, 1, 1});
  problem.below.view().set({0, 0, 0}, 1);
  problem.below.view().set({0, 0, 1}, 1);
  EXPECT_EQ(problem.countWrong({0, 1, 0}), 0);
}

TEST(Skips, blocksWithoutALiveKeyAreNotTaken) {
  Problem problem({1, 1, 1, 1, 1, 1});
  problem.attend.set = makeSet([](const PairIndex &pair) { return pair.key < 3; });
  EXPECT_EQ(problem.countWrong({1, 1, 0}), 0);
  EXPECT_EQ(problem.countWrong({1, 1, 1}), 1);
}

TEST(Skips, notANumberIsBelowNothing) {
  Problem problem({1, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1, 1});
  problem.below.view().set({0, 0, 0}, 3);
  problem.below.view().set({0, 0, 1}, 3);
  EXPECT_EQ(problem.countWrong({1, 0, 0}), 0);
  EXPECT_EQ(problem.countWrong({0, 0, 0}), 1);
  // Under a margin, the largest score is no number from there on.
  problem.attend.skip->below.reset();
  problem.attend.skip->margin = 0;
  EXPECT_EQ(problem.countWrong({1, 1, 1}), 0);
  EXPECT_EQ(problem.countWrong({1, 0, 1}), 1);
}

TEST(Skips, rowsAreThoseOfTheBlocksThatWereTaken) {
  Problem problem({1, 2, 9, 1, 5, 0});
  problem.countWrong({1, 0, 0});
  EXPECT_EQ(problem.attend.row({0, 0, 0}).liveKeys, 2);
  EXPECT_NEAR(problem.attend.row({0, 0, 0}).lse, std::log(std::exp(1) + std::exp(2)), 1e-12);
  problem.countWrong({0, 0, 0});
  EXPECT_EQ(problem.attend.row({0, 0, 0}).lse, -infinity);
}
