//===- BlockListsTest.cpp - lists of key blocks against brute force --------===//
#include "lib/Reference/SetExpression.h"
#include "lib/Support/Random.h"

#include <gtest/gtest.h>
#include <set>
#include <tuple>

using namespace lacuna;
using namespace lacuna::reference;

/// The blocks of a grid in row-major order, each as the tokens that lie in it: counted out one
/// block after the other, with no division.
static std::vector<std::set<int64_t>> cutIntoBlocks(const Grid &grid,
                                                    const std::vector<int64_t> &extents) {
  std::vector<std::set<int64_t>> blocks = {{0}};
  for (size_t axis = 0; axis < grid.axes(); ++axis) {
    std::vector<std::set<int64_t>> finer;
    for (const std::set<int64_t> &outer : blocks)
      for (int64_t first = 0; first < grid.sizes[axis]; first += extents[axis]) {
        std::set<int64_t> tokens;
        for (int64_t token : outer)
          for (int64_t at = first; at < first + extents[axis] && at < grid.sizes[axis]; ++at)
            tokens.insert(token * grid.sizes[axis] + at);
        finer.push_back(tokens);
      }
    blocks = std::move(finer);
  }
  return blocks;
}

namespace {
/// Batch entry, head, query and key.
using Live = std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>>;

struct ListCase {
  Grid queries, keys;
  BlockLists lists;
  int64_t batch = 2, heads = 4;
};
} // namespace

/// Every pair that the lists name, entry by entry.
static Live enumerate(const ListCase &given) {
  const BlockLists &lists = given.lists;
  auto queryBlocks = cutIntoBlocks(given.queries, lists.queryBlock);
  auto keyBlocks = cutIntoBlocks(given.keys, lists.keyBlock);
  Live live;
  for (int64_t b = 0; b < given.batch; ++b)
    for (int64_t h = 0; h < given.heads; ++h)
      for (size_t t = 0; t < queryBlocks.size(); ++t) {
        int64_t entry = lists.isBatchShared ? 0 : b,
                list = lists.isHeadShared ? 0 : h / lists.group;
        size_t row = static_cast<size_t>((entry * lists.shape[1] + list) * lists.shape[2]) + t;
        for (int64_t e = 0; e < lists.shape[3] && e < lists.counts[row]; ++e) {
          int64_t id =
              lists.ids[row * static_cast<size_t>(lists.shape[3]) + static_cast<size_t>(e)];
          if (id < 0 || id >= static_cast<int64_t>(keyBlocks.size()))
            continue;
          for (int64_t query : queryBlocks[t])
            for (int64_t key : keyBlocks[static_cast<size_t>(id)])
              live.emplace(b, h, query, key);
        }
      }
  return live;
}

static Live ask(const ListCase &given, const Set &set) {
  Live live;
  for (int64_t b = 0; b < given.batch; ++b)
    for (int64_t h = 0; h < given.heads; ++h)
      for (int64_t query = 0; query < given.queries.tokens(); ++query)
        for (int64_t key = 0; key < given.keys.tokens(); ++key)
          if (set->contains({b, h, query, key, &given.queries, &given.keys}))
            live.emplace(b, h, query, key);
  return live;
}

static Live ask(const ListCase &given) { return ask(given, blocks(given.lists)); }

/// Fills ids and counts, some of them out of range in either direction.
static ListCase draw(ListCase given, int64_t capacity, uint64_t seed) {
  BlockLists &lists = given.lists;
  auto queryBlocks = static_cast<int64_t>(cutIntoBlocks(given.queries, lists.queryBlock).size());
  auto keyBlocks = static_cast<int64_t>(cutIntoBlocks(given.keys, lists.keyBlock).size());
  lists.shape = {lists.isBatchShared ? 1 : given.batch,
                 lists.isHeadShared ? 1 : given.heads / lists.group, queryBlocks, capacity};
  Random random(seed);
  int64_t rows = lists.shape[0] * lists.shape[1] * lists.shape[2];
  for (int64_t row = 0; row < rows; ++row)
    lists.counts.push_back(random.between(-1, capacity + 1));
  for (int64_t entry = 0; entry < rows * capacity; ++entry)
    lists.ids.push_back(random.between(-2, keyBlocks + 1));
  return given;
}

