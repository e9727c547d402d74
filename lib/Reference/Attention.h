//===- Attention.h - exact attention, row by row: the oracle ---------------===//
#pragma once

#include "lacuna/Status.h"
#include "lacuna/Tensor.h"
#include "lib/Reference/ScalarProgram.h"
#include "lib/Reference/SetExpression.h"

#include <optional>

namespace lacuna::reference {

/// One row of the result.
struct RowIndex {
  int64_t batch = 0, head = 0, query = 0;
  bool operator==(const RowIndex &other) const = default;
};

/// A row's exact result, and what its rounding error scales with.
struct RowResult {
  /// One number per value channel.
  std::vector<double> output;
  /// Natural logarithm of the sum of exponentials; -infinity for an empty row without a sink.
  double lse = 0;
  /// Per channel, the sum of |p_j v_j|: what the output would be if nothing cancelled.
  std::vector<double> magnitude;
  /// Largest |score|, and largest sum of |q_c k_c| * scale, over the live keys.
  double scoreMagnitude = 0;
  int64_t liveKeys = 0;
};

/// Blocks that attention left out by a look at their scores. Which ones is taken from a run: scores
/// near a limit may fall on either side.
struct Skip {
  int64_t queryBlock, keyBlock;
  /// Limits of rows, b x hq x nq.
  std::optional<Tensor> below;
  /// Distance to the largest score of the blocks before.
  std::optional<double> margin;
  /// Not 0 for a block that was not left out: b x hq x query blocks x key blocks.
  Tensor taken;
};

/// One attend: shapes as the attn dialect has them.
struct Attend {
  /// b x hq x nq x d, b x hkv x nk x d, b x hkv x nk x dv, borrowed.
  Tensor query, key, value;
  Set set;
  /// Shape of the tokens; by default both are sequences.
  std::optional<Grid> queryGrid, keyGrid;
  double scale = 1;
  /// Gets (score, batch, head, query position, key) and returns the score.
  std::optional<ScalarProgram> score;
  /// Whether the region's query position is the query's own number instead of being aligned at the
  /// end.
  bool positionFromStart = false;
  /// One per query head, or empty.
  std::vector<double> sinks;
  /// Keys of one column are seen as one: the mean of keys and of values, whose score gets the
  /// logarithm of their number added. Not together with sinks or a score function.
  Columns columns;
  /// Not together with columns.
  std::optional<Skip> skip;

  RowResult row(const RowIndex &index) const;
  /// Pairs of one row, without computing it.
  int64_t liveKeys(const RowIndex &index) const;
  /// Number of queries and keys.
  int64_t queries() const { return query.shape[2]; }
  int64_t keys() const { return key.shape[2]; }
};

/// A live pair of a row.
struct LiveKey {
  int64_t key;
  double score;
};
/// Scores of the live keys of a row, also of those in blocks that are left out; notes in `result`
/// the magnitudes that rounding errors scale with.
std::vector<LiveKey> scoreRow(const Attend &attend, const RowIndex &index, RowResult &result);

/// The row that one attend over the union of disjoint parts would give.
RowResult mergeRows(const std::vector<RowResult> &parts);

/// Rows to check: all of them, or a sample.
struct RowSample {
  std::vector<RowIndex> rows;
  bool all = true;
};

/// All rows of a `batch x heads x queries` result when `costPerRow` times their number is within
/// `budget` (in multiply-adds); else the first, the last and the tile-border rows of every head,
/// with as many others drawn by `seed` as the budget has room for.
RowSample chooseRows(int64_t batch, int64_t heads, int64_t queries, int64_t tileRows,
                     double costPerRow, double budget, uint64_t seed);

} // namespace lacuna::reference
