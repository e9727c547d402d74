//===- LinearTest.cpp - the oracle of linear attention, by hand ------------===//
#include "lib/Reference/Linear.h"

#include "lib/Support/Random.h"
#include "lib/Support/Walk.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static OwnedTensor drawTensor(std::vector<int64_t> shape, Random &random,
                              ElementType type = ElementType::F32) {
  OwnedTensor tensor(type, std::move(shape));
  forEachIndex(tensor.view().shape, [&](const std::vector<int64_t> &index) {
    tensor.view().set(index, 2 * random.uniform() - 1);
  });
  return tensor;
}

static std::vector<double> rowOf(const Tensor &tensor, int64_t head, int64_t token) {
  std::vector<double> row;
  for (int64_t channel = 0; channel < tensor.shape[3]; ++channel)
    row.push_back(tensor.at({0, head, token, channel}));
  return row;
}

static double featureByHand(FeatureKind kind, const std::vector<double> &row, size_t channel) {
  double x = row[channel], sum = 0;
  for (double other : row)
    sum += std::exp(other);
  switch (kind) {
  case FeatureKind::Softmax:
    return std::exp(x) / sum;
  case FeatureKind::Relu:
    return std::max(x, 0.0);
  case FeatureKind::Elu:
    return x > 0 ? x + 1 : std::exp(x);
  case FeatureKind::Exp:
    return std::exp(x);
  case FeatureKind::Identity:
    return x;
  }
  return 0;
}

static constexpr FeatureKind kinds[] = {FeatureKind::Softmax, FeatureKind::Relu, FeatureKind::Elu,
                                        FeatureKind::Exp, FeatureKind::Identity};

TEST(Features, areWhatTheOpSays) {
  std::vector<double> row = {0.5, -1.25, 0, 3, -0.0625};
  for (FeatureKind kind : kinds) {
    std::vector<Estimate> features = featuresOf(kind, ElementType::F32, row);
    for (size_t channel = 0; channel < row.size(); ++channel)
      EXPECT_NEAR(features[channel].exact, featureByHand(kind, row, channel), 1e-6);
  }
}

TEST(Features, areRoundedToTheirTokens) {
  std::vector<Estimate> features = featuresOf(FeatureKind::Exp, ElementType::BF16, {1, 0});
  EXPECT_EQ(features[0].exact, 2.71875);
  EXPECT_GT(features[0].tolerance, 2.7 * 0x1p-8);
  EXPECT_EQ(features[1].exact, 1);
  EXPECT_EQ(featuresOf(FeatureKind::Exp, ElementType::F16, {12})[0].exact, infinity);
  // What is not rounded has no error.
  EXPECT_EQ(featuresOf(FeatureKind::Relu, ElementType::BF16, {1.5})[0].tolerance, 0);
  EXPECT_TRUE(std::isnan(featuresOf(FeatureKind::Relu, ElementType::F32, {NAN})[0].exact));
}

namespace {
/// States of blocks by their definition.
struct ByHand {
  ByHand(FeatureKind kind, const Tensor &key, const Tensor &value, int64_t block)
      : count((key.shape[2] + block - 1) / block),
        states(ElementType::F32, {1, key.shape[1], count, key.shape[3], value.shape[3]}),
        norms(ElementType::F32, {1, key.shape[1], count, key.shape[3]}) {
    for (int64_t head = 0; head < key.shape[1]; ++head)
      for (int64_t token = 0; token < key.shape[2]; ++token) {
        std::vector<double> row = rowOf(key, head, token);
        for (int64_t channel = 0; channel < key.shape[3]; ++channel) {
          double feature = featureByHand(kind, row, static_cast<size_t>(channel));
          add(norms.view(), {0, head, token / block, channel}, feature);
          for (int64_t place = 0; place < value.shape[3]; ++place)
            add(states.view(), {0, head, token / block, channel, place},
                feature * value.at({0, head, token, place}));
        }
      }
  }
  static void add(Tensor &tensor, const std::vector<int64_t> &at, double number) {
    tensor.set(at, tensor.at(at) + number);
  }

  int64_t count;
  OwnedTensor states, norms;
};

/// Every row of an op's results.
std::vector<RowIndex> allRows(const SelectOracle &oracle) {
  std::vector<RowIndex> rows;
  forEachIndex(oracle.rowShape(), [&](const std::vector<int64_t> &index) {
    rows.push_back({index[0], index[1], index[2]});
  });
  return rows;
}
} // namespace

