//===- ChoicesTest.cpp - device code of choices, on threads ----------------===//
#include "lib/Selection/Selection.h"
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Block.h"

#include <gtest/gtest.h>

namespace {
using namespace on_block;
#include "lib/Device/Teams.cuh"

#include "lib/Device/Choices.cuh"

#include "lib/Device/KeptRows.cuh"

#include "lib/Device/Draws.cuh"
} // namespace

using namespace lacuna;

/// Threads of a block, as kernels have them.
static constexpr int threads = 256;
static constexpr int mostRows = threads / 32;

namespace {
/// Rows of scores with ties, infinities and NaN, and what is chosen in them.
struct Choices : testing::Test {
  void draw(uint64_t seed, int rowCount, int columnCount, double few) {
    Random random(seed);
    rows = rowCount;
    columns = columnCount;
    scores.resize(static_cast<size_t>(rows * columns));
    for (float &score : scores) {
      // Some rows have few different scores.
      score = static_cast<float>(random.next() % 4 == 0 ? random.between(-3, 3)
                                                        : random.between(-1000000, 1000000) * few);
      uint64_t kind = random.next() % 64;
      if (kind < 6)
        score = kind < 3 ? -INFINITY : kind < 5 ? NAN : INFINITY;
    }
  }
  /// Lists of each row by rule, beside those of the library for CPUs.
  template <Rule Kind> void expectChosen(double number, i64 floor, i64 cap, int capacity) {
    std::vector<int> ids(static_cast<size_t>(rows * capacity), 77), counts(mostRows, 77);
    std::vector<int> knownIds = ids, knownCounts = counts;
    ScoreTable table{scores.data(), 0, columns, 1, columns};
    auto place = [&](i64, i64 row, int entry, int column) {
      ids[static_cast<size_t>(row * capacity + entry)] = column;
    };
    auto count = [&](i64, i64 row, int chosen) { counts[static_cast<size_t>(row)] = chosen; };
    auto chooseRow = [&](int row) {
      withRow<threads>(table, 0, row, AsTheyAre(), [&](const auto &choice) {
        choose<Kind>(choice, number, floor, cap, capacity, place, count);
      });
    };
    run(chooseRow);
    for (int row = 0; row < rows; ++row) {
      selection::ChooseRequest request{};
      request.scores = {scores.data(), {1, 1, rows, columns}, {0, 0, columns, 1}};
      request.ids = {knownIds.data(), {1, 1, rows, capacity}, {0, 0, capacity, 1}};
      request.counts = {knownCounts.data(), {1, 1, rows}, {0, 0, 1}};
      request.number = number;
      request.rule = static_cast<selection::Rule>(Kind);
      request.floor = floor;
      request.cap = cap;
      request.at[2] = row;
      selection::choose(request);
    }
    EXPECT_EQ(counts, knownCounts) << columns << " columns, rule " << int(Kind) << " " << number;
    EXPECT_EQ(ids, knownIds) << columns << " columns, rule " << int(Kind) << " " << number;
  }
  /// As a kernel does: a warp a row where rows are short.
  template <class Visit> void run(Visit visit) {
    if (columns <= warpColumns)
      launch(mostRows, [&] {
        if (int row = static_cast<int>(threadIdx.x / 32); row < rows)
          visit(row);
      });
    else
      for (int row = 0; row < rows; ++row)
        launch(mostRows, [&] { visit(row); });
  }

  int rows = 0, columns = 0;
  std::vector<float> scores;
};
} // namespace

TEST_F(Choices, shortRows) {
  for (int width : {0, 1, 5, 33, 64, 130, 512}) {
    draw(static_cast<uint64_t>(width), 8, width, 0.001);
    for (int number : {0, 1, 16, 64})
      expectChosen<Rule::TopK>(number, 0, INT32_MAX, std::min(width, number));
    expectChosen<Rule::Share>(0.3, 2, 40, std::min(width, 40));
    expectChosen<Rule::Above>(0.5, 0, 9, std::min(width, 9));
  }
}

