//===- GatherTest.cpp - the producer of gathered keys, on threads ----------===//
//
// A lane of the producer's warpgroup is a thread; votes and shuffles meet at a barrier of their
// warp, and copies happen when the barrier is told of them, not before. One more thread stands for
// all consumers.
//
//===----------------------------------------------------------------------===//
#include "lib/Support/Random.h"
#include "test/Unit/lib/Device/Warp.h"

#include <array>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

namespace on_threads {
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
using std::max;
using std::min;

struct Place {
  unsigned x = 0;
};
thread_local Place threadIdx;
constexpr Place blockIdx, gridDim{3};

std::array<Warp, 4> *warps = nullptr;

Warp &warp() { return (*warps)[threadIdx.x / 32]; }
std::array<u32, 32> collect(u32 value) { return warp().collect(threadIdx.x % 32, value); }
u32 __ballot_sync(u32, bool vote) { return warp().ballot(threadIdx.x % 32, vote); }
int __shfl_sync(u32, int value, int lane) {
  return static_cast<int>(collect(static_cast<u32>(value))[static_cast<size_t>(lane)]);
}
void __syncwarp() { collect(0); }
void __syncthreads() {}
int __popc(u32 lanes) { return std::popcount(lanes); }
int atomicAdd(int *at, int value) { return std::exchange(*at, *at + value); }

/// An mbarrier: a phase ends with the last of `expected` arrivals.
struct Barrier {
  u32 expected = 0, pending = 0;
  u32 phase = 0;
};
std::mutex mutex;
std::condition_variable changed;
std::map<u32, Barrier> barriers;

void barrierInit(u32 barrier, u32 arrivals) { barriers[barrier] = {arrivals, arrivals, 0}; }
void barrierArrive(u32 barrier) {
  std::lock_guard lock(mutex);
  Barrier &it = barriers.at(barrier);
  if (--it.pending == 0) {
    it.pending = it.expected;
    ++it.phase;
    changed.notify_all();
  }
}
/// The bytes arrive at once.
void barrierArriveExpect(u32 barrier, u32) { barrierArrive(barrier); }
void barrierWait(u32 barrier, u32 parity) {
  std::unique_lock lock(mutex);
  Barrier &it = barriers.at(barrier);
  changed.wait(lock, [&] { return it.phase % 2 != parity; });
}
void fenceBarrierInit() {}

struct Chunk {
  u32 target;
  const void *source;
  bool isThere;
};
thread_local std::vector<Chunk> issued;
unsigned char *sharedMemory = nullptr;

void copyChunk(u32 target, const void *source, bool isThere) {
  issued.push_back({target, source, isThere});
}
void barrierArriveCopied(u32 barrier) {
  for (const Chunk &chunk : issued) {
    EXPECT_EQ(chunk.target % 16, 0u);
    if (chunk.isThere)
      std::memcpy(sharedMemory + chunk.target, chunk.source, 16);
    else
      std::memset(sharedMemory + chunk.target, 0, 16);
  }
  issued.clear();
  barrierArrive(barrier);
}

// Consumers are not made here; these are what their text names.
constexpr float ln2 = 0.69f;
#define INFINITY_F32 INFINITY
template <int> using LiveBits = u32;
template <int, int, class> u32 innerAxis(int, int, int);
template <int Keys> void hide(u32, int, float (&)[Keys / 2]);
template <class, int> struct RowSum;
template <class> u32 packPair(float, float);
template <int> void wgmmaWait();
void namedBarrierSync(int, int), namedBarrierArrive(int, int), copyOutWait(), copyOutWaitRead(),
    copyOutCommit(), fenceAsyncShared(), wgmmaFence(), wgmmaCommit(), loadFirst(int &, u32),
    loadFirst(int &, int &, int &, int &, u32), storeMatrix(u32, u32, u32, u32, u32);
u32 __reduce_or_sync(u32, u32);
u64 operand(u32, u32);
float exp2Fast(float), log2Fast(float), reciprocal(float), __fmaf_rn(float, float, float),
    __shfl_xor_sync(u32, float, int), __shfl_sync(u32, float, int);
bool __any_sync(u32, bool);

#define __device__
#define __forceinline__ inline
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-volatile"
#include "lib/Device/Producer.cuh"

#include "lib/Device/Attention.cuh"

#include "lib/Device/Gather.cuh"
#pragma clang diagnostic pop
#undef __device__
#undef __forceinline__

template <int Keys, int PieceKeys, int HeadDim, int ValueDim, int Stages> struct Config {
  static constexpr int rows = 128, keys = Keys, headDim = HeadDim, valueDim = ValueDim;
  static constexpr int consumers = 2, stages = Stages, querySlots = 2;
  static constexpr bool pingPong = false, masked = true;
  static constexpr int pieceKeys = PieceKeys, pieces = Keys / PieceKeys;
  static constexpr bool isGathered = true;
  static constexpr bool isPlain(int kind) { return kind == 0; }
};

/// A piece that a walk names; lanes without one have a negative place.
struct Piece {
  int kind, at;
};
typedef std::vector<std::array<Piece, 32>> Walk;

/// Keys that no tensor has.
constexpr int count = 500;

template <class C> class GatherRun {
public:
  explicit GatherRun(lacuna::Random &random) : memory(Shared<C>::bytes + 1024) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    base = memory.data() + (1024 - address % 1024);
    for (auto *rows : {&keys, &values})
      for (size_t i = 0; i < (count + 16) * stride / 2; ++i)
        rows->push_back(static_cast<unsigned short>(random.next() | 1));
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = 0xee;
    // Lists of every length, long ones among them.
    for (int length : {0, 1, 31, 32, 33, 300, 0, 700, 129})
      walks.push_back(draw(random, length));
  }
  void run();

private:
  static constexpr u32 stride = 2 * (C::headDim > C::valueDim ? C::headDim : C::valueDim) + 16;

