//===- SelectListsTest.cpp - device code of list formats, on threads ------===//
#include "lib/Reference/ListFormats.h"
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Block.h"

#include <gtest/gtest.h>

namespace {
using namespace on_block;
#include "lib/Device/SelectLists.cuh"
} // namespace

using namespace lacuna;

/// Lists of one head with entries, counts and ids of any kind, over `columns` columns.
struct SelectLists : testing::Test {
  void draw(uint64_t seed, int64_t rowCount, int64_t columnCount, int64_t capacity) {
    Random random(seed);
    rows = rowCount;
    columns = columnCount;
    ids = OwnedTensor(ElementType::I32, {1, 1, rows, capacity});
    counts = OwnedTensor(ElementType::I32, {1, 1, rows});
    for (int64_t row = 0; row < rows; ++row) {
      counts.view().set({0, 0, row}, static_cast<double>(random.between(-2, capacity + 3)));
      for (int64_t entry = 0; entry < capacity; ++entry)
        ids.view().set({0, 0, row, entry}, static_cast<double>(random.between(-2, columns + 2)));
    }
  }

  /// Row `row` of the last axis of a tensor, or what lies along the axis before it.
  template <typename Element> static auto row(const OwnedTensor &tensor, int64_t row) {
    int64_t extent = tensor.view().shape.back();
    return strip<Element>(tensor.view().data, row * extent, 1, extent);
  }
  static int *number(const OwnedTensor &tensor, int64_t at) {
    return static_cast<int *>(tensor.view().data) + at;
  }

  static void expectEqual(const OwnedTensor &got, const OwnedTensor &expected) {
    ASSERT_EQ(got.view().shape, expected.view().shape);
    reference::KnownResults known{OwnedTensor::clone(expected.view())};
    reference::Comparison found = known.compare({got.view()}, {}, 1).front();
    EXPECT_TRUE(found.passes()) << found.got << " instead of " << found.exact;
  }

  template <int By> void expectChildren();

  int64_t rows = 0, columns = 0;
  OwnedTensor ids, counts;
};

TEST_F(SelectLists, mapsAndBack) {
  for (int64_t width : {0, 1, 31, 128, 300}) {
    draw(static_cast<uint64_t>(width), 5, width, 40);
    OwnedTensor expected = reference::maskOfList(ids.view(), counts.view(), width);
    OwnedTensor mask(ElementType::I8, expected.view().shape);
    for (int64_t at = 0; at < rows; ++at)
      launch(1, [&] {
        maskOfList(row<const int>(ids, at), *number(counts, at), row<signed char>(mask, at));
      });
    expectEqual(mask, expected);
    for (int64_t capacity : {0, 7, 400}) {
      reference::Lists known = reference::listOfMask(mask.view(), capacity, false, false);
      OwnedTensor listed(ElementType::I32, known.ids.view().shape);
      OwnedTensor lengths(ElementType::I32, known.counts.view().shape);
      for (int64_t at = 0; at < rows; ++at)
        launch(1, [&] {
          listOfMask<false>(row<const signed char>(mask, at), row<int>(listed, at),
                            number(lengths, at));
        });
      expectEqual(listed, known.ids);
      expectEqual(lengths, known.counts);
    }
  }
}

TEST_F(SelectLists, columnsOfAMap) {
  draw(3, 70, 4, 3);
  OwnedTensor mask = reference::maskOfList(ids.view(), counts.view(), columns);
  reference::Lists known = reference::listOfMask(mask.view(), 20, true, true);
  OwnedTensor listed(ElementType::I32, known.ids.view().shape);
  OwnedTensor lengths(ElementType::I32, known.counts.view().shape);
  for (int64_t at = 0; at < columns; ++at)
    launch(1, [&] {
      listOfMask<true>(strip<const signed char>(mask.view().data, at, columns, rows),
                       row<int>(listed, at), number(lengths, at));
    });
  expectEqual(listed, known.ids);
  expectEqual(lengths, known.counts);
}

