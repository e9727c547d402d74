// Lacuna's device library: integer division and reads of captured tensors.

__device__ __forceinline__ i64 floorDiv(i64 a, i64 b) {
  const i64 quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0));
}
__device__ __forceinline__ int floorDiv(int a, int b) {
  const int quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0));
}
__device__ __forceinline__ i64 ceilDiv(i64 a, i64 b) { return -floorDiv(-a, b); }
__device__ __forceinline__ int ceilDiv(int a, int b) { return -floorDiv(-a, b); }

/// An index moved into [0, extent): reads of captured tensors never leave the tensor.
__device__ __forceinline__ i64 inside(i64 index, i64 extent) {
  return index < 0 ? 0 : index < extent ? index : extent - 1;
}
template <class T> __device__ __forceinline__ T readElement(const void *base, i64 offset) {
  return static_cast<const T *>(base)[offset];
}
__device__ __forceinline__ float readBf16(const void *base, i64 offset) {
  return __uint_as_float(static_cast<u32>(static_cast<const unsigned short *>(base)[offset]) << 16);
}
__device__ __forceinline__ float readF16(const void *base, i64 offset) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<const unsigned short *>(base)[offset]));
  return value;
}

/// A value whose arithmetic the front end does not see. It writes the number of rounds of a loop that
/// it unrolls as minima of negated minima, which some assemblers get wrong:
/// runtime/Jit/AssemblerFaults.h.
__device__ __forceinline__ int settled(int value) {
  asm("" : "+r"(value));
  return value;
}
__device__ __forceinline__ i64 settled(i64 value) {
  asm("" : "+l"(value));
  return value;
}

/// Calls visit(i), in order, for those i of lower, lower + step, ... below upper for which test(i)
/// holds. A whole warp calls it; each lane tests one i of 32.
template <class Index, class Test, class Visit>
__device__ __forceinline__ void scan(Index lower, Index upper, Index step, Test &&test,
                                     Visit &&visit) {
  const int lane = threadIdx.x % 32;
  for (Index base = lower; base < upper; base += 32 * step) {
    const Index mine = base + lane * step;
    u32 hits = __ballot_sync(~0u, mine < upper && test(mine));
    for (; hits; hits &= hits - 1)
      visit(base + (__ffs(hits) - 1) * step);
  }
}

/// Calls visit(i, load(i)) for i of lower, lower + step, ... below upper. A whole warp calls it;
/// each lane loads one of 32, so that one wait for memory serves them all.
template <class Index, class Load, class Visit>
__device__ __forceinline__ void forListed(Index lower, Index upper, Index step, Load &&load,
                                          Visit &&visit) {
  const int lane = threadIdx.x % 32;
  for (Index base = lower; base < upper; base += 32 * step) {
    const Index mine = base + lane * step;
    const auto loaded = load(mine < upper ? mine : base);
    Index i = base;
#pragma unroll 1
    for (int owner = 0; owner < 32 && i < upper; ++owner, i += step)
      visit(i, __shfl_sync(~0u, loaded, owner));
  }
}
/// The same with a round per lane: visit(i, load(i), isThere), where lanes behind the end say so.
template <class Index, class Load, class Visit>
__device__ __forceinline__ void forLanes(Index lower, Index upper, Index step, Load &&load,
                                         Visit &&visit) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (Index base = lower; base < upper; base += 32 * step) {
    const Index mine = base + lane * step;
    visit(mine, load(mine < upper ? mine : base), mine < upper);
  }
}
/// Calls visit(kind, a0, a1, a2), with the place of each lane in which `isHere` holds, in order.
template <class Visit>
__device__ __forceinline__ void visitLanes(Visit &&visit, int kind, bool isHere, int a0, int a1 = 0,
                                           int a2 = 0) {
#pragma unroll 1
  for (u32 hits = __ballot_sync(~0u, isHere); hits; hits &= hits - 1) {
    const int owner = __ffs(hits) - 1;
    visit(kind, __shfl_sync(~0u, a0, owner), __shfl_sync(~0u, a1, owner),
          __shfl_sync(~0u, a2, owner));
  }
}