  /// About so many pieces, in rounds that some lanes leave out.
  static Walk draw(lacuna::Random &random, int length) {
    Walk walk;
    for (int left = length; left > 0;) {
      auto &round = walk.emplace_back();
      int kind = static_cast<int>(random.next() % 3);
      bool isDense = random.next() % 2;
      for (Piece &piece : round) {
        bool isHere = left > 0 && (isDense || random.next() % 3);
        piece = {kind, isHere ? static_cast<int>(random.next() % count) : -1};
        left -= isHere;
      }
    }
    return walk;
  }
  void produce(const Shared<C> &shared);
  void consume(const Shared<C> &shared);

  template <int Channels>
  void checkRows(u32 panels, const std::vector<unsigned short> &rows,
                 const std::vector<Piece> &pieces);

  std::vector<unsigned char> memory;
  unsigned char *base;
  std::vector<unsigned short> keys, values;
  std::vector<Walk> walks;
  int counter = 0;
};

template <class C> void GatherRun<C>::produce(const Shared<C> &shared) {
  Gatherer<C> gatherer{shared, {}, {}, {}};
  const KeyRows keyRows{keys.data(), stride, count}, valueRows{values.data(), stride, count};
  // One block of three; the others' items are nobody's.
  for (int id; (id = gatherer.next(&counter, 3 * static_cast<int>(walks.size()))) >= 0;) {
    gatherer.query([](u32, u32) {});
    if (static_cast<size_t>(id) < walks.size())
      for (const auto &round : walks[static_cast<size_t>(id)]) {
        const Piece &mine = round[threadIdx.x % 32];
        gatherer.tile(mine.kind, mine.at >= 0, mine.at, keyRows, valueRows);
      }
    gatherer.end(keyRows, valueRows);
  }
}

template <class C>
template <int Channels>
void GatherRun<C>::checkRows(u32 panels, const std::vector<unsigned short> &rows,
                             const std::vector<Piece> &pieces) {
  for (int key = 0; key < C::keys; ++key) {
    size_t number = static_cast<size_t>(key / C::pieceKeys);
    int at = number < pieces.size() ? pieces[number].at + key % C::pieceKeys : count;
    for (int column = 0; column < 64 * Shared<C>::panels(Channels); ++column) {
      u32 place = panels + static_cast<u32>(column / 64 * Shared<C>::keyPanelBytes + key * 128 +
                                            (column % 64 / 8 ^ key % 8) * 16 + column % 8 * 2);
      unsigned short found, expected = 0;
      std::memcpy(&found, base + place, 2);
      if (at < count && column < Channels)
        expected = rows[static_cast<size_t>(at) * stride / 2 + static_cast<size_t>(column)];
      ASSERT_EQ(found, expected) << "key " << key << " column " << column;
    }
  }
}

