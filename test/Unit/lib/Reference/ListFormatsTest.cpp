//===- ListFormatsTest.cpp - conversions of lists, by hand ----------------===//
#include "lib/Reference/ListFormats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace lacuna;
using namespace lacuna::reference;
using testing::ElementsAre;

/// A tensor of these numbers.
static OwnedTensor make(ElementType type, std::vector<int64_t> shape,
                        const std::vector<double> &numbers) {
  OwnedTensor tensor(type, std::move(shape));
  Tensor flat{type, {tensor.view().elements()}, {1}, tensor.view().data};
  for (size_t at = 0; at < numbers.size(); ++at)
    flat.set({static_cast<int64_t>(at)}, numbers[at]);
  return tensor;
}

static std::vector<double> numbersOf(const OwnedTensor &tensor) {
  const Tensor &view = tensor.view();
  Tensor flat{view.type, {view.elements()}, {1}, view.data};
  std::vector<double> numbers;
  for (int64_t at = 0; at < view.elements(); ++at)
    numbers.push_back(flat.at({at}));
  return numbers;
}

/// Two rows of four columns: the first, second and last; none.
static OwnedTensor makeMask() {
  return make(ElementType::I8, {1, 1, 2, 4}, {1, -1, 0, 3, 0, 0, 0, 0});
}

TEST(ListFormats, roomForEveryColumn) {
  Lists lists = listOfMask(makeMask().view(), {}, false, false);
  EXPECT_THAT(lists.ids.view().shape, ElementsAre(1, 1, 2, 4));
  EXPECT_THAT(numbersOf(lists.ids), ElementsAre(0, 1, 3, -1, -1, -1, -1, -1));
  EXPECT_THAT(numbersOf(lists.counts), ElementsAre(3, 0));
}

TEST(ListFormats, aLongRowSaysSo) {
  Lists said = listOfMask(makeMask().view(), 2, false, false);
  EXPECT_THAT(numbersOf(said.ids), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(numbersOf(said.counts), ElementsAre(3, 0));
  Lists cut = listOfMask(makeMask().view(), 2, true, false);
  EXPECT_THAT(numbersOf(cut.counts), ElementsAre(2, 0));
}

TEST(ListFormats, aCapacityBeyondTheColumnsIsTheirNumber) {
  EXPECT_EQ(listOfMask(makeMask().view(), 9, false, false).ids.view().shape[3], 4);
}

TEST(ListFormats, transposedListsNameRows) {
  Lists lists = listOfMask(makeMask().view(), {}, false, true);
  EXPECT_THAT(lists.ids.view().shape, ElementsAre(1, 1, 4, 2));
  EXPECT_THAT(numbersOf(lists.ids), ElementsAre(0, -1, 0, -1, -1, -1, 0, -1));
  EXPECT_THAT(numbersOf(lists.counts), ElementsAre(1, 1, 0, 1));
}

TEST(ListFormats, masksSkipWhatNamesNoColumn) {
  OwnedTensor ids = make(ElementType::I32, {1, 1, 3, 3}, {2, -1, 7, 0, 0, 1, 1, 1, 1});
  OwnedTensor counts = make(ElementType::I32, {1, 1, 3}, {9, 2, -4});
  EXPECT_THAT(numbersOf(maskOfList(ids.view(), counts.view(), 3)),
              ElementsAre(0, 0, 1, 1, 0, 0, 0, 0, 0));
}

TEST(ListFormats, rowsAfterEachOther) {
  OwnedTensor ids = make(ElementType::I32, {1, 1, 3, 2}, {5, 4, -1, 3, 8, 8});
  OwnedTensor counts = make(ElementType::I32, {1, 1, 3}, {2, 2, 1});
  Csr csr = csrOfList(ids.view(), counts.view());
  EXPECT_THAT(numbersOf(csr.rowPointers), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(numbersOf(csr.columns), ElementsAre(5, 4, 3, 8, -1, -1));
  Lists back = listOfCsr(csr.rowPointers.view(), csr.columns.view(), 2, false);
  EXPECT_THAT(numbersOf(back.ids), ElementsAre(5, 4, 3, -1, 8, -1));
  EXPECT_THAT(numbersOf(back.counts), ElementsAre(2, 1, 1));
}

TEST(ListFormats, pointersOutsideReadNothingOutside) {
  OwnedTensor rows = make(ElementType::I32, {1, 1, 4}, {-5, 2, 1, 99});
  OwnedTensor columns = make(ElementType::I32, {1, 1, 3}, {7, 8, 9});
  Lists lists = listOfCsr(rows.view(), columns.view(), 1, false);
  EXPECT_THAT(numbersOf(lists.ids), ElementsAre(7, -1, 8));
  EXPECT_THAT(numbersOf(lists.counts), ElementsAre(2, 0, 2));
}
