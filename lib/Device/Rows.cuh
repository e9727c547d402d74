// Lacuna's device library: rows of tensors, one warp each.
//
// A lane holds 16 bytes of neighbouring channels, which it reads and writes at once where they lie
// side by side at a multiple of 16 bytes, one by one elsewhere.

/// How elements lie in memory, and what they are as floats.
template <class Element> struct Memory {
  typedef Element Type;
  __device__ static float load(Type bits) { return static_cast<float>(bits); }
  __device__ static Type store(float value) { return static_cast<Type>(value); }
};
template <> struct Memory<Bf16> {
  typedef unsigned short Type;
  __device__ static float load(Type bits) { return __uint_as_float(static_cast<u32>(bits) << 16); }
  __device__ static Type store(float value) {
    return static_cast<Type>(packPair<Bf16>(value, 0.f));
  }
};
template <> struct Memory<F16> {
  typedef unsigned short Type;
  __device__ static float load(Type bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
  __device__ static Type store(float value) { return static_cast<Type>(packPair<F16>(value, 0.f)); }
};

/// Elements that a lane holds.
template <class Element> struct Chunk {
  typedef typename Memory<Element>::Type Type;
  static constexpr int size = 16 / sizeof(Type);
  union {
    uint4 whole;
    Type elements[size];
  };
  __device__ static bool isWhole(const void *first, i64 stride) {
    return stride == 1 && reinterpret_cast<u64>(first) % 16 == 0;
  }
};

/// Channels from `channel` on of the row that starts `offset` elements after `base`; zeros after
/// the last.
template <class Element, int Channels>
__device__ __forceinline__ void readChannels(const void *base, i64 offset, i64 stride, int channel,
                                             float (&values)[Chunk<Element>::size]) {
  typedef Chunk<Element> Lane;
  const auto *first = static_cast<const typename Lane::Type *>(base) + offset + channel * stride;
  Lane lane;
  if (Channels % Lane::size == 0 && Lane::isWhole(first, stride)) {
    lane.whole = *reinterpret_cast<const uint4 *>(first);
  } else {
#pragma unroll
    for (int i = 0; i < Lane::size; ++i)
      lane.elements[i] = channel + i < Channels ? first[i * stride] : typename Lane::Type(0);
  }
#pragma unroll
  for (int i = 0; i < Lane::size; ++i)
    values[i] = Memory<Element>::load(lane.elements[i]);
}
template <class Element, int Channels>
__device__ __forceinline__ void writeChannels(void *base, i64 offset, i64 stride, int channel,
                                              const float (&values)[Chunk<Element>::size]) {
  typedef Chunk<Element> Lane;
  auto *first = static_cast<typename Lane::Type *>(base) + offset + channel * stride;
  Lane lane;
#pragma unroll
  for (int i = 0; i < Lane::size; ++i)
    lane.elements[i] = Memory<Element>::store(values[i]);
  if (Channels % Lane::size == 0 && Lane::isWhole(first, stride)) {
    *reinterpret_cast<uint4 *>(first) = lane.whole;
    return;
  }
#pragma unroll
  for (int i = 0; i < Lane::size; ++i)
    if (channel + i < Channels)
      first[i * stride] = lane.elements[i];
}

/// Weights of parts with the given log-sum-exps, which add up to 1; returns the log-sum-exp of them
/// all. When every part is empty all weights are 0.
template <int Parts>
__device__ __forceinline__ float mergeWeights(const float (&lse)[Parts], float (&weights)[Parts]) {
  float top = lse[0];
#pragma unroll
  for (int part = 1; part < Parts; ++part)
    top = fmaxf(top, lse[part]);
  const bool empty = top == -INFINITY_F32;
  float sum = 0.f;
#pragma unroll
  for (int part = 0; part < Parts; ++part) {
    weights[part] = empty ? 0.f : expf(lse[part] - top);
    sum += weights[part];
  }
#pragma unroll
  for (int part = 0; part < Parts; ++part)
    weights[part] = empty ? 0.f : weights[part] / sum;
  return empty ? -INFINITY_F32 : top + logf(sum);
}
/// Adds a part; one of weight 0 adds nothing, whatever it holds.
template <int Size>
__device__ __forceinline__ void addPart(float weight, const float (&part)[Size],
                                        float (&sum)[Size]) {
  if (weight == 0.f)
    return;
#pragma unroll
  for (int i = 0; i < Size; ++i)
    sum[i] = __fmaf_rn(weight, part[i], sum[i]);
}
