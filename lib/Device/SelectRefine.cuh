// Lacuna's device library: scores of what lists name; after the rows and the lists.

/// Products of one query row with the key rows that its list names; -inf for what is none.
/// `finish(id, product)` makes a score of one. `Warps` warps; each row takes as many lanes as it
/// has chunks.
template <class Element, int Channels, int Warps, class Finish>
__device__ __forceinline__ void scoreList(const void *queries, i64 query, i64 queryStride,
                                          const void *keys, i64 key, i64 rowStride, i64 keyStride,
                                          i64 keyRows, Strip<const int> ids, int count,
                                          Strip<float> target, Finish &&finish) {
  constexpr int size = Chunk<Element>::size, chunks = (Channels + size - 1) / size;
  constexpr int lanes = chunks > 16  ? 32
                        : chunks > 8 ? 16
                        : chunks > 4 ? 8
                        : chunks > 2 ? 4
                                     : chunks;
  constexpr int rows = 32 / lanes;
  const int part = threadIdx.x % lanes;
  count = countEntries(count, ids.extent);
  // All lanes of a warp go through the same rounds.
  for (i64 from = threadIdx.x / 32 * rows; from < ids.extent; from += Warps * rows) {
    const i64 entry = from + threadIdx.x % 32 / lanes;
    const int id = entry < count ? ids[entry] : -1;
    const bool isRow = id >= 0 && id < keyRows;
    float sum = 0.f;
    for (int chunk = part; isRow && chunk < chunks; chunk += lanes) {
      float q[size], k[size];
      readChannels<Element, Channels>(queries, query, queryStride, chunk * size, q);
      readChannels<Element, Channels>(keys, key + id * rowStride, keyStride, chunk * size, k);
#pragma unroll
      for (int i = 0; i < size; ++i)
        sum = __fmaf_rn(q[i], k[i], sum);
    }
#pragma unroll
    for (int lane = lanes / 2; lane > 0; lane /= 2)
      sum += __shfl_xor_sync(~0u, sum, lane);
    if (part == 0 && entry < ids.extent)
      target[entry] = isRow ? finish(id, sum) : -INFINITY_F32;
  }
}
