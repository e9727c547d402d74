//===- ListFormats.cpp - conversions of lists, written down plainly -------===//
#include "lib/Reference/ListFormats.h"

#include "lib/Reference/Comparer.h"

#include <algorithm>

using namespace lacuna;
using namespace lacuna::reference;

namespace {
/// Every row of lists as the numbers that it holds.
struct Rows {
  Rows(int64_t batches, int64_t lists, int64_t rows)
      : batches(batches), lists(lists), rows(rows),
        entries(static_cast<size_t>(batches * lists * rows)) {}

  std::vector<int64_t> &at(int64_t batch, int64_t list, int64_t row) {
    return entries[static_cast<size_t>((batch * lists + list) * rows + row)];
  }
  /// Calls `visit(batch, list, row)` for each row in order.
  template <typename Visit> void forEach(Visit visit) {
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t list = 0; list < lists; ++list)
        for (int64_t row = 0; row < rows; ++row)
          visit(batch, list, row);
  }

  int64_t batches, lists, rows;
  std::vector<std::vector<int64_t>> entries;
};
} // namespace

static Lists makeLists(Rows &rows, int64_t capacity, bool cut) {
  Lists result = {
      OwnedTensor(ElementType::I32, {rows.batches, rows.lists, rows.rows, capacity}),
      OwnedTensor(ElementType::I32, {rows.batches, rows.lists, rows.rows}),
  };
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    std::vector<int64_t> entries = rows.at(batch, list, row);
    auto length = static_cast<int64_t>(entries.size());
    result.counts.view().set({batch, list, row},
                             static_cast<double>(cut ? std::min(length, capacity) : length));
    entries.resize(static_cast<size_t>(capacity), -1);
    for (int64_t entry = 0; entry < capacity; ++entry)
      result.ids.view().set({batch, list, row, entry},
                            static_cast<double>(entries[static_cast<size_t>(entry)]));
  });
  return result;
}

/// What lists say, as long as their counts and capacity reach.
static Rows readLists(const Tensor &ids, const Tensor &counts) {
  Rows rows(ids.shape[0], ids.shape[1], ids.shape[2]);
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    auto count = static_cast<int64_t>(counts.at({batch, list, row}));
    for (int64_t entry = 0; entry < ids.shape[3] && entry < count; ++entry)
      rows.at(batch, list, row).push_back(static_cast<int64_t>(ids.at({batch, list, row, entry})));
  });
  return rows;
}

Lists reference::listOfMask(const Tensor &mask, std::optional<int64_t> capacity, bool cut,
                            bool transposed) {
  int64_t height = mask.shape[2], width = mask.shape[3];
  Rows rows(mask.shape[0], mask.shape[1], transposed ? width : height);
  for (int64_t batch = 0; batch < mask.shape[0]; ++batch)
    for (int64_t list = 0; list < mask.shape[1]; ++list)
      for (int64_t row = 0; row < height; ++row)
        for (int64_t column = 0; column < width; ++column)
          if (mask.at({batch, list, row, column}) != 0)
            rows.at(batch, list, transposed ? column : row).push_back(transposed ? row : column);
  int64_t all = transposed ? height : width;
  return makeLists(rows, std::min(capacity.value_or(all), all), cut);
}

OwnedTensor reference::maskOfList(const Tensor &ids, const Tensor &counts, int64_t columns) {
  OwnedTensor mask(ElementType::I8, {ids.shape[0], ids.shape[1], ids.shape[2], columns});
  Rows rows = readLists(ids, counts);
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    for (int64_t column : rows.at(batch, list, row))
      if (column >= 0 && column < columns)
        mask.view().set({batch, list, row, column}, 1);
  });
  return mask;
}

Lists reference::childrenOf(const Tensor &ids, const Tensor &counts, int64_t by, int64_t columns) {
  Rows rows = readLists(ids, counts);
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    std::vector<int64_t> children;
    for (int64_t node : rows.at(batch, list, row))
      for (int64_t child = by * node; node >= 0 && child < by * (node + 1); ++child)
        if (child < columns)
          children.push_back(child);
    rows.at(batch, list, row) = children;
  });
  return makeLists(rows, ids.shape[3] * by, /*cut=*/false);
}