TEST_F(Choices, longRows) {
  for (int width : {513, 1500, 8192}) {
    draw(static_cast<uint64_t>(width), 2, width, 0.001);
    // Few: the threads' greatest show where to look; many, and equal ones: all keys are counted.
    for (int number : {1, 16, 250, 400})
      expectChosen<Rule::TopK>(number, 0, INT32_MAX, number);
    expectChosen<Rule::Share>(0.3, 0, INT32_MAX, width);
  }
  draw(9, 2, 3000, 0);
  for (int number : {3, 100, 2900})
    expectChosen<Rule::TopK>(number, 0, INT32_MAX, number);
}

TEST_F(Choices, rowsWithFewCandidates) {
  for (int width : {300, 3000}) {
    draw(4, 2, width, 1);
    for (size_t at = 0; at < scores.size(); ++at)
      scores[at] = at % 256 < 3 ? scores[at] : -INFINITY;
    for (int number : {2, 5, 7, 30})
      expectChosen<Rule::TopK>(number, 0, INT32_MAX, number);
  }
}

TEST_F(Choices, rowsInMemory) {
  draw(5, 1, 8193, 0.001);
  expectChosen<Rule::TopK>(20, 0, INT32_MAX, 20);
  expectChosen<Rule::Share>(0.3, 0, INT32_MAX, 8193);
}

TEST_F(Choices, rulesOfMasses) {
  for (int width : {200, 700}) {
    draw(static_cast<uint64_t>(width), 2, width, 1e-6);
    for (float &score : scores)
      score = std::isnan(score) ? 0.f : score;
    expectChosen<Rule::NearMax>(-1.5, 3, 50, 50);
    expectChosen<Rule::Deviation>(1, 0, INT32_MAX, width);
    expectChosen<Rule::TopP>(0.5, 0, INT32_MAX, width);
  }
}

TEST_F(Choices, restrictedScores) {
  for (int width : {100, 700, 8500}) {
    draw(static_cast<uint64_t>(width), 1, width, 0.001);
    auto adjust = [](i64 column, float score) {
      return column % 5 == 2 ? -INFINITY : column % 97 == 3 ? INFINITY : score;
    };
    std::vector<float> restricted(scores.size(), 77);
    std::vector<int> ids(12, 77);
    ScoreTable table{scores.data(), 0, columns, 1, columns};
    run([&](int row) {
      withRow<threads>(table, 0, row, adjust, [&](const auto &choice) {
        storeAdjusted(choice, table, table.rowAt(0, row), adjust, [&](int column, float score) {
          restricted[static_cast<size_t>(column)] = score;
        });
        choose<Rule::TopK>(
            choice, 12, 0, INT32_MAX, 12,
            [&](i64, i64, int place, int column) { ids[static_cast<size_t>(place)] = column; },
            [](i64, i64, int) {});
      });
    });
    for (size_t column = 0; column < scores.size(); ++column)
      scores[column] = adjust(static_cast<i64>(column), scores[column]);
    EXPECT_EQ(std::memcmp(restricted.data(), scores.data(), 4 * scores.size()), 0);
    std::vector<int> known(12, 77), counts(1);
    selection::ChooseRequest request{};
    request.scores = {scores.data(), {1, 1, 1, columns}, {0, 0, columns, 1}};
    request.ids = {known.data(), {1, 1, 1, 12}, {0, 0, 12, 1}};
    request.counts = {counts.data(), {1, 1, 1}, {0, 0, 1}};
    request.number = 12;
    request.cap = INT32_MAX;
    selection::choose(request);
    EXPECT_EQ(ids, known);
  }
}

TEST_F(Choices, margins) {
  for (int width : {40, 600}) {
    draw(static_cast<uint64_t>(width), 2, width, 0.001);
    std::vector<float> margins(2, 77), known(2, 77);
    ScoreTable table{scores.data(), 0, columns, 1, columns};
    run([&](int row) {
      withRow<threads>(table, 0, row, AsTheyAre(), [&](const auto &choice) {
        storeMargin(choice, 8, margins[static_cast<size_t>(row)]);
      });
    });
    for (int row = 0; row < rows; ++row) {
      selection::MarginRequest request{};
      request.scores = {scores.data(), {1, 1, rows, columns}, {0, 0, columns, 1}};
      request.margin = {known.data(), {1, 1, rows}, {0, 0, 1}};
      request.number = 8;
      request.at[2] = row;
      selection::margin(request);
      EXPECT_FLOAT_EQ(margins[static_cast<size_t>(row)], known[static_cast<size_t>(row)]);
    }
  }
}
