//===- AttentionTest.cpp - the oracle against hand-made numbers -----------===//
#include "lib/Reference/Attention.h"
#include "lib/Support/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Random attention inputs that own their memory.
struct Problem {
  OwnedTensor query, key, value;
  Attend attend;

  Problem(int64_t heads, int64_t keyHeads, int64_t queries, int64_t keys, int64_t channels) {
    query = OwnedTensor(ElementType::F64, {1, heads, queries, channels});
    key = OwnedTensor(ElementType::F64, {1, keyHeads, keys, channels});
    value = OwnedTensor(ElementType::F64, {1, keyHeads, keys, channels});
    Random random(11);
    fillNormal(query.view(), random);
    fillNormal(key.view(), random);
    fillNormal(value.view(), random);
    attend.query = query.view();
    attend.key = key.view();
    attend.value = value.view();
    attend.set = allPairs();
    attend.scale = 0.5;
  }
};

static Set keysBelow(int64_t count) {
  return makeSet([=](const PairIndex &pair) { return pair.key < count; });
}

TEST(Attention, oneKeyReturnsItsValue) {
  Problem problem(1, 1, 1, 3, 4);
  problem.attend.set = keysBelow(1);
  RowResult row = problem.attend.row({0, 0, 0});
  double score = 0;
  for (int64_t c = 0; c < 4; ++c)
    score += problem.query.view().at({0, 0, 0, c}) * problem.key.view().at({0, 0, 0, c}) * 0.5;
  EXPECT_DOUBLE_EQ(row.lse, score);
  for (int64_t c = 0; c < 4; ++c)
    EXPECT_DOUBLE_EQ(row.output[static_cast<size_t>(c)], problem.value.view().at({0, 0, 0, c}));
  EXPECT_EQ(row.liveKeys, 1);
}

TEST(Attention, queryHeadsShareKeyHeads) {
  Problem problem(6, 2, 1, 5, 3);
  Tensor &query = problem.query.view();
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t h = 1; h < 6; ++h)
      query.set({0, h, 0, c}, query.at({0, 0, 0, c}));
  EXPECT_EQ(problem.attend.row({0, 0, 0}).output, problem.attend.row({0, 2, 0}).output);
  EXPECT_NE(problem.attend.row({0, 2, 0}).output, problem.attend.row({0, 3, 0}).output);
}

TEST(Attention, emptyRowsAreZeroWithLseMinusInfinity) {
  Problem problem(1, 1, 1, 3, 4);
  problem.attend.set = noPairs();
  RowResult row = problem.attend.row({0, 0, 0});
  EXPECT_EQ(row.lse, -infinity);
  EXPECT_EQ(row.output, std::vector<double>(4, 0.0));
}

TEST(Attention, aSinkOnAnEmptyRowIsItsLse) {
  Problem problem(1, 1, 1, 3, 4);
  problem.attend.set = noPairs();
  problem.attend.sinks = {0.5};
  RowResult row = problem.attend.row({0, 0, 0});
  EXPECT_EQ(row.lse, 0.5);
  EXPECT_EQ(row.output, std::vector<double>(4, 0.0));
}

TEST(Attention, aSinkTakesWeightAwayFromTheKeys) {
  Problem problem(1, 1, 1, 3, 4);
  RowResult plain = problem.attend.row({0, 0, 0});
  problem.attend.sinks = {plain.lse};
  RowResult sunk = problem.attend.row({0, 0, 0});
  EXPECT_NEAR(sunk.lse, plain.lse + std::log(2), 1e-12);
  EXPECT_NEAR(sunk.output[1], plain.output[1] / 2, 1e-12);
}

TEST(Attention, maskedKeysContributeNothingWhateverTheyHold) {
  Problem problem(1, 1, 1, 3, 2);
  problem.attend.set = keysBelow(2);
  RowResult clean = problem.attend.row({0, 0, 0});
  problem.key.view().set({0, 0, 2, 0}, std::nan(""));
  problem.value.view().set({0, 0, 2, 1}, infinity);
  RowResult dirty = problem.attend.row({0, 0, 0});
  EXPECT_EQ(clean.output, dirty.output);
  problem.attend.set = allPairs();
  EXPECT_TRUE(std::isnan(problem.attend.row({0, 0, 0}).output[0]));
}