OwnedTensor reference::pickOf(const Tensor &ids, const Tensor &counts, const Tensor &places) {
  OwnedTensor picked(ElementType::I32, places.shape);
  Rows rows = readLists(ids, counts);
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    const std::vector<int64_t> &entries = rows.at(batch, list, row);
    for (int64_t entry = 0; entry < places.shape[3]; ++entry) {
      double place = places.at({batch, list, row, entry});
      bool isEntry = place >= 0 && place < static_cast<double>(entries.size());
      picked.view().set({batch, list, row, entry},
                        isEntry ? static_cast<double>(entries[static_cast<size_t>(place)]) : -1);
    }
  });
  return picked;
}

Lists reference::listOfCsr(const Tensor &rowPointers, const Tensor &columns, int64_t capacity,
                           bool cut) {
  Rows rows(rowPointers.shape[0], rowPointers.shape[1], rowPointers.shape[2] - 1);
  auto pointer = [&](int64_t batch, int64_t list, int64_t row) {
    auto found = static_cast<int64_t>(rowPointers.at({batch, list, row}));
    return std::clamp<int64_t>(found, 0, columns.shape[2]);
  };
  rows.forEach([&](int64_t batch, int64_t list, int64_t row) {
    for (int64_t e = pointer(batch, list, row); e < pointer(batch, list, row + 1); ++e)
      rows.at(batch, list, row).push_back(static_cast<int64_t>(columns.at({batch, list, e})));
  });
  return makeLists(rows, capacity, cut);
}

Csr reference::csrOfList(const Tensor &ids, const Tensor &counts) {
  Rows rows = readLists(ids, counts);
  int64_t places = ids.shape[2] * ids.shape[3];
  Csr result = {OwnedTensor(ElementType::I32, {rows.batches, rows.lists, rows.rows + 1}),
                OwnedTensor(ElementType::I32, {rows.batches, rows.lists, places})};
  for (int64_t batch = 0; batch < rows.batches; ++batch)
    for (int64_t list = 0; list < rows.lists; ++list) {
      std::vector<int64_t> columns;
      for (int64_t row = 0; row < rows.rows; ++row) {
        for (int64_t column : rows.at(batch, list, row))
          if (column >= 0)
            columns.push_back(column);
        result.rowPointers.view().set({batch, list, row + 1}, static_cast<double>(columns.size()));
      }
      columns.resize(static_cast<size_t>(places), -1);
      for (int64_t place = 0; place < places; ++place)
        result.columns.view().set({batch, list, place},
                                  static_cast<double>(columns[static_cast<size_t>(place)]));
    }
  return result;
}

KnownResults::KnownResults(Lists lists) {
  expected.push_back(std::move(lists.ids));
  expected.push_back(std::move(lists.counts));
}

KnownResults::KnownResults(Csr csr) {
  expected.push_back(std::move(csr.rowPointers));
  expected.push_back(std::move(csr.columns));
}

KnownResults::KnownResults(OwnedTensor mask) { expected.push_back(std::move(mask)); }

std::vector<int64_t> KnownResults::rowShape() const {
  const std::vector<int64_t> &shape = expected.front().view().shape;
  return {shape[0], shape[1], shape[2]};
}

bool KnownResults::fits(const std::vector<Tensor> &results) const {
  return std::equal(results.begin(), results.end(), expected.begin(), expected.end(),
                    [](const Tensor &result, const OwnedTensor &known) {
                      return result.shape == known.view().shape;
                    });
}

double KnownResults::costPerRow() const {
  return static_cast<double>(expected.front().view().shape.back());
}

std::vector<Comparison> KnownResults::compare(const std::vector<Tensor> &results,
                                              const std::vector<RowIndex> &, unsigned) const {
  std::vector<Comparison> found;
  for (size_t result = 0; result < results.size(); ++result) {
    Comparer comparer;
    const Tensor &known = expected[result].view();
    std::vector<int64_t> at(known.shape.size(), 0);
    for (int64_t left = known.elements(); left > 0; --left) {
      comparer.add(results[result].at(at), known.at(at), 0.5, at);
      for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == known.shape[axis];)
        at[axis] = 0;
    }
    found.push_back(comparer.finish());
  }
  return found;
}