TEST(BlockStates, takeWhatIsRightAndNothingElse) {
  Random random(1);
  for (FeatureKind kind : kinds)
    for (int64_t keys : {0, 1, 7, 8, 20}) {
      OwnedTensor key = drawTensor({1, 2, keys, 5}, random);
      OwnedTensor value = drawTensor({1, 2, keys, 3}, random);
      ByHand hand(kind, key.view(), value.view(), 8);
      BlockStates oracle;
      oracle.kind = kind;
      oracle.key = key.view();
      oracle.value = value.view();
      oracle.block = 8;
      ASSERT_EQ(oracle.rowShape(), (std::vector<int64_t>{1, 2, hand.count}));
      std::vector<Tensor> results = {hand.states.view(), hand.norms.view()};
      for (const Comparison &comparison : oracle.compare(results, allRows(oracle), 1))
        EXPECT_TRUE(comparison.passes()) << comparison.got << " for " << comparison.exact;
      if (keys == 0)
        continue;
      ByHand::add(hand.states.view(), {0, 1, hand.count - 1, 4, 2}, 1e-3);
      ByHand::add(hand.norms.view(), {0, 0, 0, 1}, 1e-3);
      std::vector<Comparison> wrong = oracle.compare(results, allRows(oracle), 1);
      EXPECT_EQ(wrong[0].beyond, 1);
      EXPECT_EQ(wrong[0].where, (std::vector<int64_t>{0, 1, hand.count - 1, 4, 2}));
      EXPECT_EQ(wrong[1].beyond, 1);
    }
}

TEST(StateSums, areOfAllBeforeOrOfNeighbours) {
  Random random(2);
  OwnedTensor key = drawTensor({1, 1, 37, 4}, random), value = drawTensor({1, 1, 37, 3}, random);
  // Sums of blocks of 8 by two are blocks of 16, and sums before block c have 8 c keys.
  ByHand fine(FeatureKind::Elu, key.view(), value.view(), 8);
  ByHand coarse(FeatureKind::Elu, key.view(), value.view(), 16);
  StateSums oracle;
  oracle.states = fine.states.view();
  oracle.norms = fine.norms.view();
  oracle.by = 2;
  ASSERT_EQ(oracle.rowShape()[2], 3);
  for (const Comparison &comparison :
       oracle.compare({coarse.states.view(), coarse.norms.view()}, allRows(oracle), 1))
    EXPECT_TRUE(comparison.passes());
  oracle.by = 0;
  ASSERT_EQ(oracle.rowShape()[2], 6);
  OwnedTensor sums(ElementType::F32, {1, 1, 6, 4, 3}), norms(ElementType::F32, {1, 1, 6, 4});
  forEachIndex(sums.view().shape, [&](std::vector<int64_t> index) {
    double sum = 0;
    std::vector<int64_t> at = index;
    for (at[2] = 0; at[2] < index[2]; ++at[2])
      sum += fine.states.view().at(at);
    sums.view().set(index, sum);
  });
  forEachIndex(norms.view().shape, [&](std::vector<int64_t> index) {
    double sum = 0;
    std::vector<int64_t> at = index;
    for (at[2] = 0; at[2] < index[2]; ++at[2])
      sum += fine.norms.view().at(at);
    norms.view().set(index, sum);
  });
  for (const Comparison &comparison :
       oracle.compare({sums.view(), norms.view()}, allRows(oracle), 1))
    EXPECT_TRUE(comparison.passes());
}

namespace {
/// Pairs of a row and a state that a table names.
struct Table final : SetExpression {
  std::vector<std::vector<bool>> live;
  bool contains(const PairIndex &pair) const override {
    return live[static_cast<size_t>(pair.query)][static_cast<size_t>(pair.key)];
  }
};
} // namespace