TEST(Attention, scoresOfMinusInfinityMakeARowEmpty) {
  Problem problem(1, 1, 1, 3, 2);
  ScalarProgram score(5);
  score.setResult(score.append({Opcode::Float, {}, 64, 64, {0, -infinity}}));
  problem.attend.score = score;
  RowResult row = problem.attend.row({0, 0, 0});
  EXPECT_EQ(row.lse, -infinity);
  EXPECT_EQ(row.output[0], 0);
}

TEST(Attention, theScoreRegionSeesAlignedPositions) {
  Problem problem(1, 1, 2, 5, 2);
  // Score = query position: row 0 of two queries over five keys stands at position 3.
  ScalarProgram score(5);
  score.setResult(score.append({Opcode::ToFloat, {3}}));
  problem.attend.score = score;
  EXPECT_NEAR(problem.attend.row({0, 0, 0}).lse, 3 + std::log(5), 1e-12);
  problem.attend.positionFromStart = true;
  EXPECT_NEAR(problem.attend.row({0, 0, 0}).lse, std::log(5), 1e-12);
}

TEST(Attention, mergingPartsEqualsOneAttend) {
  Problem problem(1, 1, 1, 7, 3);
  RowResult whole = problem.attend.row({0, 0, 0});
  std::vector<RowResult> parts;
  for (int64_t part = 0; part < 3; ++part) {
    problem.attend.set = makeSet([=](const PairIndex &pair) { return pair.key % 3 == part; });
    parts.push_back(problem.attend.row({0, 0, 0}));
  }
  problem.attend.set = noPairs();
  parts.push_back(problem.attend.row({0, 0, 0}));
  RowResult merged = mergeRows(parts);
  EXPECT_NEAR(merged.lse, whole.lse, 1e-12);
  EXPECT_NEAR(merged.output[2], whole.output[2], 1e-12);
  EXPECT_EQ(merged.liveKeys, 7);
}

TEST(Attention, mergingEmptyPartsStaysEmpty) {
  RowResult empty;
  empty.output = empty.magnitude = {0, 0};
  empty.lse = -infinity;
  RowResult merged = mergeRows({empty, empty});
  EXPECT_EQ(merged.lse, -infinity);
  EXPECT_EQ(merged.output, (std::vector<double>{0, 0}));
}

TEST(Attention, smallProblemsAreCheckedInFull) {
  RowSample sample = chooseRows(2, 3, 5, 64, 100, 1e6, 1);
  EXPECT_TRUE(sample.all);
  EXPECT_EQ(sample.rows.size(), 30u);
}

TEST(Attention, samplesHoldFirstLastAndTileBorderRows) {
  RowSample sample = chooseRows(1, 2, 1000, 64, 1000, 40000, 1);
  EXPECT_FALSE(sample.all);
  for (int64_t row : {0, 63, 64, 959, 960, 999})
    EXPECT_NE(std::find(sample.rows.begin(), sample.rows.end(), RowIndex{0, 1, row}),
              sample.rows.end())
        << row;
  EXPECT_EQ(sample.rows.size(), 40u);
  EXPECT_EQ(chooseRows(1, 2, 1000, 64, 1000, 40000, 1).rows, sample.rows);
  EXPECT_NE(chooseRows(1, 2, 1000, 64, 1000, 40000, 2).rows, sample.rows);
}

TEST(Attention, nothingIsSampledFromAnEmptyResult) {
  EXPECT_TRUE(chooseRows(0, 2, 1000, 64, 1e9, 1, 1).rows.empty());
  EXPECT_TRUE(chooseRows(1, 2, 0, 64, 1e9, 1, 1).rows.empty());
}
