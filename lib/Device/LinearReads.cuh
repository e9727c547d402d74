// Lacuna's device library: rows of linear attention; after the states.

/// Calls visit(c) for those c from `from` up to `to` for which member(c) holds, in rising order, in
/// all threads. `words` has room for a number per warp.
template <class Member, class Visit>
__device__ __forceinline__ void forMembers(int from, int to, u32 *words, Member &&member,
                                           Visit &&visit) {
#pragma unroll 1
  for (int base = from; base < to; base += linearThreads) {
    const int mine = base + static_cast<int>(threadIdx.x);
    const u32 votes = __ballot_sync(~0u, mine < to && member(mine));
    if (threadIdx.x % 32 == 0)
      words[threadIdx.x / 32] = votes;
    __syncthreads();
#pragma unroll 1
    for (int warp = 0; warp < linearWarps; ++warp)
#pragma unroll 1
      for (u32 bits = words[warp]; bits; bits &= bits - 1)
        visit(base + 32 * warp + __ffs(bits) - 1);
    __syncthreads();
  }
}

/// Shared memory of a program that reads states: their sum, features of the rows, norms.
template <int Channels, int Width, int Rows> struct StateRead {
  static constexpr int rows = roundUp(Rows, 16), tiles = rows / 16;
  static constexpr int statePitch = Width + 4, rowPitch = Channels + 8;
  static constexpr int stateBytes = Channels * statePitch * 4, rowBytes = rows * rowPitch * 2;
  static constexpr int sharedBytes = stateBytes + rowBytes + (Channels + rows + linearWarps) * 4;
  /// Warps side by side: over rows, and over value channels.
  static constexpr int rowWarps = tiles >= 4 ? 4 : tiles >= 2 ? 2 : 1;
  static constexpr int columnWarps = linearWarps / rowWarps;
  static constexpr int tilesPerWarp = roundUp(tiles, rowWarps) / rowWarps;
  static constexpr int columnTiles = Width / 8;
  static constexpr int columnTilesPerWarp = roundUp(columnTiles, columnWarps) / columnWarps;
  /// Groups of four numbers of the state.
  static constexpr int groups = Channels * Width / 4;
};

/// Sums the states that are members into shared memory, rounded for products, and their norms.
/// `stateRow` and `normStep` say where rows of state c lie.
template <class Read, int Channels, int Width, class Member>
__device__ __forceinline__ void sumStates(float *state, float *norms, u32 *words,
                                          const LinearFloats &states, i64 stateStep, i64 rowStep,
                                          const LinearFloats &normsOf, i64 normStep, int from,
                                          int to, int column, int columns, Member &&member) {
  constexpr int atOnce = 8;
  float norm = 0.f;
  bool isFirst = true;
  auto slot = [&](int group) {
    return reinterpret_cast<float4 *>(state + group / (Width / 4) * Read::statePitch +
                                      group % (Width / 4) * 4);
  };
  auto forGroups = [&](auto &&visit) {
#pragma unroll 1
    for (int base = static_cast<int>(threadIdx.x); base < Read::groups;
         base += atOnce * linearThreads)
      visit(base);
  };
  forMembers(from, to, words, member, [&](int c) {
    forGroups([&](int base) {
      float4 next[atOnce];
#pragma unroll
      for (int k = 0; k < atOnce; ++k) {
        const int group = base + k * linearThreads, place = group % (Width / 4) * 4;
        next[k] = make_float4(0.f, 0.f, 0.f, 0.f);
        if (group < Read::groups && place < columns)
          next[k] = states.four(c * stateStep + group / (Width / 4) * rowStep, column + place,
                                column + columns);
      }
#pragma unroll
      for (int k = 0; k < atOnce; ++k)
        if (const int group = base + k * linearThreads; group < Read::groups) {
          if (!isFirst)
            addFour(next[k], *slot(group));
          *slot(group) = next[k];
        }
    });
    isFirst = false;
    if (threadIdx.x < Channels)
      norm += static_cast<const float *>(
          normsOf.base)[normsOf.offset + c * normStep + threadIdx.x * normsOf.stride];
  });
  forGroups([&](int base) {
#pragma unroll
    for (int k = 0; k < atOnce; ++k)
      if (const int group = base + k * linearThreads; group < Read::groups) {
        float4 sum = isFirst ? make_float4(0.f, 0.f, 0.f, 0.f) : *slot(group);
        *slot(group) = make_float4(toTf32(sum.x), toTf32(sum.y), toTf32(sum.z), toTf32(sum.w));
      }
  });
  if (threadIdx.x < Channels)
    norms[threadIdx.x] = norm;
}

