//===- Fibers.h - the threads of a block, taking turns --------------------===//
//
// Kernels whose threads meet run as fibers of one host thread: a fiber runs until it waits for
// others. Matrix instructions of a warp are written from the layouts that the PTX ISA has for their
// fragments.
//
//===----------------------------------------------------------------------===//
#pragma once

#define sharedAddress stageAddress
#include "test/Emulator/Device.h"
#undef sharedAddress

#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <ucontext.h>

#define __shared__ static

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
inline u32 __float_as_uint(float value) {
  u32 bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline int __ffs(u32 bits) { return __builtin_ffs(static_cast<int>(bits)); }
template <class T> T atomicAdd(T *at, T value) {
  T before = *at;
  *at += value;
  return before;
}
inline int __popc(u32 bits) { return std::popcount(bits); }
template <class T> T __ldg(const T *at) { return *at; }
static constexpr int __NV_ATOMIC_RELAXED = 0, __NV_THREAD_SCOPE_BLOCK = 0;
template <class T> void __nv_atomic_store_n(T *at, T value, int, int) { *at = value; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float exp2Fast(float x) { return std::exp2(x); }
inline float log2Fast(float x) { return std::log2(x); }
inline float reciprocal(float x) { return 1 / x; }
inline float maxOrNan(float a, float b) { return a != a || a > b ? a : b; }

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

namespace fibers {
/// Where some fibers wait for each other.
struct Meeting {
  unsigned arrived = 0, rounds = 0;

  void release() {
    arrived = 0;
    ++rounds;
  }
};
struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool isDone = true;
  /// Exchanges of its warp, and counts of its block, that it took part in.
  unsigned exchanges = 0, counts = 0;
  /// Copies to shared memory that are not there yet: groups, the last of them open.
  std::vector<std::vector<std::pair<u32, std::array<unsigned char, 16>>>> copies;
};
struct Warp {
  Meeting meeting;
  alignas(16) unsigned char slots[2][32 * 32];
};
static constexpr size_t stackBytes = 1 << 17, mostThreads = 1024;
inline Fiber all[mostThreads];
inline Warp warps[mostThreads / 32];
inline Meeting block;
inline ucontext_t home;
/// Threads of the block that have not returned.
inline unsigned threads = 0;
inline int votes[3];
inline const std::function<void()> *body = nullptr;
/// What a block finds in shared memory is NaN.
alignas(1024) inline unsigned char sharedMemory[232448];

inline void start() {
  (*body)();
  all[threadIdx.x].isDone = true;
  if (--threads == block.arrived && threads > 0)
    block.release();
}
/// Lets the other fibers run.
inline void pass() {
  unsigned self = threadIdx.x;
  swapcontext(&all[self].context, &home);
  threadIdx.x = self;
}
inline void meet(Meeting &meeting, unsigned count) {
  unsigned round = meeting.rounds;
  if (++meeting.arrived == count)
    meeting.release();
  while (meeting.rounds == round)
    pass();
}
/// Runs all threads of one block.
inline void run(unsigned count, const std::function<void()> &call) {
  threads = count;
  body = &call;
  block = {};
  std::memset(sharedMemory, 0xff, sizeof(sharedMemory));
  std::memset(votes, 0, sizeof(votes));
  for (Warp &warp : warps)
    warp.meeting = {};
  for (unsigned thread = 0; thread < count; ++thread) {
    Fiber &fiber = all[thread];
    if (!fiber.stack)
      fiber.stack.reset(new char[stackBytes]);
    fiber.isDone = false;
    fiber.exchanges = fiber.counts = 0;
    fiber.copies.assign(1, {});
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stackBytes;
    fiber.context.uc_link = &home;
    makecontext(&fiber.context, start, 0);
  }
  for (bool isBusy = true; isBusy;) {
    isBusy = false;
    for (unsigned thread = 0; thread < count; ++thread) {
      if (all[thread].isDone)
        continue;
      isBusy = true;
      threadIdx.x = thread;
      swapcontext(&home, &all[thread].context);
    }
  }
}
/// What each lane of this warp has; the next exchange but one may overwrite it.
template <class T> const T *exchange(const T &value) {
  static_assert(sizeof(T) <= 32);
  Warp &warp = warps[threadIdx.x / 32];
  auto *slots = reinterpret_cast<T *>(warp.slots[all[threadIdx.x].exchanges++ % 2]);
  slots[threadIdx.x % 32] = value;
  meet(warp.meeting, 32);
  return slots;
}
} // namespace fibers

inline void __syncthreads() { fibers::meet(fibers::block, fibers::threads); }
inline void __syncwarp() { fibers::exchange(0); }
inline int __syncthreads_count(bool vote) {
  // Nobody reads or adds to the number that is made 0 until all have met again.
  unsigned number = fibers::all[threadIdx.x].counts++;
  fibers::votes[number % 3] += vote;
  __syncthreads();
  fibers::votes[(number + 2) % 3] = 0;
  return fibers::votes[number % 3];
}
inline u32 __ballot_sync(u32, bool vote) {
  const bool *votes = fibers::exchange(vote);
  u32 bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    bits |= static_cast<u32>(votes[lane]) << lane;
  return bits;
}
template <class T> T __shfl_xor_sync(u32, T value, int lanes) {
  unsigned lane = threadIdx.x % 32;
  return fibers::exchange(value)[lane ^ static_cast<unsigned>(lanes)];
}

template <class T> T __shfl_sync(u32, T value, int lane) {
  return fibers::exchange(value)[lane % 32];
}
template <class T> T __shfl_up_sync(u32, T value, unsigned lanes) {
  unsigned lane = threadIdx.x % 32;
  return fibers::exchange(value)[lane < lanes ? lane : lane - lanes];
}
template <class T> T __reduce_add_sync(u32, T value) {
  const T *values = fibers::exchange(value);
  T sum = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    sum += values[lane];
  return sum;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

struct Fragments {
  u32 a[4], b[2];
};
/// sum += a b, where elementA(fragments of all lanes, row, k) and elementB(.., k, column) say what
/// the lanes hold.
template <class ElementA, class ElementB>
void multiplyFragments(float (&sum)[4], const Fragments *all, int depth, ElementA &&elementA,
                       ElementB &&elementB) {
  int lane = static_cast<int>(threadIdx.x % 32);
  for (int part = 0; part < 4; ++part) {
    int row = lane / 4 + part / 2 * 8, column = lane % 4 * 2 + part % 2;
    for (int k = 0; k < depth; ++k)
      sum[part] += elementA(all, row, k) * elementB(all, k, column);
  }
}
template <class Element> void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  auto half = [](u32 pair, int k) {
    return toFloat<Element>(static_cast<unsigned short>(pair >> k % 2 * 16));
  };
  multiplyFragments(
      sum, fibers::exchange(Fragments{{a[0], a[1], a[2], a[3]}, {b0, b1}}), 16,
      [&](const Fragments *all, int row, int k) {
        return half(all[row % 8 * 4 + k % 8 / 2].a[row / 8 + k / 8 * 2], k);
      },
      [&](const Fragments *all, int k, int column) {
        return half(all[column * 4 + k % 8 / 2].b[k / 8], k);
      });
}
inline float toTf32(float value) {
  u32 bits = __float_as_uint(value);
  bool isFinite = (bits & 0x7f800000) != 0x7f800000;
  return __uint_as_float(isFinite ? (bits + 0x1000) & ~0x1fffu : bits);
}
/// What the matrix instruction reads of a number: those that were not rounded are cut.
inline float readTf32(u32 bits) { return __uint_as_float(bits & ~0x1fffu); }
inline void multiplyTf32(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  multiplyFragments(
      sum, fibers::exchange(Fragments{{a[0], a[1], a[2], a[3]}, {b0, b1}}), 8,
      [](const Fragments *all, int row, int k) {
        return readTf32(all[row % 8 * 4 + k % 4].a[row / 8 + k / 4 * 2]);
      },
      [](const Fragments *all, int k, int column) {
        return readTf32(all[column * 4 + k % 4].b[k / 4]);
      });
}
inline u32 sharedAddress(const void *pointer) {
  return static_cast<u32>(static_cast<const unsigned char *>(pointer) - fibers::sharedMemory);
}
/// Copies are done as late as they may be.
inline void copyChunk(u32 target, const void *source, bool isThere) {
  std::array<unsigned char, 16> bytes = {};
  if (isThere)
    std::memcpy(bytes.data(), source, 16);
  fibers::all[threadIdx.x].copies.back().emplace_back(target, bytes);
}
inline void chunksCommit() { fibers::all[threadIdx.x].copies.emplace_back(); }
template <int Pending> void chunksWait() {
  auto &copies = fibers::all[threadIdx.x].copies;
  while (copies.size() > Pending + 1) {
    for (const auto &[target, bytes] : copies.front())
      std::memcpy(fibers::sharedMemory + target, bytes.data(), 16);
    copies.erase(copies.begin());
  }
}
inline void loadMatrices(u32 (&parts)[4], u32 address) {
  const u32 *rows = fibers::exchange(address);
  unsigned lane = threadIdx.x % 32;
  for (unsigned part = 0; part < 4; ++part)
    std::memcpy(&parts[part], fibers::sharedMemory + rows[8 * part + lane / 4] + lane % 4 * 4, 4);
}
inline void loadTransposed(u32 (&parts)[4], const void *row) {
  const void *const *rows = fibers::exchange(row);
  unsigned lane = threadIdx.x % 32;
  for (unsigned part = 0; part < 4; ++part) {
    auto element = [&](unsigned place) -> u32 {
      return static_cast<const unsigned short *>(rows[8 * part + place])[lane / 4];
    };
    parts[part] = element(lane % 4 * 2) | element(lane % 4 * 2 + 1) << 16;
  }
}