template <class C> void GatherRun<C>::consume(const Shared<C> &shared) {
  constexpr u32 all = 4 * C::consumers;
  auto release = [](u32 barrier) {
    for (u32 warp = 0; warp < all; ++warp)
      barrierArrive(barrier);
  };
  Cursor<C::querySlots> item;
  Cursor<C::stages> keyRing, valueRing;
  std::vector<std::vector<Piece>> before;
  for (int expectedId = 0;; expectedId = expectedId == 0 ? 3 : expectedId + 1, item.advance()) {
    barrierWait(shared.itemFull(item.slot), item.lap);
    int id = shared.item(item.slot);
    if (id < 0)
      break;
    ASSERT_EQ(id, expectedId);
    barrierWait(shared.queryFull(item.slot), item.lap);
    std::vector<Piece> left;
    if (static_cast<size_t>(id) < walks.size())
      for (const auto &round : walks[static_cast<size_t>(id)])
        for (const Piece &piece : round)
          if (piece.at >= 0)
            left.push_back(piece);
    for (bool isLast = left.empty(), isFirst = true; !isLast || isFirst; isFirst = false) {
      barrierWait(shared.keyFull(keyRing.slot), keyRing.lap);
      int kind = shared.note(keyRing.slot).kind;
      if (left.empty()) {
        ASSERT_EQ(kind, endOfItem);
        release(shared.keyEmpty(keyRing.slot));
        keyRing.advance();
        break;
      }
      std::vector<Piece> pieces = left;
      if (pieces.size() > size_t{C::pieces})
        pieces.resize(C::pieces);
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(pieces.size()));
      isLast = left.empty();
      int kinds = 0;
      for (size_t number = 0; number < pieces.size(); ++number) {
        kinds |= pieces[number].kind ? 1 << pieces[number].kind : 0;
        for (int i = 0; i < C::pieceKeys; ++i)
          ASSERT_EQ(shared.places(keyRing.slot)[number * C::pieceKeys + static_cast<size_t>(i)],
                    static_cast<u32>(pieces[number].at + i) | static_cast<u32>(pieces[number].kind)
                                                                  << placeBits);
      }
      ASSERT_EQ(kind,
                kinds | static_cast<int>(pieces.size()) << piecesShift | (isLast ? lastOfItem : 0));
      checkRows<C::headDim>(shared.key(keyRing.slot), keys, pieces);
      release(shared.keyEmpty(keyRing.slot));
      keyRing.advance();
      before.push_back(pieces);
      // Values follow the keys of the next tile.
      if (before.size() == 1 && !isLast)
        continue;
      for (size_t ready = isLast ? before.size() : 1; ready > 0; --ready) {
        barrierWait(shared.valueFull(valueRing.slot), valueRing.lap);
        checkRows<C::valueDim>(shared.value(valueRing.slot), values, before.front());
        release(shared.valueEmpty(valueRing.slot));
        valueRing.advance();
        before.erase(before.begin());
      }
    }
    release(shared.itemEmpty(item.slot));
    release(shared.queryEmpty(item.slot));
  }
}

template <class C> void GatherRun<C>::run() {
  std::array<Warp, 4> meeting;
  warps = &meeting;
  sharedMemory = base;
  barriers.clear();
  Shared<C> shared{0, base};
  threadIdx.x = 0;
  shared.initialize();
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 128; ++thread)
    threads.emplace_back([&, thread] {
      threadIdx.x = thread;
      produce(shared);
    });
  consume(shared);
  // Threads that wait for a consumer that has given up never end.
  if (testing::Test::HasFatalFailure())
    std::abort();
  for (std::thread &thread : threads)
    thread.join();
}
} // namespace on_threads

using namespace on_threads;

TEST(Gather, CopiesEveryRowToItsPlace) {
  lacuna::Random random(1);
  GatherRun<Config<128, 1, 128, 128, 2>>(random).run();
}
TEST(Gather, KnowsBlocksAndOddChannels) {
  lacuna::Random random(2);
  GatherRun<Config<80, 2, 72, 40, 3>>(random).run();
  GatherRun<Config<16, 8, 64, 136, 2>>(random).run();
  GatherRun<Config<112, 16, 128, 64, 2>>(random).run();
}
