//===- ItemOrderTest.cpp - which items come first, on threads --------------===//
//
// The threads that look for long items are threads here, and meet at a barrier. One warp of threads
// then stands for the producers of all blocks, which share a counter.
//
//===----------------------------------------------------------------------===//
#include "lib/Device/SharedLayout.h"
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Warp.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <thread>

namespace order_on_threads {
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
using std::max;
using std::min;

struct Place {
  unsigned x = 0;
};
thread_local Place threadIdx, blockIdx;
Place gridDim;

template <class T> T atomicAdd(T *at, T value) { return std::atomic_ref(*at).fetch_add(value); }
Warp *warp = nullptr;
bool __any_sync(u32, bool vote) { return warp->ballot(threadIdx.x, vote) != 0; }
std::atomic<int> meetings = 0;
void namedBarrierSync(int, int) { ++meetings; }

#define __device__
#define __forceinline__ inline
#include "lib/Device/ItemOrder.cuh"
#undef __device__
#undef __forceinline__

constexpr int capacity = 64;

class OrderRun {
public:
  OrderRun(std::vector<u32> lengths, unsigned blocks) : lengths(std::move(lengths)) {
    gridDim.x = blocks;
    memory.resize(5 + lacuna::longItemsBytes(capacity), 0xee);
    found = &LongItems<capacity>::at(memory.data(), 5);
  }

  void find() {
    std::barrier<> meeting(finders);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < finders; ++thread)
      threads.emplace_back([&, thread] {
        found->find(
            thread, gridDim.x, static_cast<u32>(lengths.size()),
            [&](u32 id) { return lengths[id]; }, [&] { meeting.arrive_and_wait(); });
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  /// The items in the order in which blocks take them, each block's first one left out. Blocks take
  /// in turns.
  std::vector<u32> takeAll() {
    Warp meeting;
    warp = &meeting;
    int counter = 0;
    std::vector<u32> taken;
    std::vector<std::thread> lanes;
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes.emplace_back([&, lane] {
        threadIdx.x = lane;
        std::vector<u32> mine = takeAs(lane, counter);
        if (lane == 0)
          taken = mine;
      });
    for (std::thread &lane : lanes)
      lane.join();
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
  std::vector<u32> takeAs(unsigned lane, int &counter) const {
    auto take = [&] {
      u32 mine = lane == 0 ? static_cast<u32>(atomicAdd(&counter, 1)) : 0;
      return i64(warp->collect(lane, mine)[0]) + gridDim.x;
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
} // namespace order_on_threads

using namespace order_on_threads;

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
