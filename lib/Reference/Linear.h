//===- Linear.h - linear attention, element by element: the oracle ---------===//
//
// As in Select.h, each op is compared given the tensors that it really read.
// Features are rounded to the element type of their tokens, as the op says, so
// that a kernel's may be the neighbour of the exact one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lib/Reference/Select.h"

namespace lacuna::reference {

enum class FeatureKind { Softmax, Relu, Elu, Exp, Identity };

/// The features of one row, and how far a kernel's may be from each.
std::vector<Estimate> featuresOf(FeatureKind kind, ElementType type,
                                 const std::vector<double> &row);

/// States and norms of blocks of keys.
class BlockStates final : public SelectOracle {
public:
  FeatureKind kind = FeatureKind::Softmax;
  Tensor key, value;
  int64_t block = 1;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;
};

/// Sums of states: of all before each, or of `by` neighbours.
class StateSums final : public SelectOracle {
public:
  Tensor states, norms;
  /// 0: sums of all states before each.
  int64_t by = 0;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;
};

/// Rows of linear attention over states, and their log-sum-exps.
class StateReads final : public SelectOracle {
public:
  FeatureKind kind = FeatureKind::Softmax;
  Tensor query, states, norms;
  Set set;
  int64_t queryTile = 1;
  bool isUndivided = false;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;

  /// What one row should be; `weight` is the normaliser.
  struct Row {
    std::vector<Estimate> output;
    Estimate weight;
  };
  Row row(const RowIndex &index, ElementType output) const;
};

/// Sums of results with gates.
class GatedSum final : public RowOracle {
public:
  std::vector<Tensor> outputs, gates;

  std::vector<int64_t> rowShape() const override;
  double costPerRow() const override;
  std::vector<Estimate> row(const RowIndex &index) const override;
};

} // namespace lacuna::reference
