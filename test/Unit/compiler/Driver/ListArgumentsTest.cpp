//===- ListArgumentsTest.cpp - lists that a command line asks for ----------===//
#include "compiler/Driver/ListArguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace lacuna;

TEST(ParseListRequest, sharesAndRaggedLengths) {
  std::optional<ListRequest> share = parseListRequest("12.5%");
  ASSERT_TRUE(share);
  EXPECT_EQ(share->kind, ListRequest::Kind::Share);
  EXPECT_EQ(share->share, 0.125);
  EXPECT_EQ(parseListRequest("0%")->share, 0);
  EXPECT_EQ(parseListRequest("100%")->share, 1);
  std::optional<ListRequest> ragged = parseListRequest("ragged");
  ASSERT_TRUE(ragged);
  EXPECT_EQ(ragged->kind, ListRequest::Kind::Ragged);
}

TEST(ParseListRequest, otherTextAsksForNothing) {
  for (const char *text : {"", "%", "10", "-1%", "100.5%", "nan%", "ten%", "Ragged", "10%%", "1:2"})
    EXPECT_FALSE(parseListRequest(text)) << text;
}

/// Entries of list `list`.
static std::vector<double> row(const std::vector<double> &ids, int64_t list, int64_t capacity) {
  return {ids.begin() + list * capacity, ids.begin() + (list + 1) * capacity};
}

TEST(DrawIds, differentBlocksInAscendingOrder) {
  Random random(7);
  std::vector<double> ids = drawIds(50, 5, 9, random);
  ASSERT_EQ(ids.size(), 250u);
  std::set<double> seen;
  for (int64_t list = 0; list < 50; ++list) {
    std::vector<double> entries = row(ids, list, 5);
    for (size_t i = 1; i < entries.size(); ++i)
      EXPECT_LT(entries[i - 1], entries[i]);
    seen.insert(entries.begin(), entries.end());
  }
  // Every block is drawn by some list.
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(DrawIds, moreEntriesThanBlocksAreFilledUp) {
  Random random(7);
  EXPECT_THAT(drawIds(2, 4, 2, random), testing::ElementsAre(0, 1, -1, -1, 0, 1, -1, -1));
  EXPECT_THAT(drawIds(1, 2, 0, random), testing::ElementsAre(-1, -1));
  EXPECT_TRUE(drawIds(3, 0, 5, random).empty());
}

TEST(DrawIds, oneSeedOneList) {
  Random first(3), again(3), other(4);
  std::vector<double> ids = drawIds(4, 8, 64, first);
  EXPECT_EQ(ids, drawIds(4, 8, 64, again));
  EXPECT_NE(ids, drawIds(4, 8, 64, other));
}

TEST(DrawCounts, anyLengthUpToTheCapacity) {
  Random random(7);
  std::vector<double> counts = drawCounts(200, 3, random);
  EXPECT_EQ(counts.size(), 200u);
  EXPECT_THAT(std::set<double>(counts.begin(), counts.end()), testing::ElementsAre(0, 1, 2, 3));
}
