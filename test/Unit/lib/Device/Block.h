//===- Block.h - the words of device code, for a block of threads ----------===//
//
// A lane is a thread; votes, shuffles and reductions meet at a barrier of their warp, and all
// threads at one of their block. Shared memory is static.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/Unit/lib/Device/Warp.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace on_block {
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
using std::max;
using std::min;

struct Place {
  unsigned x = 0;
};
inline thread_local Place threadIdx;

struct Block {
  explicit Block(unsigned warps) : meeting(32 * warps) {
    for (unsigned warp = 0; warp < warps; ++warp)
      all.push_back(std::make_unique<Warp>());
  }
  std::barrier<> meeting;
  std::atomic<int> votes[2] = {0, 0};
  std::vector<std::unique_ptr<Warp>> all;
};
inline Block *running = nullptr;

/// Runs a block of `warps` warps.
template <typename Body> void launch(unsigned warps, Body body) {
  Block block(warps);
  running = &block;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 32 * warps; ++thread)
    threads.emplace_back([&, thread] {
      threadIdx.x = thread;
      body();
    });
  for (std::thread &thread : threads)
    thread.join();
}

inline unsigned lane() { return threadIdx.x % 32; }
inline Warp &warp() { return *running->all[threadIdx.x / 32]; }
inline std::array<u32, 32> gather(u32 value) { return warp().collect(lane(), value); }

inline u32 __ballot_sync(u32, bool vote) { return warp().ballot(lane(), vote); }
inline bool __any_sync(u32 all, bool vote) { return __ballot_sync(all, vote) != 0; }
/// What lane `from(lane)` hands in, word by word.
template <typename T, typename From> T exchange(T value, From from) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof(T));
  for (u32 &word : words)
    word = gather(word)[from(lane())];
  std::memcpy(&value, words, sizeof(T));
  return value;
}
template <typename T> T __shfl_sync(u32, T value, int from) {
  return exchange(value, [&](unsigned) { return static_cast<unsigned>(from) % 32; });
}
template <typename T> T __shfl_xor_sync(u32, T value, int mask) {
  return exchange(value, [&](unsigned own) { return own ^ static_cast<unsigned>(mask); });
}
template <typename T> T __shfl_up_sync(u32, T value, int distance) {
  return exchange(value, [&](unsigned own) {
    return own < static_cast<unsigned>(distance) ? own : own - static_cast<unsigned>(distance);
  });
}
inline u32 __reduce_add_sync(u32, u32 value) {
  u32 sum = 0;
  for (u32 other : gather(value))
    sum += other;
  return sum;
}
inline void __syncwarp() { gather(0); }
inline void __syncthreads() { running->meeting.arrive_and_wait(); }
inline int __syncthreads_count(bool vote) {
  thread_local unsigned round = 0;
  std::atomic<int> &votes = running->votes[round++ % 2];
  votes += vote;
  __syncthreads();
  int all = votes;
  __syncthreads();
  if (threadIdx.x == 0)
    votes = 0;
  return all;
}

inline int __popc(u32 lanes) { return std::popcount(lanes); }
inline int __ffs(int word) { return word ? std::countr_zero(static_cast<u32>(word)) + 1 : 0; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __uint_as_float(u32 bits) { return std::bit_cast<float>(bits); }
inline u32 __float_as_uint(float value) { return std::bit_cast<u32>(value); }
template <typename T> T __ldg(const T *place) { return *place; }
template <typename T> T atomicAdd(T *place, T value) {
  return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
constexpr int __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK = 0;
template <typename T> void __nv_atomic_store_n(T *place, T value, int order, int) {
  __atomic_store_n(place, value, order);
}
} // namespace on_block

#define INFINITY_F32 INFINITY
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
