//===- ListFormats.h - conversions of lists, written down plainly ---------===//
#pragma once

#include "lib/Reference/Select.h"

#include <optional>

namespace lacuna::reference {

/// Ids (batch x lists x rows x capacity) and counts of lists.
struct Lists {
  OwnedTensor ids, counts;
};
/// Row pointers and column ids of the rows of each list after each other.
struct Csr {
  OwnedTensor rowPointers, columns;
};

/// The marked columns of each row, or with `transposed` the marked rows of each column. Without a
/// capacity there is room for all; with `cut`, counts say what is kept.
Lists listOfMask(const Tensor &mask, std::optional<int64_t> capacity, bool cut, bool transposed);
/// A map over `columns` of what lists name.
OwnedTensor maskOfList(const Tensor &ids, const Tensor &counts, int64_t columns);
/// The nodes `by c .. by c + by - 1` below each node c of a list, of `columns` that there are.
Lists childrenOf(const Tensor &ids, const Tensor &counts, int64_t by, int64_t columns);
/// The entries of lists at places; -1 at a place that is none.
OwnedTensor pickOf(const Tensor &ids, const Tensor &counts, const Tensor &places);
Lists listOfCsr(const Tensor &rowPointers, const Tensor &columns, int64_t capacity, bool cut);
Csr csrOfList(const Tensor &ids, const Tensor &counts);

/// Results that are known in full and are numbers without rounding.
class KnownResults final : public SelectOracle {
public:
  std::vector<OwnedTensor> expected;

  explicit KnownResults(Lists lists);
  explicit KnownResults(Csr csr);
  explicit KnownResults(OwnedTensor mask);

  std::vector<int64_t> rowShape() const override;
  bool fits(const std::vector<Tensor> &results) const override;
  double costPerRow() const override;
  /// Compares all rows: each is read once.
  std::vector<Comparison> compare(const std::vector<Tensor> &results,
                                  const std::vector<RowIndex> &rows,
                                  unsigned threads) const override;
};

} // namespace lacuna::reference
