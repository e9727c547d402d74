//===- Select.h - the select dialect, element by element: the oracle -------===//
//
// Each op has one class here, written from its description in the dialect and
// from nothing else. A choice jumps where two scores are nearly equal, so every
// op is compared given the tensors that it really read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lib/Reference/ScalarProgram.h"
#include "lib/Reference/SetExpression.h"
#include "lib/Reference/Tolerance.h"

namespace lacuna::reference {

/// What one op's results should be.
class SelectOracle {
public:
  virtual ~SelectOracle() = default;

  /// Extents of the op's first result; for lists without the capacity. What is sampled are the
  /// rows: the first three axes.
  virtual std::vector<int64_t> rowShape() const = 0;
  /// Whether results have the extents that they should have; that of lists is free.
  virtual bool fits(const std::vector<Tensor> &results) const;
  /// Multiply-adds that one row takes.
  virtual double costPerRow() const = 0;
  /// Compares sampled rows of all results of the op.
  virtual std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                          const std::vector<RowIndex> &rows,
                                          unsigned threads) const = 0;
};

/// An exact value, and how far from it a kernel's may be.
struct Estimate {
  double exact = 0, tolerance = 0;
};

/// Ops with one result whose rows stand alone.
class RowOracle : public SelectOracle {
public:
  /// The last axis of one row; one value for results of three axes.
  virtual std::vector<Estimate> row(const RowIndex &index) const = 0;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows, unsigned threads) const final;
};

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

enum class SummaryKind { Mean, Sum, Min, Max, Variance, First, Radius, Norm, Similarity, Count };

class Summary final : public RowOracle {
public:
  SummaryKind kind = SummaryKind::Mean;
  Tensor tokens;
  Grid grid;
  std::vector<int64_t> block;
  /// Blocks of a sequence that are left out before the first one, and whether a last one that is
  /// shorter is.
  int64_t before = 0;
  bool isWhole = false;
  /// The channels from first up to last.
  int64_t first = 0, last = 0;
  /// Elements of the result.
  ElementType type = ElementType::F32;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;

private:
  std::vector<int64_t> tokensOf(int64_t block) const;
};

class Fold final : public RowOracle {
public:
  Tensor tokens;
  int64_t by = 1;
  bool isReversed = false;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

/// Products of tokens with matrices, each of which belongs to as many neighbouring heads.
class Projection final : public RowOracle {
public:
  Tensor tokens, weights;
  /// Elements of the result.
  ElementType type = ElementType::F32;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

enum class PairKind { Dot, Box, Ball, Quadratic };
enum class ReductionKind { Sum, Mean, Max, LogSumExp };

/// Scores of blocks; with `columns` 0 the log-sum-exp of each row, without the last axis.
class BlockScores final : public RowOracle {
public:
  PairKind kind = PairKind::Dot;
  Tensor query, key;
  std::optional<Tensor> companion, lse, weights;
  /// All pairs if not there.
  Set set;
  /// Gets (score, batch, head, query position, key).
  std::optional<ScalarProgram> function;
  bool isFromStart = false;
  double scale = 1;
  int64_t rows = 1, columns = 1, group = 1;
  ReductionKind rowReduction = ReductionKind::Sum, columnReduction = ReductionKind::Sum;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;

private:
  struct Score;
  struct Rows;
  std::vector<Score> reduceRow(int64_t batch, int64_t head, int64_t query, Rows &rows) const;
  Score pair(const RowIndex &index, int64_t key, const Rows &rows) const;
  static Score reduce(ReductionKind kind, const std::vector<Score> &scores);
};

/// Products of each query row with the key rows that its list names.
class ListScores final : public RowOracle {
public:
  Tensor query, key, ids, counts;
  /// Null where the op has none.
  Set within, force;
  double scale = 1;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

/// Scores with the columns that lists name shut out.
class Remainder final : public RowOracle {
public:
  Tensor scores, ids, counts;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

class Restriction final : public RowOracle {
public:
  Tensor scores;
  /// Null where the op has none.
  Set within, force;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

enum class ChoiceRule { TopK, Share, TopP, Above, NearMax, Deviation };
enum class ChoiceScope { Row, Head, Batch };

/// Ids and counts. Where a rule compares a sum or a threshold, a kernel may stop where the exact
/// value is within rounding of the cut: every such number of columns is right.
class Choice final : public SelectOracle {
public:
  ChoiceRule rule = ChoiceRule::TopK;
  ChoiceScope scope = ChoiceScope::Row;
  Tensor scores;
  double number = 0;
  /// One per row, instead of `number`.
  std::optional<Tensor> numbers;
  int64_t floor = 0, cap = INT32_MAX;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;

  /// Fewest and most columns that may be chosen.
  struct Bounds {
    int64_t least = 0, most = 0;
  };
  /// The candidates of the scope that holds `row`, in falling order, as places in `heads x rows x
  /// columns`.
  std::vector<int64_t> order(const RowIndex &row) const;
  Bounds bounds(const RowIndex &row, const std::vector<int64_t> &order, int64_t capacity) const;

private:
  double at(const RowIndex &row, int64_t place) const;
  Bounds boundsByRule(const RowIndex &row, const std::vector<int64_t> &order) const;
};

/// Ids, counts and weights of a draw.
class Sample final : public SelectOracle {
public:
  Tensor scores;
  double number = 0;
  int64_t seed = 0;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;
  /// The chance of each column of a row; NaN for one that is no candidate.
  std::vector<Estimate> chances(const RowIndex &row) const;
};

class Margin final : public RowOracle {
public:
  Tensor scores;
  int64_t number = 1;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

class Gate final : public SelectOracle {
public:
  Tensor values;
  double share = 0;
  int64_t low = 0, high = 0;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;
};

/// How many of `count` a share is: rounded up, of a share that is a multiple of 2^-32.
int64_t countOfShare(double share, int64_t count);

/// The number in [0, 1) by which a column is drawn.
double drawAt(int64_t seed, const RowIndex &row, int64_t column);

} // namespace lacuna::reference