TEST_F(SelectLists, rowsAfterEachOther) {
  for (int64_t height : {0, 1, 63, 200}) {
    draw(static_cast<uint64_t>(height), height, 50, 37);
    reference::Csr known = reference::csrOfList(ids.view(), counts.view());
    OwnedTensor pointers(ElementType::I32, known.rowPointers.view().shape);
    OwnedTensor entries(ElementType::I32, known.columns.view().shape);
    launch(2, [&] {
      csrOfList<2>(number(ids, 0), 37, 1, 37, row<const int>(counts, 0), row<int>(pointers, 0),
                   row<int>(entries, 0));
    });
    expectEqual(pointers, known.rowPointers);
    expectEqual(entries, known.columns);
  }
}

TEST_F(SelectLists, pointersOutsideReadNothingOutside) {
  draw(5, 6, 9, 4);
  reference::Csr csr = reference::csrOfList(ids.view(), counts.view());
  csr.rowPointers.view().set({0, 0, 0}, -9);
  csr.rowPointers.view().set({0, 0, 3}, 1);
  csr.rowPointers.view().set({0, 0, 6}, 1000);
  reference::Lists known =
      reference::listOfCsr(csr.rowPointers.view(), csr.columns.view(), 3, true);
  OwnedTensor listed(ElementType::I32, known.ids.view().shape);
  OwnedTensor lengths(ElementType::I32, known.counts.view().shape);
  for (int64_t at = 0; at < rows; ++at)
    launch(1, [&] {
      listOfCsr<true>(*number(csr.rowPointers, at), *number(csr.rowPointers, at + 1),
                      row<const int>(csr.columns, 0), row<int>(listed, at), number(lengths, at));
    });
  expectEqual(listed, known.ids);
  expectEqual(lengths, known.counts);
}

template <int By> void SelectLists::expectChildren() {
  draw(By, 6, 20, 9);
  int64_t below = 20 * By - 1;
  reference::Lists known = reference::childrenOf(ids.view(), counts.view(), By, below);
  OwnedTensor children(ElementType::I32, known.ids.view().shape);
  OwnedTensor lengths(ElementType::I32, known.counts.view().shape);
  OwnedTensor expected = reference::pickOf(known.ids.view(), known.counts.view(), ids.view());
  OwnedTensor picked(ElementType::I32, expected.view().shape);
  for (int64_t at = 0; at < rows; ++at) {
    launch(1, [&] {
      childrenOf<By>(row<const int>(ids, at), *number(counts, at), below, row<int>(children, at),
                     number(lengths, at));
    });
    launch(1, [&] {
      pickEntries(row<const int>(children, at), *number(lengths, at), row<const int>(ids, at),
                  row<int>(picked, at));
    });
  }
  expectEqual(children, known.ids);
  expectEqual(lengths, known.counts);
  expectEqual(picked, expected);
}
TEST_F(SelectLists, childrenAndPlaces) {
  expectChildren<1>();
  expectChildren<3>();
  expectChildren<40>();
}

TEST_F(SelectLists, scoresWithoutWhatIsListed) {
  for (int64_t width : {0, 1, 33, 100}) {
    draw(static_cast<uint64_t>(width), 4, width, 30);
    OwnedTensor scores(ElementType::F32, {1, 1, rows, width}),
        left = OwnedTensor::clone(scores.view());
    OwnedTensor mask = reference::maskOfList(ids.view(), counts.view(), width);
    for (int64_t at = 0; at < rows; ++at) {
      launch(1, [&] {
        withoutListed(row<const float>(scores, at), row<const int>(ids, at), *number(counts, at),
                      row<float>(left, at));
      });
      for (int64_t column = 0; column < width; ++column)
        EXPECT_EQ(left.view().at({0, 0, at, column}) == -INFINITY,
                  mask.view().at({0, 0, at, column}) != 0);
    }
  }
}
