//===- Skips.cpp - which blocks attention may leave out --------------------===//
#include "lib/Reference/Skips.h"

#include "lib/Reference/Comparer.h"
#include "lib/Reference/ParallelFor.h"

#include <cmath>
#include <limits>

namespace lacuna::reference {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// One row of a query block.
struct Row {
  /// Per key block: the largest score, NaN where there is one, -infinity without a live key.
  std::vector<double> tops;
  /// Of the blocks that were taken so far.
  double maximum = -infinity;
  /// How far a score may be off.
  double slack = 0;
  /// NaN without one: nothing is below it.
  double below = std::numeric_limits<double>::quiet_NaN();
};

/// What rows say about a block.
struct Verdict {
  /// Whether all rows let it go, and whether one surely needs it.
  bool mayAllLetGo = true, mustTake = false;
};
} // namespace

static double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

static Row readRow(const Attend &attend, const RowIndex &index, int64_t keyChannels) {
  const Skip &skip = *attend.skip;
  Row row;
  row.tops.assign(static_cast<size_t>(skip.taken.shape[3]), -infinity);
  RowResult magnitudes;
  for (const LiveKey &entry : scoreRow(attend, index, magnitudes)) {
    double &top = row.tops[static_cast<size_t>(entry.key / skip.keyBlock)];
    top = larger(top, entry.score);
  }
  if (skip.below)
    row.below = skip.below->at({index.batch, index.head, index.query});
  double error = Tolerance(ElementType::F32, keyChannels).scores(magnitudes);
  // Limits are scaled and subtracted in f32, too.
  double largest =
      magnitudes.scoreMagnitude + (std::isfinite(row.below) ? std::fabs(row.below) : 0);
  row.slack = 4 * error + 0x1p-21 * largest;
  return row;
}

/// Adds what one row says about a block with this largest score.
static void judge(const Row &row, double top, const std::optional<double> &margin,
                  Verdict &verdict) {
  if (top == -infinity)
    return;
  bool isSurelyBelow = false, isPerhapsBelow = false;
  auto compare = [&](double limit, double slack) {
    isSurelyBelow |= top < limit - slack;
    isPerhapsBelow |= top < limit + slack;
  };
  compare(row.below, row.slack);
  if (margin)
    compare(row.maximum - *margin, 2 * row.slack + 0x1p-21 * *margin);
  verdict.mayAllLetGo &= isSurelyBelow;
  verdict.mustTake |= !isPerhapsBelow;
}

Comparison compareTaken(const Attend &attend, const std::vector<BlockIndex> &blocks,
                        int64_t keyChannels, unsigned threads) {
  const Skip &skip = *attend.skip;
  int64_t keyBlocks = skip.taken.shape[3];
  // What each mark should have been.
  std::vector<std::vector<double>> expected(blocks.size());
  parallelFor(static_cast<int64_t>(blocks.size()), threads, [&](int64_t number) {
    const BlockIndex &at = blocks[static_cast<size_t>(number)];
    std::vector<Row> rows;
    int64_t first = at.block * skip.queryBlock;
    for (int64_t query = first; query < std::min(first + skip.queryBlock, attend.queries());
         ++query)
      rows.push_back(readRow(attend, {at.batch, at.head, query}, keyChannels));
    for (int64_t block = 0; block < keyBlocks; ++block) {
      double mark = skip.taken.at({at.batch, at.head, at.block, block});
      Verdict verdict;
      for (const Row &row : rows)
        judge(row, row.tops[static_cast<size_t>(block)], skip.margin, verdict);
      double right = verdict.mayAllLetGo ? 0 : verdict.mustTake ? 1 : mark != 0;
      expected[static_cast<size_t>(number)].push_back(right);
      if (mark != 0)
        for (Row &row : rows)
          row.maximum = larger(row.maximum, row.tops[static_cast<size_t>(block)]);
    }
  });
  Comparer comparer;
  for (size_t number = 0; number < blocks.size(); ++number)
    for (int64_t block = 0; block < keyBlocks; ++block) {
      const BlockIndex &at = blocks[number];
      std::vector<int64_t> where = {at.batch, at.head, at.block, block};
      double mark = skip.taken.at(where);
      comparer.add(mark, expected[number][static_cast<size_t>(block)], 0.5, std::move(where));
    }
  return comparer.finish();
}

} // namespace lacuna::reference
