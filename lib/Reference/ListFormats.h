//===- ListFormats.h - conversions of lists, written down plainly ---------===//
#pragma once

#include "lacuna/Tensor.h"

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
Lists listOfCsr(const Tensor &rowPointers, const Tensor &columns, int64_t capacity, bool cut);
Csr csrOfList(const Tensor &ids, const Tensor &counts);

} // namespace lacuna::reference
