//===- ChooseTest.cpp - choices against sorting ----------------------------===//
#include "lib/Selection/Selection.h"

#include "lib/Reference/Select.h"
#include "lib/Selection/Philox.h"
#include "lib/Support/Random.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace lacuna;
using namespace lacuna::selection;
using testing::ElementsAre;

static constexpr float infinity = std::numeric_limits<float>::infinity();
static constexpr float nan32 = std::numeric_limits<float>::quiet_NaN();

/// A view of contiguous numbers.
template <size_t Rank, typename T>
static View<T, Rank> viewOf(T *data, const int64_t (&extents)[Rank]) {
  View<T, Rank> view{data, {}, {}};
  int64_t stride = 1;
  for (size_t axis = Rank; axis-- > 0;) {
    view.extents[axis] = extents[axis];
    view.strides[axis] = stride;
    stride *= extents[axis];
  }
  return view;
}

/// The list of one row.
static std::vector<int32_t> chooseRow(const std::vector<float> &scores, Rule rule, double number,
                                      int64_t capacity, int64_t floor = 0,
                                      int64_t cap = INT32_MAX) {
  std::vector<int32_t> ids(static_cast<size_t>(capacity), 77);
  int32_t count = 77;
  auto columns = static_cast<int64_t>(scores.size());
  choose({.scores = viewOf<4>(scores.data(), {1, 1, 1, columns}),
          .ids = viewOf<4>(ids.data(), {1, 1, 1, capacity}),
          .counts = viewOf<3>(&count, {1, 1, 1}),
          .numbers = {},
          .number = number,
          .rule = rule,
          .scope = Scope::Row,
          .floor = floor,
          .cap = cap,
          .at = {0, 0, 0}});
  EXPECT_EQ(std::count_if(ids.begin(), ids.end(), [](int32_t id) { return id >= 0; }), count);
  return ids;
}

TEST(Choose, takesTheGreatestAndSortsThemByColumn) {
  EXPECT_THAT(chooseRow({1, 5, 3, 4}, Rule::TopK, 2, 2), ElementsAre(1, 3));
}

TEST(Choose, prefersTheLowerColumnAmongEqualScores) {
  EXPECT_THAT(chooseRow({2, 7, 2, 2}, Rule::TopK, 3, 3), ElementsAre(0, 1, 2));
  // Zeros of both signs are one number.
  EXPECT_THAT(chooseRow({-0.0f, 0.0f, -1}, Rule::TopK, 1, 1), ElementsAre(0));
}

TEST(Choose, putsNanBehindEveryNumberAndLeavesMinusInfinityOut) {
  EXPECT_THAT(chooseRow({nan32, -infinity, -3e38f}, Rule::TopK, 1, 3), ElementsAre(2, -1, -1));
  EXPECT_THAT(chooseRow({nan32, -infinity, -3e38f}, Rule::TopK, 3, 3), ElementsAre(0, 2, -1));
}

TEST(Choose, takesForcedColumnsFirstAndOutOfStatistics) {
  EXPECT_THAT(chooseRow({5, infinity, 9, infinity}, Rule::TopK, 3, 3), ElementsAre(1, 2, 3));
  // The greatest other score is 9.
  EXPECT_THAT(chooseRow({8.5f, infinity, 9, 7}, Rule::NearMax, -1, 4), ElementsAre(0, 1, 2, -1));
  EXPECT_THAT(chooseRow({1, infinity, 3}, Rule::Deviation, 0, 3), ElementsAre(1, 2, -1));
}

