// Lacuna's device library: scores of pairs that are results as they are; after the scores.

/// Floats of a row of products in shared memory: pairs of eight rows fall into different banks.
static constexpr int plainPitch = scoreTile + 8;

/// One program's tile of scores. `target` is that of row 0 and column 0; the rest is as in
/// `scoreBlocks`. Products go through shared memory, so that a warp writes a row.
template <class Product, class Finish>
__device__ __forceinline__ void plainScores(float *shared, i64 firstRow, i64 rows, i64 firstColumn,
                                            i64 columns, float *target, i64 rowStride,
                                            i64 columnStride, Product &&product, Finish &&finish) {
  product(0, firstRow, firstColumn,
          [&](int row, int column, float score) { shared[row * plainPitch + column] = score; });
  const int height = static_cast<int>(min(rows - firstRow, i64(scoreTile)));
  const int column = 4 * static_cast<int>(threadIdx.x % 32);
  const i64 left = columns - firstColumn - column;
  float *first = target + firstRow * rowStride + (firstColumn + column) * columnStride;
  const bool isWhole = left >= 4 && columnStride == 1 && rowStride % 4 == 0 &&
                       reinterpret_cast<u64>(first) % 16 == 0;
#pragma unroll 4
  for (int row = static_cast<int>(threadIdx.x / 32); row < height; row += scoreThreads / 32) {
    float scores[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[i] = shared[row * plainPitch + column + i];
      if (i >= left || !finish(0, firstRow + row, firstColumn + column + i, scores[i]))
        scores[i] = -INFINITY_F32;
    }
    float *place = first + row * rowStride;
    if (isWhole)
      *reinterpret_cast<float4 *>(place) = make_float4(scores[0], scores[1], scores[2], scores[3]);
    else
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (i < left)
          place[i * columnStride] = scores[i];
  }
}
