//===- ItemOrderTest.cpp - which items come first, on threads --------------===//
//
// A block of threads looks for long items; one warp then stands for the producers of all blocks,
// which share a counter.
//
//===----------------------------------------------------------------------===//
#include "lib/Device/SharedLayout.h"
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Block.h"

#include <gtest/gtest.h>
#include <numeric>

namespace {
using namespace on_block;
thread_local Place blockIdx;
Place gridDim;
std::atomic<int> meetings = 0;
void namedBarrierSync(int, int) { ++meetings; }

#include "lib/Device/ItemOrder.cuh"

constexpr int capacity = 64;

class OrderRun {
public:
  OrderRun(std::vector<u32> lengths, unsigned blocks) : lengths(std::move(lengths)) {
    gridDim.x = blocks;
    memory.resize(5 + lacuna::longItemsBytes(capacity), 0xee);
    found = &LongItems<capacity>::at(memory.data(), 5);
  }

  void find() {
    launch(finders / 32, [&] {
      found->find(
          static_cast<int>(threadIdx.x), gridDim.x, static_cast<u32>(lengths.size()),
          [&](u32 id) { return lengths[id]; }, __syncthreads);
    });
  }

  /// The items in the order in which blocks take them, each block's first one left out. Blocks take
  /// in turns.
  std::vector<u32> takeAll() {
    int counter = 0;
    std::vector<u32> taken;
    launch(1, [&] {
      std::vector<u32> mine = takeAs(counter);
      if (lane() == 0)
        taken = mine;
    });
    return taken;
  }

  /// Every item but the first ones, once.
  void checkAll(std::vector<u32> taken) const {
    std::sort(taken.begin(), taken.end());
    std::vector<u32> expected;
    for (u32 id = gridDim.x; id < lengths.size(); ++id)
      expected.push_back(id);
    EXPECT_EQ(taken, expected);
  }

  std::vector<u32> lengths;
  LongItems<capacity> *found;

private:
  std::vector<u32> takeAs(int &counter) const {
    auto take = [&] {
      int mine = lane() == 0 ? atomicAdd(&counter, 1) : 0;
      return i64(__shfl_sync(~0u, mine, 0)) + gridDim.x;
    };
    std::vector<u32> taken;
    std::vector<i64> ids(gridDim.x);
    std::iota(ids.begin(), ids.end(), 0);
    auto items = static_cast<i64>(lengths.size());
    for (bool isAny = true; isAny;) {
      isAny = false;
      for (unsigned block = 0; block < gridDim.x; ++block) {
        if (ids[block] >= items)
          continue;
        blockIdx.x = block;
        ids[block] = ItemOrder<capacity>::next(*found, ids[block], items, take);
        if (ids[block] < items)
          taken.push_back(static_cast<u32>(ids[block]));
        isAny = true;
      }
    }
    return taken;
  }

  std::vector<unsigned char> memory;
};
} // namespace

TEST(ItemOrder, EqualItemsKeepTheirOrder) {
  OrderRun run(std::vector<u32>(500, 7), 8);
  run.find();
  EXPECT_EQ(run.found->count, 0u);
  std::vector<u32> taken = run.takeAll();
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
  run.checkAll(taken);
}
TEST(ItemOrder, TheLongestComesFirst) {
  std::vector<u32> lengths(500, 2);
  // The first belongs to a block already; the second and third are alike.
  lengths[3] = 900, lengths[100] = 800, lengths[40] = 800, lengths[450] = 20, lengths[99] = 20;
  OrderRun run(lengths, 8);
  run.find();
  std::vector<u32> taken = run.takeAll();
  // What is not so long is moved only if little follows.
  EXPECT_EQ(std::vector<u32>(taken.begin(), taken.begin() + 4),
            (std::vector<u32>{40, 100, 450, 8}));
  run.checkAll(taken);
}
TEST(ItemOrder, TakesEveryItemOnceWhateverTheLengths) {
  lacuna::Random random(5);
  for (int round = 0; round < 12; ++round) {
    std::vector<u32> lengths(9 + random.next() % 900);
    for (u32 &length : lengths) {
      u64 rank = 1 + random.next() % 1000;
      // Few long and many short ones; all alike; none at all; the last ones long.
      length = static_cast<u32>(round % 4 == 0   ? 20000 / rank
                                : round % 4 == 1 ? 5
                                : round % 4 == 2 ? 0
                                                 : rank);
    }
    if (round % 4 == 3)
      std::sort(lengths.begin(), lengths.end());
    unsigned blocks = 1 + static_cast<unsigned>(random.next() % 8);
    OrderRun run(lengths, blocks);
    run.find();
    ASSERT_LE(run.found->count, u32{capacity});
    std::vector<u32> taken = run.takeAll();
    for (u32 i = 1; i < run.found->count; ++i)
      EXPECT_GE(lengths[taken[i - 1]], lengths[taken[i]]);
    run.checkAll(taken);
  }
}
TEST(ItemOrder, LengthsOfAnySizeAddUp) {
  std::vector<u32> lengths(300, ~0u);
  lengths[200] = 0;
  OrderRun run(lengths, 4);
  run.find();
  run.checkAll(run.takeAll());
}
TEST(ItemOrder, NothingIsAwaitedWhereEveryBlockHasOne) {
  OrderRun run({1, 2, 3}, 3);
  meetings = 0;
  EXPECT_TRUE(run.takeAll().empty());
  EXPECT_EQ(meetings, 0);
}