TEST(BlockLists, sequencesOfAnyLength) {
  for (int64_t length : {1, 5, 16, 23}) {
    ListCase given{Grid{{length}}, Grid{{length + 6}}, {}};
    given.lists.queryBlock = {4};
    given.lists.keyBlock = {8};
    ListCase drawn = draw(given, 3, static_cast<uint64_t>(length));
    Live expected = enumerate(drawn);
    EXPECT_EQ(ask(drawn), expected) << length;
    EXPECT_FALSE(expected.empty());
  }
}

TEST(BlockLists, gridsWhoseBlocksAreCutOnEveryAxis) {
  ListCase given{Grid{{3, 5}}, Grid{{3, 4, 3}}, {}};
  given.lists.queryBlock = {2, 2};
  given.lists.keyBlock = {2, 3, 2};
  for (uint64_t seed = 0; seed < 5; ++seed) {
    ListCase drawn = draw(given, 4, seed);
    EXPECT_EQ(ask(drawn), enumerate(drawn)) << seed;
  }
}

TEST(BlockLists, sharedByBatchEntriesHeadsAndGroups) {
  for (int variant = 0; variant < 8; ++variant) {
    ListCase given{Grid{{9}}, Grid{{9}}, {}};
    given.lists.queryBlock = {4};
    given.lists.keyBlock = {2};
    given.lists.isBatchShared = variant & 1;
    given.lists.isHeadShared = variant & 2;
    given.lists.group = variant & 4 ? 2 : 1;
    ListCase drawn = draw(given, 3, static_cast<uint64_t>(variant));
    EXPECT_EQ(ask(drawn), enumerate(drawn)) << variant;
  }
}

/// The same pairs as a map of bytes; any byte that is not 0 marks a block.
static Set mapOf(const ListCase &given) {
  const BlockLists &lists = given.lists;
  auto columns = static_cast<int64_t>(cutIntoBlocks(given.keys, lists.keyBlock).size());
  BlockMap map{lists.queryBlock,    lists.keyBlock,     lists.group, lists.shape,
               lists.isBatchShared, lists.isHeadShared, {}};
  map.shape[3] = columns;
  map.bytes.assign(lists.counts.size() * static_cast<size_t>(columns), 0);
  for (size_t row = 0; row < lists.counts.size(); ++row)
    for (int64_t e = 0; e < lists.shape[3] && e < lists.counts[row]; ++e) {
      int64_t id = lists.ids[row * static_cast<size_t>(lists.shape[3]) + static_cast<size_t>(e)];
      if (id >= 0 && id < columns)
        map.bytes[row * static_cast<size_t>(columns) + static_cast<size_t>(id)] = e % 2 ? 1 : -128;
    }
  return bitmap(map);
}

TEST(BlockLists, mapsOfBytesSayTheSame) {
  for (int variant = 0; variant < 8; ++variant) {
    ListCase given{Grid{{3, 5}}, Grid{{3, 4, 3}}, {}};
    given.lists.queryBlock = {2, 2};
    given.lists.keyBlock = {2, 3, 2};
    given.lists.isBatchShared = variant & 1;
    given.lists.isHeadShared = variant & 2;
    given.lists.group = variant & 4 ? 2 : 1;
    ListCase drawn = draw(given, 4, static_cast<uint64_t>(variant));
    Live expected = enumerate(drawn);
    EXPECT_EQ(ask(drawn, mapOf(drawn)), expected) << variant;
    EXPECT_FALSE(expected.empty());
  }
}

TEST(BlockLists, noCapacityNamesNothing) {
  ListCase given{Grid{{4}}, Grid{{4}}, {}};
  given.lists.queryBlock = given.lists.keyBlock = {2};
  EXPECT_TRUE(ask(draw(given, 0, 1)).empty());
}