// A read is attention with the weight phi(q) . phi(k) over the keys of the blocks that a row reads.
TEST(StateReads, areAttentionOverTheKeysOfBlocks) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    FeatureKind kind = kinds[random.below(4)];
    int64_t keys = random.between(0, 30), queries = random.between(1, 20), block = 8, tile = 4;
    OwnedTensor query = drawTensor({1, 4, queries, 5}, random);
    OwnedTensor key = drawTensor({1, 2, keys, 5}, random);
    OwnedTensor value = drawTensor({1, 2, keys, 3}, random);
    ByHand hand(kind, key.view(), value.view(), block);
    auto table = std::make_shared<Table>();
    for (int64_t row = 0; row < queries; ++row) {
      table->live.emplace_back();
      for (int64_t c = 0; c < hand.count; ++c)
        table->live.back().push_back(random.below(2) == 0);
    }
    StateReads oracle;
    oracle.kind = kind;
    oracle.query = query.view();
    oracle.states = hand.states.view();
    oracle.norms = hand.norms.view();
    oracle.set = table;
    oracle.queryTile = tile;
    for (int64_t head = 0; head < 4; ++head)
      for (int64_t row = 0; row < queries; ++row) {
        std::vector<double> q = rowOf(query.view(), head, row), sums(3);
        double weight = 0;
        for (int64_t token = 0; token < keys; ++token) {
          // Rows of a tile read what its first row does.
          if (!table->live[static_cast<size_t>(row / tile * tile)]
                          [static_cast<size_t>(token / block)])
            continue;
          std::vector<double> k = rowOf(key.view(), head / 2, token);
          double product = 0;
          for (size_t channel = 0; channel < q.size(); ++channel)
            product += featureByHand(kind, q, channel) * featureByHand(kind, k, channel);
          weight += product;
          for (size_t place = 0; place < sums.size(); ++place)
            sums[place] +=
                product * value.view().at({0, head / 2, token, static_cast<int64_t>(place)});
        }
        oracle.isUndivided = false;
        StateReads::Row exact = oracle.row({0, head, row}, ElementType::F32);
        oracle.isUndivided = true;
        StateReads::Row undivided = oracle.row({0, head, row}, ElementType::F32);
        EXPECT_NEAR(exact.weight.exact, weight, 1e-4);
        for (size_t place = 0; place < sums.size(); ++place) {
          EXPECT_NEAR(exact.output[place].exact, weight > 1e-9 ? sums[place] / weight : 0, 1e-3);
          EXPECT_NEAR(undivided.output[place].exact, sums[place], 1e-4);
        }
      }
  }
}

TEST(StateReads, sayThatNothingIsRead) {
  Random random(3);
  OwnedTensor query = drawTensor({1, 1, 2, 5}, random);
  OwnedTensor states(ElementType::F32, {1, 1, 0, 5, 3}), norms(ElementType::F32, {1, 1, 0, 5});
  StateReads oracle;
  oracle.query = query.view();
  oracle.states = states.view();
  oracle.norms = norms.view();
  oracle.set = std::make_shared<Table>();
  OwnedTensor output(ElementType::F32, {1, 1, 2, 3}), lse(ElementType::F32, {1, 1, 2});
  lse.view().set({0, 0, 0}, -infinity);
  lse.view().set({0, 0, 1}, -infinity);
  std::vector<Tensor> results = {output.view(), lse.view()};
  for (const Comparison &comparison : oracle.compare(results, allRows(oracle), 1))
    EXPECT_TRUE(comparison.passes());
  lse.view().set({0, 0, 1}, 0);
  output.view().set({0, 0, 0, 1}, 0.5);
  std::vector<Comparison> wrong = oracle.compare(results, allRows(oracle), 1);
  EXPECT_EQ(wrong[0].beyond, 1);
  EXPECT_EQ(wrong[1].beyond, 1);
}

TEST(GatedSum, leavesOutPartsWithoutWeight) {
  OwnedTensor a(ElementType::F32, {1, 2, 1, 2}), b(ElementType::F32, {1, 2, 1, 2});
  a.view().set({0, 0, 0, 0}, 2);
  a.view().set({0, 1, 0, 0}, std::nan(""));
  b.view().set({0, 0, 0, 0}, 4);
  b.view().set({0, 1, 0, 0}, 4);
  OwnedTensor gateA(ElementType::F32, {2}), gateB(ElementType::F32, {1, 2, 1});
  gateA.view().set({0}, 0.5);
  gateB.view().set({0, 0, 0}, 0.25);
  gateB.view().set({0, 1, 0}, -1);
  GatedSum oracle;
  oracle.outputs = {a.view(), b.view()};
  oracle.gates = {gateA.view(), gateB.view()};
  EXPECT_EQ(oracle.row({0, 0, 0})[0].exact, 2);
  EXPECT_EQ(oracle.row({0, 1, 0})[0].exact, -4);
}
