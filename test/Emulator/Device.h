//===- Device.h - CUDA's words and Lacuna's instructions on a host ---------===//
//
// What emitted kernels find instead of lib/Device/Primitives.cuh when translate.py has them
// compiled for a host: one thread runs after the other, and the copy engine is a loop.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/Unit/runtime/FakeDriver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using std::max;
using std::min;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
#define INFINITY_F32 __int_as_float(0x7f800000)

struct Dimensions {
  unsigned x = 0;
};
static Dimensions threadIdx, blockIdx, gridDim;
struct alignas(16) uint4 {
  u32 x, y, z, w;
};

inline void namedBarrierSync(int, int) {}
inline void namedBarrierArrive(int, int) {}
inline int atomicAdd(int *at, int value) {
  int before = *at;
  *at += value;
  return before;
}
/// Blocks whose threads meet are run as one thread.
inline bool __syncthreads_or(bool value) { return value; }
inline bool __syncthreads_and(bool value) { return value; }

inline float __uint_as_float(u32 bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline float __int_as_float(int bits) { return __uint_as_float(static_cast<u32>(bits)); }
inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
static constexpr float log2e = 1.44269504088896340736f, ln2 = 0.69314718055994530942f;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

struct Bf16 {};
struct F16 {};
inline float halfToFloat(unsigned short bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<float>(value);
}
template <class Element> float toFloat(unsigned short bits);
template <> inline float toFloat<Bf16>(unsigned short bits) {
  return __uint_as_float(static_cast<u32>(bits) << 16);
}
template <> inline float toFloat<F16>(unsigned short bits) { return halfToFloat(bits); }

template <class Element> u32 roundHalf(float value);
template <> inline u32 roundHalf<Bf16>(float value) {
  u32 bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
template <> inline u32 roundHalf<F16>(float value) {
  auto rounded = static_cast<_Float16>(value);
  unsigned short bits;
  std::memcpy(&bits, &rounded, sizeof(bits));
  return bits;
}
template <class Element> u32 packPair(float low, float high) {
  return roundHalf<Element>(low) | roundHalf<Element>(high) << 16;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// As the driver passes it: the second word is the address of what it wrote down.
struct alignas(64) TensorMap {
  u64 words[16];
  const lacuna::fake::Map &fake() const {
    return *reinterpret_cast<const lacuna::fake::Map *>(words[1]);
  }
};

/// Shared memory that copies write and read, without a swizzle.
static std::vector<unsigned char> stage(1 << 18);
static constexpr u64 evictFirst = 0, evictLast = 0;
inline u32 sharedAddress(const void *) { return 0; }
template <int> void registersUp() {}
template <int> void registersDown() {}

/// Moves one box of 16-bit elements; what lies outside the tensor reads as zero and is not written.
template <class Move>
void forEachElement(const lacuna::fake::Map &map, u32 at, const std::vector<int> &corner,
                    Move &&move) {
  if (corner.size() != map.extents.size()) {
    std::fprintf(stderr, "expected %zu coordinates of a copy\n", map.extents.size());
    std::abort();
  }
  u64 rows = 1;
  for (size_t axis = 1; axis < map.box.size(); ++axis)
    rows *= map.box[axis];
  for (u64 row = 0; row < rows; ++row) {
    bool inside = true;
    u64 rest = row, offset = 0;
    for (size_t axis = 1; axis < map.box.size(); ++axis) {
      i64 coordinate = corner[axis] + static_cast<i64>(rest % map.box[axis]);
      rest /= map.box[axis];
      inside &= coordinate >= 0 && static_cast<u64>(coordinate) < map.extents[axis];
      offset += static_cast<u64>(coordinate) * map.strides[axis - 1];
    }
    for (u32 column = 0; column < map.box[0]; ++column) {
      u64 channel = static_cast<u64>(corner[0]) + column;
      auto *element = reinterpret_cast<unsigned char *>(map.address) + offset + 2 * channel;
      move(stage.data() + at + 128 * row + 2 * column,
           inside && channel < map.extents[0] ? element : nullptr);
    }
  }
}
template <class... Coordinates>
void copyIn(u32 target, const TensorMap &map, u32, u64, Coordinates... at) {
  forEachElement(map.fake(), target, {at...}, [](unsigned char *staged, unsigned char *element) {
    if (element)
      std::memcpy(staged, element, 2);
    else
      std::memset(staged, 0, 2);
  });
}
template <class... Coordinates> void copyOut(const TensorMap &map, u32 source, Coordinates... at) {
  forEachElement(map.fake(), source, {at...}, [](unsigned char *staged, unsigned char *element) {
    if (element)
      std::memcpy(element, staged, 2);
  });
}
