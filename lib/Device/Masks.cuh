// Lacuna's device library: which pairs of a tile are live, as bits.
//
// A thread holds Keys / 4 scores of a row: of every 8 neighbouring keys, numbers 2 (lane mod 4) and
// the one after it. Bit c stands for element c, that is key c / 2 * 8 + 2 (lane mod 4) + c % 2 of
// the box, in row-major order of its axes.

template <bool Wide> struct BitsOf {
  typedef u32 Type;
};
template <> struct BitsOf<true> {
  typedef u64 Type;
};
template <int Keys> using LiveBits = typename BitsOf<(Keys > 128)>::Type;

/// `count` ones from bit `first` on; zeros where that leaves the word.
__device__ __forceinline__ u32 ones(u32 first, u32 count) {
  u32 mask;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(first), "r"(count));
  return mask;
}
__device__ __forceinline__ u64 ones64(u32 first, u32 count) {
  const u64 low = count >= 64 ? ~0ull : (1ull << count) - 1;
  return first >= 64 ? 0 : low << first;
}
template <class Bits> __device__ __forceinline__ Bits interval(int first, int end) {
  const u32 count = static_cast<u32>(max(end - first, 0));
  return sizeof(Bits) == 4 ? static_cast<Bits>(ones(first, count))
                           : static_cast<Bits>(ones64(first, count));
}
/// A 1 every `period` bits, `count` of them: multiplying by it repeats a pattern.
template <class Bits> __host__ __device__ constexpr Bits every(int period, int count) {
  Bits result = 0;
  for (int i = 0; i < count; ++i)
    result |= Bits(1) << (i * period);
  return result;
}

/// `bound` as a distance from the box's first coordinate, within the box.
template <int Extent> __device__ __forceinline__ int offsetInBox(int bound, int at) {
  return min(max(bound, at), at + Extent) - at;
}
template <int Extent> __device__ __forceinline__ int offsetInBox(i64 bound, int at) {
  return static_cast<int>(min(max(bound, i64(at)), i64(at) + Extent) - at);
}

/// Live where lower <= coordinate < upper along an axis of `Extent` that begins at `at` and of
/// which each step is `Inner` keys (a multiple of 8).
template <int Keys, int Extent, int Inner, class Bound>
__device__ __forceinline__ LiveBits<Keys> outerAxis(int at, Bound lower, Bound upper) {
  typedef LiveBits<Keys> Bits;
  constexpr int run = Inner / 4, period = run * Extent, repeats = Keys / (Inner * Extent);
  const Bits once =
      interval<Bits>(offsetInBox<Extent>(lower, at) * run, offsetInBox<Extent>(upper, at) * run);
  return once * every<Bits>(period, repeats);
}
/// The same for the innermost axis.
template <int Keys, int Extent, class Bound>
__device__ __forceinline__ LiveBits<Keys> innerAxis(int at, Bound lower, Bound upper) {
  typedef LiveBits<Keys> Bits;
  constexpr int period = Extent / 4, repeats = Keys / Extent;
  // How many of the thread's elements come before an offset.
  auto before = [](int offset) {
    const int own = max(offset - static_cast<int>(threadIdx.x % 4) * 2, 0);
    return own / 8 * 2 + min(own % 8, 2);
  };
  const Bits once = interval<Bits>(before(offsetInBox<Extent>(lower, at)),
                                   before(offsetInBox<Extent>(upper, at)));
  return once * every<Bits>(period, repeats);
}

/// The same for an axis of which each step is `Inner` keys where eight neighbouring keys differ in
/// their coordinate, because boxes are short along the innermost axes.
template <int Keys, int Extent, int Inner, class Bound>
__device__ __forceinline__ LiveBits<Keys> shortAxis(int at, Bound lower, Bound upper) {
  const int first = offsetInBox<Extent>(lower, at), end = offsetInBox<Extent>(upper, at);
  LiveBits<Keys> live = 0;
#pragma unroll
  for (int c = 0; c < Keys / 4; ++c) {
    const int key = c / 2 * 8 + static_cast<int>(threadIdx.x % 4) * 2 + c % 2;
    const int offset = key / Inner % Extent;
    live |= static_cast<LiveBits<Keys>>(offset >= first && offset < end) << c;
  }
  return live;
}

/// Hides the elements of row `r` (0 or 1) of a thread that are not live.
template <int Keys>
__device__ __forceinline__ void hide(LiveBits<Keys> live, int r, float (&scores)[Keys / 2]) {
#pragma unroll
  for (int c = 0; c < Keys / 4; ++c) {
    float &score = scores[c / 2 * 4 + 2 * r + c % 2];
    score = live >> c & 1 ? score : -INFINITY_F32;
  }
}