TEST(Choose, keepsAsManyAsAShareNeeds) {
  // Softmax of these: 0.5, 0.25, 0.25.
  std::vector<float> scores = {0, std::log(2.0f), 0};
  EXPECT_THAT(chooseRow(scores, Rule::TopP, 0.4, 3), ElementsAre(1, -1, -1));
  EXPECT_THAT(chooseRow(scores, Rule::TopP, 0.6, 3), ElementsAre(0, 1, -1));
  EXPECT_THAT(chooseRow(scores, Rule::TopP, 0.8, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(chooseRow(scores, Rule::TopP, 0, 3), ElementsAre(-1, -1, -1));
  EXPECT_THAT(chooseRow(scores, Rule::TopP, 1, 3), ElementsAre(0, 1, 2));
}

TEST(Choose, roundsSharesUpAsIntegersDo) {
  std::vector<float> scores(100, 1);
  EXPECT_EQ(chooseRow(scores, Rule::Share, 0.07, 100)[6], 6);
  EXPECT_EQ(chooseRow(scores, Rule::Share, 0.07, 100)[7], -1);
  EXPECT_EQ(reference::countOfShare(0.07, 100), 7);
  EXPECT_EQ(reference::countOfShare(0.071, 100), 8);
  EXPECT_EQ(reference::countOfShare(1, 100), 100);
  EXPECT_EQ(reference::countOfShare(NAN, 100), 0);
}

TEST(Choose, keepsFloorCapAndCapacity) {
  EXPECT_THAT(chooseRow({1, 2, 3}, Rule::Above, 10, 3, /*floor=*/2), ElementsAre(1, 2, -1));
  EXPECT_THAT(chooseRow({1, 2, 3}, Rule::Above, 0, 3, 0, /*cap=*/1), ElementsAre(2, -1, -1));
  EXPECT_THAT(chooseRow({1, 2, 3}, Rule::TopK, 3, 2), ElementsAre(1, 2));
  EXPECT_THAT(chooseRow({}, Rule::TopK, 3, 2), ElementsAre(-1, -1));
}

TEST(Choose, countsNumbersThatAreNoneAsZero) {
  for (Rule rule :
       {Rule::TopK, Rule::Share, Rule::TopP, Rule::Above, Rule::NearMax, Rule::Deviation})
    EXPECT_THAT(chooseRow({1, 2}, rule, nan32, 2), ElementsAre(-1, -1));
  EXPECT_THAT(chooseRow({1, 2}, Rule::TopK, -5, 2), ElementsAre(-1, -1));
  EXPECT_THAT(chooseRow({1, 2}, Rule::TopK, 1e300, 2), ElementsAre(0, 1));
}

//===----------------------------------------------------------------------===//
// Random rows
//===----------------------------------------------------------------------===//

/// Scores with many ties, and now and then what is no number.
static float drawScore(Random &random) {
  switch (random.below(12)) {
  case 0:
    return -infinity;
  case 1:
    return random.below(3) ? static_cast<float>(random.between(-2, 2)) : infinity;
  case 2:
    return random.below(2) ? nan32 : -0.0f;
  case 3:
    return static_cast<float>(random.normal()) * 1e38f;
  default:
    return static_cast<float>(random.between(-6, 6)) / (random.below(2) ? 1.0f : 8.0f);
  }
}

/// The first `count` of a row by sorting.
static std::vector<int32_t> bruteForce(const std::vector<float> &scores, size_t count) {
  std::vector<int32_t> order;
  for (size_t column = 0; column < scores.size(); ++column)
    if (scores[column] != -infinity)
      order.push_back(static_cast<int32_t>(column));
  auto before = [&](int32_t a, int32_t b) {
    float x = scores[static_cast<size_t>(a)], y = scores[static_cast<size_t>(b)];
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(y);
    return x != y ? x > y : a < b;
  };
  std::sort(order.begin(), order.end(), before);
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

TEST(ChooseProperty, topKIsWhatSortingGives) {
  Random random(5);
  for (int round = 0; round < 4000; ++round) {
    std::vector<float> scores(static_cast<size_t>(random.below(round % 100 ? 40 : 3000)));
    for (float &score : scores)
      score = drawScore(random);
    int64_t count = random.between(0, static_cast<int64_t>(scores.size()) + 2);
    std::vector<int32_t> expected = bruteForce(scores, static_cast<size_t>(count));
    expected.resize(static_cast<size_t>(count), -1);
    ASSERT_EQ(chooseRow(scores, Rule::TopK, static_cast<double>(count), count), expected) << round;
  }
}

namespace {
/// A tensor of scores with strides of its own, and lists.
struct Lists {
  Lists(Random &random, std::vector<int64_t> shape);
  std::vector<Tensor> results() const { return {ids.view(), counts.view()}; }

  OwnedTensor memory, ids, counts;
  Tensor scores;
};
} // namespace

Lists::Lists(Random &random, std::vector<int64_t> shape)
    : memory(ElementType::F32, {2 * shape[0] * shape[1] * shape[2] * shape[3]}),
      ids(ElementType::I32, shape), counts(ElementType::I32, {shape[0], shape[1], shape[2]}) {
  // Rows before heads, and every second element.
  scores = {ElementType::F32,
            shape,
            {2 * shape[1] * shape[2] * shape[3], 2 * shape[3], 2 * shape[1] * shape[3], 2},
            memory.view().data};
  for (int64_t at = 0; at < memory.view().elements(); ++at)
    memory.view().set({at}, drawScore(random));
}

template <size_t Rank, typename T> static View<T, Rank> viewOf(const Tensor &tensor) {
  View<T, Rank> view{static_cast<T *>(tensor.data), {}, {}};
  std::copy(tensor.shape.begin(), tensor.shape.end(), view.extents);
  std::copy(tensor.strides.begin(), tensor.strides.end(), view.strides);
  return view;
}

TEST(ChooseProperty, everyRuleAndScopeAgreesWithTheOracle) {
  Random random(6);
  for (int round = 0; round < 1500; ++round) {
    std::vector<int64_t> shape = {random.between(1, 2), random.between(1, 3), random.between(1, 4),
                                  random.between(0, 40)};
    Lists lists(random, shape);
    reference::Choice oracle;
    oracle.rule = static_cast<reference::ChoiceRule>(random.below(6));
    bool hasScope = oracle.rule <= reference::ChoiceRule::Share;
    oracle.scope = static_cast<reference::ChoiceScope>(hasScope ? random.below(3) : 0);
    oracle.scores = lists.scores;
    oracle.number = oracle.rule == reference::ChoiceRule::TopK
                        ? static_cast<double>(random.between(0, 60))
                        : random.uniform() * (random.below(4) ? 1 : -2);
    oracle.floor = random.below(4);
    oracle.cap = random.below(2) ? INT32_MAX : random.between(oracle.floor, 20);
    ChooseRequest request{.scores = viewOf<4, const float>(lists.scores),
                          .ids = viewOf<4, int32_t>(lists.ids.view()),
                          .counts = viewOf<3, int32_t>(lists.counts.view()),
                          .numbers = {},
                          .number = oracle.number,
                          .rule = static_cast<Rule>(oracle.rule),
                          .scope = static_cast<Scope>(oracle.scope),
                          .floor = oracle.floor,
                          .cap = oracle.cap,
                          .at = {0, 0, 0}};
    std::vector<reference::RowIndex> rows;
    for (int64_t b = 0; b < shape[0]; ++b)
      for (int64_t h = 0; h < shape[1]; ++h)
        for (int64_t r = 0; r < shape[2]; ++r) {
          rows.push_back({b, h, r});
          request.at[0] = b;
          request.at[1] = h;
          request.at[2] = r;
          choose(request);
        }
    for (const reference::Comparison &found : oracle.compare(lists.results(), rows, 1))
      ASSERT_TRUE(found.passes()) << round << ": rule " << static_cast<int>(oracle.rule)
                                  << " scope " << static_cast<int>(oracle.scope) << " number "
                                  << oracle.number << " got " << found.got << " exact "
                                  << found.exact;
  }
}

//===----------------------------------------------------------------------===//
// Samples, margins, gates
//===----------------------------------------------------------------------===//

// Known answers of the authors' implementation (Random123, kat_vectors).
TEST(Philox, givesTheKnownAnswers) {
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Philox, isCountedByPlace) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    auto seed = static_cast<int64_t>(random.next());
    reference::RowIndex row{random.below(5), random.below(50), random.below(100000)};
    int64_t column = random.below(1 << 20);
    EXPECT_EQ(uniformAt(seed, row.batch, row.head, row.query, column),
              reference::drawAt(seed, row, column));
  }
}

/// Draws one row many times and counts each column.
static std::vector<int> drawOften(const std::vector<float> &scores, double number, int times,
                                  std::vector<float> &weights) {
  std::vector<int> drawn(scores.size());
  auto columns = static_cast<int64_t>(scores.size());
  std::vector<int32_t> ids(scores.size());
  int32_t count = 0;
  for (int seed = 0; seed < times; ++seed) {
    sample({.scores = viewOf<4>(scores.data(), {1, 1, 1, columns}),
            .ids = viewOf<4>(ids.data(), {1, 1, 1, columns}),
            .counts = viewOf<3>(&count, {1, 1, 1}),
            .weights = viewOf<4>(weights.data(), {1, 1, 1, columns}),
            .number = number,
            .seed = seed,
            .at = {0, 0, 0}});
    for (int32_t entry = 0; entry < count; ++entry)
      ++drawn[static_cast<size_t>(ids[static_cast<size_t>(entry)])];
  }
  return drawn;
}

TEST(Sample, drawsEachColumnWithItsChance) {
  std::vector<float> weights(5);
  std::vector<int> drawn =
      drawOften({0, std::log(3.0f), infinity, -infinity, nan32}, 1, 4000, weights);
  EXPECT_NEAR(drawn[0], 1000, 120);
  EXPECT_NEAR(drawn[1], 3000, 120);
  EXPECT_EQ(drawn[2], 4000);
  EXPECT_EQ(drawn[3], 0);
  EXPECT_EQ(drawn[4], 0);
}

TEST(Sample, weighsByTheChance) {
  std::vector<float> weights(2);
  EXPECT_THAT(drawOften({0, 0}, 0.5, 1000, weights),
              testing::Each(testing::AllOf(testing::Gt(180), testing::Lt(320))));
  EXPECT_THAT(drawOften({0, 0}, 100, 1, weights), ElementsAre(1, 1));
  EXPECT_THAT(weights, ElementsAre(1, 1));
  EXPECT_THAT(drawOften({0, 0}, 0, 10, weights), ElementsAre(0, 0));
  EXPECT_THAT(weights, ElementsAre(0, 0));
}

static float marginOf(const std::vector<float> &scores, int64_t number) {
  float result = 77;
  margin({.scores = viewOf<4>(scores.data(), {1, 1, 1, static_cast<int64_t>(scores.size())}),
          .margin = viewOf<3>(&result, {1, 1, 1}),
          .number = number,
          .at = {0, 0, 0}});
  return result;
}

TEST(Margin, comparesTheCutWithTheRange) {
  EXPECT_EQ(marginOf({4, 1, 3, 0}, 2), 2.0f / 3);
  EXPECT_EQ(marginOf({4, infinity, nan32, -infinity, 3}, 2), 1);
  EXPECT_EQ(marginOf({4, 4, 4}, 2), 0);
  EXPECT_EQ(marginOf({3, 3, 2, 3}, 2), 0);
  EXPECT_EQ(marginOf({}, 1), 1);
}

TEST(Gate, givesTheLeastTheLowNumber) {
  float values[] = {3, nan32, 1, -0.0f, 0, infinity, 1, 2};
  int32_t numbers[8];
  auto run = [&](double share) {
    gate({.values = viewOf<3>(static_cast<const float *>(values), {1, 2, 4}),
          .numbers = viewOf<3>(numbers, {1, 2, 4}),
          .share = share,
          .low = 5,
          .high = 9,
          .batch = 0});
  };
  run(0.3); // Three of eight: the zeros and the first one.
  EXPECT_THAT(numbers, ElementsAre(9, 9, 5, 5, 5, 9, 9, 9));
  run(0.125);
  EXPECT_THAT(numbers, ElementsAre(9, 9, 9, 5, 9, 9, 9, 9));
  run(0);
  EXPECT_THAT(numbers, testing::Each(9));
  run(0.875); // All but NaN.
  EXPECT_THAT(numbers, ElementsAre(5, 9, 5, 5, 5, 5, 5, 5));
  run(1);
  EXPECT_THAT(numbers, testing::Each(5));
}
