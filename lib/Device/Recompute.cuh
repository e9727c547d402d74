// Lacuna's device library: rows of the output once more, pair by pair.
//
// The product of weights and values multiplies the values of masked keys by 0, and 0 times NaN or
// infinity is NaN. Rows that this has spoilt are rare, and are recognised by finite sums beside an
// output that is not; they are summed again over their live pairs alone.

template <class Element> __device__ __forceinline__ float readHalf(const unsigned short *at);
template <> __device__ __forceinline__ float readHalf<Bf16>(const unsigned short *at) {
  return readBf16(at, 0);
}
template <> __device__ __forceinline__ float readHalf<F16>(const unsigned short *at) {
  return readF16(at, 0);
}

/// The product of two rows of channels in global memory.
template <class Element, int Channels>
__device__ __forceinline__ float dotRows(const unsigned short *a, const unsigned short *b) {
  float sum = 0.f;
#pragma unroll 1
  for (int channel = 0; channel < Channels; ++channel)
    sum = __fmaf_rn(readHalf<Element>(a + channel), readHalf<Element>(b + channel), sum);
  return sum;
}

/// A warp's sum over one row's live pairs: lane l holds channels l, l + 32, ...
template <class Element, int Channels> struct RowSum {
  static constexpr int count = (Channels + 31) / 32;
  float sums[count] = {};

  /// Adds one pair per lane: its weight, 0 for a pair that is not live, and its values.
  __device__ __forceinline__ void add(bool live, float weight, const unsigned short *values) {
    const int lane = threadIdx.x % 32;
    const u64 address = reinterpret_cast<u64>(values);
    for (u32 lanes = __ballot_sync(~0u, live); lanes; lanes &= lanes - 1) {
      const int from = __ffs(lanes) - 1;
      const float w = __shfl_sync(~0u, weight, from);
      const unsigned short *row =
          reinterpret_cast<const unsigned short *>(__shfl_sync(~0u, address, from));
#pragma unroll
      for (int i = 0; i < count; ++i)
        if (i * 32 + lane < Channels)
          sums[i] = __fmaf_rn(w, readHalf<Element>(row + i * 32 + lane), sums[i]);
    }
  }
  /// Writes the row into panels of 64 columns, as `storeMatrix` does.
  __device__ __forceinline__ void store(u32 panels, int panelBytes, int row) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int channel = i * 32 + lane;
      const u32 address = panels + channel / 64 * panelBytes + row * 128 +
                          (channel % 64 / 8 ^ row % 8) * 16 + channel % 8 * 2;
      if (channel < Channels)
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(address),
                     "h"(static_cast<unsigned short>(packPair<Element>(sums[i], 0.f)))
                     : "memory");
    }
  }
};
