//===- SelectTest.cpp - the oracle of select ops, by hand ------------------===//
#include "lib/Reference/Select.h"

#include "lib/Support/Walk.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::reference;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tensor of the given numbers in row-major order.
static OwnedTensor makeTensor(std::vector<int64_t> shape, const std::vector<double> &numbers,
                              ElementType type = ElementType::F32) {
  OwnedTensor tensor(type, std::move(shape));
  size_t next = 0;
  forEachIndex(tensor.view().shape, [&](const std::vector<int64_t> &index) {
    tensor.view().set(index, numbers[next++ % numbers.size()]);
  });
  return tensor;
}

static std::vector<double> exactOf(const std::vector<Estimate> &estimates) {
  std::vector<double> numbers;
  for (const Estimate &estimate : estimates)
    numbers.push_back(estimate.exact);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

/// The summary of block `block` of three tokens of two channels, in blocks of two.
static std::vector<double> summarize(SummaryKind kind, int64_t block) {
  OwnedTensor tokens = makeTensor({1, 1, 3, 2}, {3, 4, 1, -4, 0, 6});
  Summary oracle;
  oracle.kind = kind;
  oracle.tokens = tokens.view();
  oracle.grid = {{3}};
  oracle.block = {2};
  oracle.last = 2;
  EXPECT_THAT(oracle.rowShape(), ElementsAre(1, 1, 2));
  return exactOf(oracle.row({0, 0, block}));
}

TEST(SelectOracle, summarizesBlocksAndWhatIsLeft) {
  EXPECT_THAT(summarize(SummaryKind::Mean, 0), ElementsAre(2, 0));
  EXPECT_THAT(summarize(SummaryKind::Mean, 1), ElementsAre(0, 6));
  EXPECT_THAT(summarize(SummaryKind::Sum, 0), ElementsAre(4, 0));
  EXPECT_THAT(summarize(SummaryKind::Min, 0), ElementsAre(1, -4));
  EXPECT_THAT(summarize(SummaryKind::Max, 0), ElementsAre(3, 4));
  EXPECT_THAT(summarize(SummaryKind::Variance, 0), ElementsAre(1, 16));
  EXPECT_THAT(summarize(SummaryKind::First, 0), ElementsAre(3, 4));
  EXPECT_THAT(summarize(SummaryKind::Radius, 0), ElementsAre(DoubleEq(std::sqrt(17))));
  EXPECT_THAT(summarize(SummaryKind::Norm, 0), ElementsAre(DoubleEq(std::sqrt(42))));
  EXPECT_THAT(summarize(SummaryKind::Count, 0), ElementsAre(2));
  EXPECT_THAT(summarize(SummaryKind::Count, 1), ElementsAre(1));
  // The mean of 1, 1 and twice the cosine.
  double cosine = (3 * 1 - 4 * 4) / (5 * std::sqrt(17));
  EXPECT_THAT(summarize(SummaryKind::Similarity, 0),
              ElementsAre(DoubleNear((1 + cosine) / 2, 1e-12)));
  EXPECT_THAT(summarize(SummaryKind::Similarity, 1), ElementsAre(DoubleEq(1)));
}

TEST(SelectOracle, tokensOfZerosHaveNoDirection) {
  OwnedTensor tokens = makeTensor({1, 1, 2, 2}, {0, 0, 3, 4});
  Summary oracle;
  oracle.kind = SummaryKind::Similarity;
  oracle.tokens = tokens.view();
  oracle.grid = {{2}};
  oracle.block = {2};
  oracle.last = 2;
  EXPECT_THAT(exactOf(oracle.row({0, 0, 0})), ElementsAre(DoubleEq(0.25)));
}

TEST(SelectOracle, summarizesBoxesOfAGrid) {
  // 3 x 3 tokens in boxes of 2 x 2: the last box has the last token alone.
  OwnedTensor tokens = makeTensor({1, 1, 9, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  Summary oracle;
  oracle.kind = SummaryKind::Sum;
  oracle.tokens = tokens.view();
  oracle.grid = {{3, 3}};
  oracle.block = {2, 2};
  oracle.last = 1;
  EXPECT_THAT(oracle.rowShape(), ElementsAre(1, 1, 4));
  std::vector<double> sums;
  for (int64_t block = 0; block < 4; ++block)
    sums.push_back(oracle.row({0, 0, block})[0].exact);
  EXPECT_THAT(sums, ElementsAre(0 + 1 + 3 + 4, 2 + 5, 6 + 7, 8));
}

TEST(SelectOracle, foldsTokensAndPadsWithZeros) {
  OwnedTensor tokens = makeTensor({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6});
  Fold oracle;
  oracle.tokens = tokens.view();
  oracle.by = 2;
  EXPECT_THAT(exactOf(oracle.row({0, 0, 0})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(exactOf(oracle.row({0, 0, 1})), ElementsAre(5, 6, 0, 0));
  oracle.isReversed = true;
  EXPECT_THAT(exactOf(oracle.row({0, 0, 0})), ElementsAre(3, 4, 1, 2));
  EXPECT_THAT(exactOf(oracle.row({0, 0, 1})), ElementsAre(0, 0, 5, 6));
}

TEST(SelectOracle, projectsTokensByTheMatrixOfTheirHeads) {
  // Two heads share each of two matrices; the second matrix exchanges the channels and doubles
  // them.
  OwnedTensor tokens = makeTensor({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  OwnedTensor weights = makeTensor({2, 2, 3}, {1, 0, 1, 0, 1, -1, 0, 2, 0, 2, 0, 0});
  reference::Projection oracle;
  oracle.tokens = tokens.view();
  oracle.weights = weights.view();
  EXPECT_THAT(oracle.rowShape(), ElementsAre(1, 4, 1));
  EXPECT_THAT(exactOf(oracle.row({0, 0, 0})), ElementsAre(1, 2, -1));
  EXPECT_THAT(exactOf(oracle.row({0, 1, 0})), ElementsAre(3, 4, -1));
  EXPECT_THAT(exactOf(oracle.row({0, 2, 0})), ElementsAre(12, 10, 0));
  EXPECT_THAT(exactOf(oracle.row({0, 3, 0})), ElementsAre(16, 14, 0));
}

TEST(SelectOracle, toleratesTheRoundingOfAProjection) {
  // What cancels leaves the error of its terms; the result has the rounding of its elements.
  OwnedTensor tokens = makeTensor({1, 1, 1, 2}, {1000, -1000});
  OwnedTensor weights = makeTensor({1, 2, 1}, {1});
  reference::Projection oracle;
  oracle.tokens = tokens.view();
  oracle.weights = weights.view();
  Estimate exact = oracle.row({0, 0, 0})[0];
  EXPECT_EQ(exact.exact, 0);
  EXPECT_GT(exact.tolerance, 2000 * 0x1p-24);
  EXPECT_LT(exact.tolerance, 0.01);
  weights.view().set({0, 1, 0}, 0);
  oracle.type = ElementType::BF16;
  exact = oracle.row({0, 0, 0})[0];
  EXPECT_EQ(exact.exact, 1000);
  EXPECT_GT(exact.tolerance, 1);
  EXPECT_LT(exact.tolerance, 10);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

namespace {
/// Two query rows and three keys of two channels.
struct Pairs {
  Pairs() {
    oracle.query = query.view();
    oracle.key = key.view();
  }
  std::vector<double> row(int64_t index) { return exactOf(oracle.row({0, 0, index})); }

  OwnedTensor query = makeTensor({1, 1, 2, 2}, {1, -2, 3, 0});
  OwnedTensor key = makeTensor({1, 1, 3, 2}, {1, 1, 2, 0, 0, -1});
  OwnedTensor companion = makeTensor({1, 1, 3, 2}, {3, 2, 1, 5, 0, 4});
  BlockScores oracle;
};
} // namespace

TEST(SelectOracle, scoresPairsOfEveryKind) {
  Pairs pairs;
  EXPECT_THAT(pairs.row(0), ElementsAre(-1, 2, 2));
  EXPECT_THAT(pairs.row(1), ElementsAre(3, 6, 0));
  pairs.oracle.companion = pairs.companion.view();
  pairs.oracle.scale = 0.5;
  pairs.oracle.kind = PairKind::Box;
  // max(1, 3) + max(-2, -4), and so on, halved.
  EXPECT_THAT(pairs.row(0), ElementsAre(0.5, 1, 1));
  pairs.oracle.kind = PairKind::Quadratic;
  // q.k / 2 + (1 c_0 + 4 c_1) / 8.
  EXPECT_THAT(pairs.row(0), ElementsAre(-0.5 + 11 / 8.0, 1 + 21 / 8.0, 1 + 2.0));
  pairs.oracle.kind = PairKind::Ball;
  double length = std::sqrt(5);
  EXPECT_THAT(pairs.row(0), ElementsAre(DoubleEq((-1 + 3 * length) / 2), DoubleEq((2 + length) / 2),
                                        DoubleEq(1)));
}

TEST(SelectOracle, reducesColumnsThenRowsOverWhatIsLeft) {
  Pairs pairs;
  pairs.oracle.columns = 2;
  pairs.oracle.columnReduction = ReductionKind::Max;
  EXPECT_THAT(pairs.row(0), ElementsAre(2, 2));
  pairs.oracle.rows = 2;
  EXPECT_THAT(pairs.row(0), ElementsAre(2 + 6, 2 + 0));
  pairs.oracle.rowReduction = ReductionKind::LogSumExp;
  EXPECT_THAT(pairs.row(0), ElementsAre(DoubleEq(6 + std::log1p(std::exp(-4))),
                                        DoubleEq(2 + std::log1p(std::exp(-2)))));
  // Row 0 sees key 1 (it stands at the end), row 1 the keys up to 2.
  pairs.oracle.set = causal(/*fromStart=*/true);
  pairs.oracle.columnReduction = ReductionKind::Mean;
  pairs.oracle.rowReduction = ReductionKind::Mean;
  EXPECT_THAT(pairs.row(0), ElementsAre((-1 + 4.5) / 2, -infinity));
}

TEST(SelectOracle, turnsScoresIntoWeightedShares) {
  Pairs pairs;
  OwnedTensor lse = makeTensor({1, 1, 2}, {2, 0}), weights = makeTensor({1, 1, 2}, {10, 0.5});
  pairs.oracle.lse = lse.view();
  pairs.oracle.weights = weights.view();
  EXPECT_THAT(pairs.row(0), ElementsAre(DoubleEq(10 * std::exp(-3)), 10, 10));
  EXPECT_THAT(pairs.row(1),
              ElementsAre(DoubleEq(0.5 * std::exp(3)), DoubleEq(0.5 * std::exp(6)), 0.5));
}

TEST(SelectOracle, sharesOfNothingAreZero) {
  Pairs pairs;
  OwnedTensor lse = makeTensor({1, 1, 2}, {-infinity, 0});
  pairs.oracle.lse = lse.view();
  EXPECT_THAT(pairs.row(0), ElementsAre(0, 0, 0));
  EXPECT_THAT(pairs.row(1), ElementsAre(DoubleEq(std::exp(3)), DoubleEq(std::exp(6)), 1));
}

TEST(SelectOracle, takesTheLogSumExpOfRows) {
  Pairs pairs;
  pairs.oracle.columns = 0;
  EXPECT_THAT(pairs.row(0), ElementsAre(DoubleEq(std::log(std::exp(-1) + 2 * std::exp(2)))));
  pairs.oracle.set = noPairs();
  EXPECT_THAT(pairs.row(0), ElementsAre(-infinity));
}

TEST(SelectOracle, nanStaysInItsBlock) {
  Pairs pairs;
  pairs.key.view().set({0, 0, 2, 0}, NAN);
  for (ReductionKind kind :
       {ReductionKind::Sum, ReductionKind::Mean, ReductionKind::Max, ReductionKind::LogSumExp}) {
    pairs.oracle.columns = 2;
    pairs.oracle.columnReduction = kind;
    EXPECT_FALSE(std::isnan(pairs.row(0)[0]));
    EXPECT_TRUE(std::isnan(pairs.row(0)[1]));
  }
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// How many entries and counts are wrong.
using Wrong = std::pair<int64_t, int64_t>;

namespace {
/// One row of scores, and lists of it.
struct Row {
  Row(std::vector<double> values, std::vector<double> list, double count)
      : scores(makeTensor({1, 1, 1, static_cast<int64_t>(values.size())}, values)),
        ids(makeTensor({1, 1, 1, static_cast<int64_t>(list.size())}, list, ElementType::I32)),
        counts(makeTensor({1, 1, 1}, {count}, ElementType::I32)) {
    oracle.scores = scores.view();
  }
  Wrong wrong() {
    auto found = oracle.compare({ids.view(), counts.view()}, {{0, 0, 0}}, 1);
    return {found[0].beyond, found[1].beyond};
  }

  OwnedTensor scores, ids, counts;
  Choice oracle;
};
} // namespace

TEST(SelectOracle, tellsRightListsFromWrongOnes) {
  auto check = [](std::vector<double> list, double count) {
    Row row({1, 3, 2, 3}, std::move(list), count);
    row.oracle.number = 2;
    return row.wrong();
  };
  EXPECT_EQ(check({1, 3}, 2), Wrong(0, 0));
  EXPECT_EQ(check({3, 1}, 2), Wrong(2, 0));  // not in rising order
  EXPECT_EQ(check({1, 2}, 2), Wrong(1, 0));  // not the best
  EXPECT_EQ(check({1, -1}, 1), Wrong(1, 1)); // too few
  EXPECT_EQ(check({1, 1}, 2), Wrong(1, 0));
}

TEST(SelectOracle, allowsEveryCountWithinRoundingOfTheCut) {
  // Half of the softmax is exactly the first column.
  for (auto [list, count] :
       {std::pair(std::vector<double>{0, -1, -1}, 1.0), {std::vector<double>{0, 1, -1}, 2.0}}) {
    Row row({std::log(2.0), 0, 0}, list, count);
    row.oracle.rule = ChoiceRule::TopP;
    row.oracle.number = 0.5;
    EXPECT_EQ(row.wrong(), Wrong(0, 0)) << count;
  }
  Row row({std::log(2.0), 0, 0}, {0, 1, 2}, 3);
  row.oracle.rule = ChoiceRule::TopP;
  row.oracle.number = 0.5;
  EXPECT_EQ(row.wrong(), Wrong(1, 1));
  // What needs no sum has no such room.
  Row exact({2, 1, 0}, {0, -1, -1}, 1);
  exact.oracle.rule = ChoiceRule::Above;
  exact.oracle.number = 0.5;
  EXPECT_EQ(exact.wrong(), Wrong(1, 1));
}

TEST(SelectOracle, allowsEitherDrawWithinRoundingOfTheChance) {
  OwnedTensor scores = makeTensor({1, 1, 1, 64}, {0});
  Sample oracle;
  oracle.scores = scores.view();
  oracle.number = 32;
  OwnedTensor ids(ElementType::I32, {1, 1, 1, 64}), counts(ElementType::I32, {1, 1, 1});
  OwnedTensor weights(ElementType::F32, {1, 1, 1, 64});
  int64_t count = 0;
  for (int64_t column = 0; column < 64; ++column)
    if (drawAt(0, {0, 0, 0}, column) < 0.5) {
      ids.view().set({0, 0, 0, count}, static_cast<double>(column));
      weights.view().set({0, 0, 0, count++}, 2);
    }
  for (int64_t entry = count; entry < 64; ++entry)
    ids.view().set({0, 0, 0, entry}, -1);
  counts.view().set({0, 0, 0}, static_cast<double>(count));
  auto beyond = [&] {
    std::vector<int64_t> numbers;
    for (const Comparison &found :
         oracle.compare({ids.view(), counts.view(), weights.view()}, {{0, 0, 0}}, 1))
      numbers.push_back(found.beyond);
    return numbers;
  };
  EXPECT_THAT(beyond(), ElementsAre(0, 0, 0));
  weights.view().set({0, 0, 0, 0}, 2.01);
  EXPECT_THAT(beyond(), ElementsAre(0, 0, 1));
  ids.view().set({0, 0, 0, count - 1}, -1);
  EXPECT_THAT(beyond(), ElementsAre(1, 0, 1));
}

TEST(SelectOracle, comparesNumbersOfGatesAndMargins) {
  OwnedTensor values = makeTensor({1, 2, 2}, {4, 1, NAN, 1});
  OwnedTensor numbers = makeTensor({1, 2, 2}, {9, 5, 9, 5}, ElementType::I32);
  Gate gate;
  gate.values = values.view();
  gate.share = 0.5;
  gate.low = 5;
  gate.high = 9;
  std::vector<RowIndex> rows = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}};
  EXPECT_EQ(gate.compare({numbers.view()}, rows, 1)[0].beyond, 0);
  gate.share = 0.75;
  EXPECT_EQ(gate.compare({numbers.view()}, rows, 1)[0].beyond, 1);

  OwnedTensor scores = makeTensor({1, 1, 1, 5}, {4, 1, 3, infinity, NAN});
  Margin margin;
  margin.scores = scores.view();
  margin.number = 2;
  EXPECT_THAT(exactOf(margin.row({0, 0, 0})), ElementsAre(DoubleEq(2.0 / 3)));
  margin.number = 3;
  EXPECT_THAT(exactOf(margin.row({0, 0, 0})), ElementsAre(1));
}