/// Features of rows to shared memory, the factor of each row, and putLse(row, lse).
template <class Read, Feature Kind, class Element, int Channels, bool Undivided, class PutLse>
__device__ __forceinline__ void weighRows(const LinearRows &queries, i64 first, int rows,
                                          const float *norms, unsigned short *features,
                                          float *factors, PutLse &&putLse) {
  constexpr int lanes = rowLanes(Channels);
  const int channel = threadIdx.x % lanes * 8;
#pragma unroll 1
  for (int base = 0; base < Read::rows; base += linearThreads / lanes) {
    const int row = base + static_cast<int>(threadIdx.x) / lanes;
    const bool isThere = row < rows && first + row < queries.end;
    uint4 bits = make_uint4(0, 0, 0, 0);
    if (isThere)
      bits = readEight<Element>(queries, first + row, channel, Channels);
    float x[8], weight = 0.f;
    bits = makeFeatures<Kind, Element, Channels>(bits, channel, x);
    if (channel < Channels)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        weight = __fmaf_rn(x[i], norms[channel + i], weight);
#pragma unroll
    for (int lane = 1; lane < lanes; lane *= 2)
      weight += __shfl_xor_sync(~0u, weight, lane);
    if (row >= Read::rows)
      continue;
    if (channel < Channels)
      *reinterpret_cast<uint4 *>(features + row * Read::rowPitch + channel) = bits;
    if (channel == 0) {
      const bool isEmpty = weight <= 0.f;
      factors[row] = Undivided ? 1.f : isEmpty ? 0.f : 1.f / weight;
      if (isThere)
        putLse(first + row, isEmpty ? -INFINITY_F32 : logf(weight));
    }
  }
}

/// Products of the features with the state, times the factors, to put(row, value channel, two
/// numbers).
template <class Read, class Element, int Channels, class Put>
__device__ __forceinline__ void readStates(const float *state, const unsigned short *features,
                                           const float *factors, Put &&put) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int rowWarp = warp % Read::rowWarps, columnWarp = warp / Read::rowWarps;
  float sums[Read::tilesPerWarp][Read::columnTilesPerWarp][4] = {};
#pragma unroll 2
  for (int channel = 0; channel < Channels; channel += 8) {
    // Columns of a tile of rows are channels 0, 2, 4, 6, 1, 3, 5, 7: pairs lie in one word.
    u32 a[Read::tilesPerWarp][4];
#pragma unroll
    for (int m = 0; m < Read::tilesPerWarp; ++m)
      if (const int tile = m * Read::rowWarps + rowWarp; tile < Read::tiles)
#pragma unroll
        for (int below = 0; below < 2; ++below) {
          const u32 pair = *reinterpret_cast<const u32 *>(
              features + (16 * tile + lane / 4 + 8 * below) * Read::rowPitch + channel +
              lane % 4 * 2);
          a[m][below] = __float_as_uint(Memory<Element>::load(static_cast<unsigned short>(pair)));
          a[m][2 + below] =
              __float_as_uint(Memory<Element>::load(static_cast<unsigned short>(pair >> 16)));
        }
    const float *row = state + (channel + lane % 4 * 2) * Read::statePitch + lane / 4;
#pragma unroll
    for (int n = 0; n < Read::columnTilesPerWarp; ++n) {
      const int tile = n * Read::columnWarps + columnWarp;
      if (tile >= Read::columnTiles)
        break;
      const u32 b0 = __float_as_uint(row[8 * tile]),
                b1 = __float_as_uint(row[8 * tile + Read::statePitch]);
#pragma unroll
      for (int m = 0; m < Read::tilesPerWarp; ++m)
        if (m * Read::rowWarps + rowWarp < Read::tiles)
          multiplyTf32(sums[m][n], a[m], b0, b1);
    }
  }
#pragma unroll
  for (int m = 0; m < Read::tilesPerWarp; ++m)
#pragma unroll
    for (int n = 0; n < Read::columnTilesPerWarp; ++n)
#pragma unroll
      for (int below = 0; below < 2; ++below) {
        const int row = 16 * (m * Read::rowWarps + rowWarp) + lane / 4 + 8 * below;
        const int tile = n * Read::columnWarps + columnWarp;
        if (row < Read::rows && tile < Read::columnTiles) {
          const float factor = factors[row];
          put(row, 8 * tile + lane % 4 * 2, sums[m][n][2 * below] * factor,
              sums[m][n][2 * below + 1] * factor);
        }
      }
}
