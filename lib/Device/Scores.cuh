// Lacuna's device library: scores of blocks; after the rows and the matrices.
//
// A thread block computes tiles of 128 x 128 scores in registers, puts them into shared memory, and
// reduces them there: first along columns, then over rows, heads and further tiles.

static constexpr int scoreThreads = 256, scoreTile = 128;
/// Floats of a row of scores in shared memory; the padding spreads columns over the banks.
static constexpr int scorePitch = scoreTile + 1;

enum class Score { Dot, Box, Ball, Quadratic };
enum class Reduction { Sum, Mean, Max, LogSumExp };

/// A score of a pair that does not count: a NaN that no arithmetic makes.
static constexpr u32 noScore = 0xffffffffu;
__device__ __forceinline__ bool isNone(float score) { return __float_as_uint(score) == noScore; }

/// The greater one; NaN if either is NaN.
__device__ __forceinline__ float greater(float a, float b) { return a > b || a != a ? a : b; }

/// exp(score - top); 1 for equal infinities.
__device__ __forceinline__ float expBelow(float score, float top) {
  return score == top ? 1.f : exp2Fast((score - top) * log2e);
}

/// What has been reduced so far; a count of 0 means nothing. Of a log-sum-exp, `value` is the
/// greatest score and `count` the sum of exp(score - value).
struct Partial {
  float value, count;
};
template <Reduction Kind> struct Reducer {
  static constexpr bool isMax = Kind == Reduction::Max || Kind == Reduction::LogSumExp;

  __device__ static Partial empty() { return {isMax ? -INFINITY_F32 : 0.f, 0.f}; }

  /// `count` scores that lie `stride` floats apart.
  __device__ static Partial line(const float *scores, int stride, int count) {
    Partial total = empty();
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      const float score = scores[i * stride];
      if (isNone(score))
        continue;
      total.value = isMax ? greater(total.value, score) : total.value + score;
      total.count += 1.f;
    }
    if (Kind == Reduction::LogSumExp && total.count > 0.f) {
      total.count = 0.f;
#pragma unroll 4
      for (int i = 0; i < count; ++i)
        if (const float score = scores[i * stride]; !isNone(score))
          total.count += expBelow(score, total.value);
    }
    return total;
  }
  __device__ static void join(Partial &total, Partial part) {
    if (part.count == 0.f)
      return;
    if constexpr (Kind == Reduction::LogSumExp) {
      const float top = greater(total.value, part.value);
      total.count = (total.count == 0.f ? 0.f : total.count * expBelow(total.value, top)) +
                    part.count * expBelow(part.value, top);
      total.value = top;
    } else {
      total.value = isMax ? greater(total.value, part.value) : total.value + part.value;
      total.count += part.count;
    }
  }
  /// Joins the partials of `lanes` neighbouring lanes.
  __device__ static Partial joinLanes(Partial total, int lanes) {
    for (int lane = 1; lane < lanes; lane *= 2) {
      const Partial other = {__shfl_xor_sync(~0u, total.value, lane),
                             __shfl_xor_sync(~0u, total.count, lane)};
      join(total, other);
    }
    return total;
  }
  __device__ static float finish(Partial partial) {
    if (partial.count == 0.f)
      return __uint_as_float(noScore);
    if constexpr (Kind == Reduction::Mean)
      return partial.value / partial.count;
    if constexpr (Kind == Reduction::LogSumExp)
      return partial.value + log2Fast(partial.count) * ln2;
    return partial.value;
  }
};

/// The greatest power of two that is at most `value`, from 1 to 32.
__host__ __device__ constexpr int sharedLanes(int value) {
  int lanes = 1;
  while (lanes * 2 <= value && lanes < 32)
    lanes *= 2;
  return lanes;
}

/// Rows of a tensor as a product needs them.
struct ScoreRows {
  const void *base;
  i64 offset, rowStride, channelStride;
  /// Rows from here on do not exist.
  i64 rows;
};

// Products on the tensor cores ---------------------------------------------------------------

/// Channels of a row that are in shared memory at once: 128 bytes, in 8 chunks of 16 bytes that lie
/// at chunk ^ (row % 8), so that 8 rows of a matrix fall into different banks.
static constexpr int panelChannels = 64;

/// Copies 64 channels from `channel` on of 128 rows from `first` on; what does not exist is 0.
template <class Element, int Channels>
__device__ __forceinline__ void loadPanel(const ScoreRows &rows, i64 first, int channel,
                                          unsigned short *panel) {
  for (int i = threadIdx.x; i < scoreTile * 8; i += scoreThreads) {
    const int row = i / 8, chunk = i % 8, at = channel + 8 * chunk;
    uint4 bits = make_uint4(0, 0, 0, 0);
    if (first + row < rows.rows && at < Channels) {
      const unsigned short *source = static_cast<const unsigned short *>(rows.base) + rows.offset +
                                     (first + row) * rows.rowStride + at * rows.channelStride;
      if (Channels % 8 == 0 && Chunk<Element>::isWhole(source, rows.channelStride)) {
        bits = *reinterpret_cast<const uint4 *>(source);
      } else {
        unsigned short parts[8];
#pragma unroll
        for (int k = 0; k < 8; ++k)
          parts[k] = at + k < Channels ? source[k * rows.channelStride] : 0;
        bits = make_uint4(parts[0] | parts[1] << 16, parts[2] | parts[3] << 16,
                          parts[4] | parts[5] << 16, parts[6] | parts[7] << 16);
      }
    }
    *reinterpret_cast<uint4 *>(panel + row * panelChannels + (chunk ^ row % 8) * 8) = bits;
  }
}

/// The products of 128 rows with 128 rows, to put(row, column, product). A warp computes 16 rows;
/// `tile` is shared memory that put may write.
template <class Element, int Channels, class Put>
__device__ __forceinline__ void multiplyTile(const ScoreRows &queries, i64 firstQuery,
                                             const ScoreRows &keys, i64 firstKey, float *tile,
                                             Put &&put) {
  auto *queryPanel = reinterpret_cast<unsigned short *>(tile);
  unsigned short *keyPanel = queryPanel + scoreTile * panelChannels;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sums[scoreTile / 8][4] = {};
#pragma unroll 1
  for (int channel = 0; channel < Channels; channel += panelChannels) {
    __syncthreads();
    loadPanel<Element, Channels>(queries, firstQuery, channel, queryPanel);
    loadPanel<Element, Channels>(keys, firstKey, channel, keyPanel);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < panelChannels / 16; ++k) {
      u32 a[4];
      const int row = 16 * warp + lane % 16;
      loadMatrices(
          a, sharedAddress(queryPanel + row * panelChannels + ((2 * k + lane / 16) ^ row % 8) * 8));
#pragma unroll
      for (int n = 0; n < scoreTile / 16; ++n) {
        u32 b[4];
        const int key = 16 * n + lane % 8 + lane / 16 * 8;
        loadMatrices(b, sharedAddress(keyPanel + key * panelChannels +
                                      ((2 * k + lane / 8 % 2) ^ key % 8) * 8));
        multiply<Element>(sums[2 * n], a, b[0], b[1]);
        multiply<Element>(sums[2 * n + 1], a, b[2], b[3]);
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < scoreTile / 8; ++n)
#pragma unroll
    for (int part = 0; part < 4; ++part)
      put(16 * warp + lane / 4 + part / 2 * 8, 8 * n + lane % 4 * 2 + part % 2, sums[n][part]);
  __syncthreads();
}

// Products on the other units ----------------------------------------------------------------

/// The kinds that are no plain product of 16-bit elements. A thread computes 8 x 8 scores: rows
/// 16 r + its row, columns 16 c + its column.
template <Score Kind, class Element, int Channels, class Put>
__device__ __forceinline__ void combineTile(const ScoreRows &queries, i64 firstQuery,
                                            const ScoreRows &keys, const ScoreRows &companions,
                                            i64 firstKey, float scale, float *tile, Put &&put) {
  typedef typename Memory<Element>::Type Type;
  constexpr int depth = 16, pitch = scoreTile + 4;
  constexpr bool hasPairs = Kind == Score::Box || Kind == Score::Quadratic;
  float *queryPart = tile, *keyPart = tile + depth * pitch, *otherPart = tile + 2 * depth * pitch;
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sums[8][8] = {}, squares[8] = {};
  auto load = [&](const ScoreRows &source, i64 first, int channel, float *target) {
    for (int i = threadIdx.x; i < scoreTile * depth; i += scoreThreads) {
      const int r = i / depth, d = i % depth;
      float value = 0.f;
      if (first + r < source.rows && channel + d < Channels)
        value = Memory<Element>::load(
            static_cast<const Type *>(source.base)[source.offset + (first + r) * source.rowStride +
                                                   (channel + d) * source.channelStride]);
      target[d * pitch + r] = value;
    }
  };
#pragma unroll 1
  for (int channel = 0; channel < Channels; channel += depth) {
    __syncthreads();
    load(queries, firstQuery, channel, queryPart);
    load(keys, firstKey, channel, keyPart);
    if constexpr (hasPairs)
      load(companions, firstKey, channel, otherPart);
    __syncthreads();
#pragma unroll 2
    for (int d = 0; d < depth; ++d) {
      float q[8], k[8], c[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        q[i] = queryPart[d * pitch + 16 * i + row];
        k[i] = keyPart[d * pitch + 16 * i + column];
        c[i] = hasPairs ? otherPart[d * pitch + 16 * i + column] : 0.f;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if constexpr (Kind == Score::Ball)
          squares[i] = __fmaf_rn(q[i], q[i], squares[i]);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          if constexpr (Kind == Score::Box)
            sums[i][j] += greater(q[i] * k[j], q[i] * c[j]);
          else
            sums[i][j] = __fmaf_rn(q[i], k[j], sums[i][j]);
          if constexpr (Kind == Score::Quadratic)
            sums[i][j] = __fmaf_rn(0.5f * scale * q[i] * q[i], c[j], sums[i][j]);
        }
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float score = sums[i][j];
      if constexpr (Kind == Score::Ball) {
        const i64 key = firstKey + 16 * j + column;
        if (key < companions.rows)
          score += sqrtf(squares[i]) *
                   Memory<Element>::load(static_cast<const Type *>(
                       companions.base)[companions.offset + key * companions.rowStride]);
      }
      put(16 * i + row, 16 * j + column, score);
    }
  __syncthreads();
}

// Reductions -----------------------------------------------------------------------------------

/// One program's blocks: `Rows` x `Columns` scores each, of which there are `TileRows / Rows` times
/// `TileColumns / Columns`; `Columns` 0 is the whole row.
template <Reduction RowKind, int Rows, Reduction ColumnKind, int Columns, int TileRows,
          int TileColumns, int Group>
struct ScoreBlocks {
  /// Columns of a block may need several tiles; then what their rows have so far is kept.
  static constexpr bool isLong = Columns == 0 || Columns > scoreTile;
  /// One tile has all there is of its blocks.
  static constexpr bool isDirect = !isLong && Group == 1 && Rows <= scoreTile;
  static constexpr int blockColumns = isLong ? 1 : TileColumns / (Columns ? Columns : 1);
  static constexpr int blockRows = TileRows / Rows;
  static constexpr int blocks = blockRows * blockColumns;
  /// Rows of one tile that belong to blocks.
  static constexpr int tileRows = TileRows < scoreTile ? TileRows : scoreTile;
  typedef Reducer<RowKind> RowReducer;
  typedef Reducer<ColumnKind> ColumnReducer;

  float *tile;
  Partial *results, *longRows;

  __device__ explicit ScoreBlocks(float *shared)
      : tile(shared), results(reinterpret_cast<Partial *>(shared + scoreTile * scorePitch)),
        longRows(results + (isDirect ? 0 : blocks)) {
    for (int i = threadIdx.x; !isDirect && i < blocks; i += scoreThreads)
      results[i] = RowReducer::empty();
  }
  __device__ void openRows() {
    for (int i = threadIdx.x; isLong && i < scoreTile; i += scoreThreads)
      longRows[i] = ColumnReducer::empty();
    __syncthreads();
  }
  /// Takes in one tile of long columns. Two threads share a row.
  __device__ void addLong(int columns) {
    const int row = threadIdx.x / 2, half = threadIdx.x % 2;
    const Partial sum = ColumnReducer::joinLanes(
        ColumnReducer::line(tile + row * scorePitch + half, 2, (columns + 1 - half) / 2), 2);
    if (half == 0)
      ColumnReducer::join(longRows[row], sum);
    __syncthreads();
  }
  /// The tile's rows are whole: their numbers become the first column of the tile.
  __device__ void closeLong(int rows) {
    for (int row = threadIdx.x; row < scoreTile; row += scoreThreads)
      tile[row * scorePitch] =
          row < rows ? ColumnReducer::finish(longRows[row]) : __uint_as_float(noScore);
    __syncthreads();
  }
  /// Blocks of columns become one number each, at the start of the tile's rows.
  __device__ void reduceColumns(int columns) {
    constexpr int items = tileRows * blockColumns;
    constexpr int lanes = items * 2 <= scoreThreads ? 2 : 1;
    // Rows are read by one warp before it writes them, and no other warp has a part in them.
    static_assert(scoreTile * lanes >= 32, "");
    for (int first = 0; first < tileRows; first += scoreThreads / lanes) {
      const int row = first + threadIdx.x / lanes;
      const int part = threadIdx.x % lanes;
      for (int block = 0; block < blockColumns; ++block) {
        const int start = block * Columns, width = min(Columns, columns - start);
        const Partial sum = ColumnReducer::joinLanes(
            row < tileRows ? ColumnReducer::line(tile + row * scorePitch + start + part, lanes,
                                                 (width + lanes - 1 - part) / lanes)
                           : ColumnReducer::empty(),
            lanes);
        __syncwarp();
        if (row < tileRows && part == 0)
          tile[row * scorePitch + block] = ColumnReducer::finish(sum);
      }
    }
    __syncthreads();
  }
  /// Rows of the tile, from row `base` of the program's on, join their blocks. `store(block,
  /// score)` gets what is final.
  template <class Store> __device__ void reduceRows(int base, Store &&store) {
    constexpr int heights = (tileRows + Rows - 1) / Rows;
    constexpr int items = heights * blockColumns;
    constexpr int lanes = sharedLanes(items >= scoreThreads ? 1 : scoreThreads / items);
    constexpr int step = scoreThreads / lanes;
    for (int first = 0; first < items; first += step) {
      const int item = first + threadIdx.x / lanes, part = threadIdx.x % lanes;
      const int height = item / blockColumns, width = item % blockColumns;
      const int rows = min(Rows, tileRows - height * Rows);
      Partial sum = RowReducer::joinLanes(
          item < items ? RowReducer::line(tile + (height * Rows + part) * scorePitch + width,
                                          lanes * scorePitch, (rows + lanes - 1 - part) / lanes)
                       : RowReducer::empty(),
          lanes);
      if (item >= items || part != 0)
        continue;
      const int block = (base / Rows + height) * blockColumns + width;
      if constexpr (isDirect)
        store(block, RowReducer::finish(sum));
      else
        RowReducer::join(results[block], sum);
    }
    __syncthreads();
  }
  __device__ float result(int block) const { return RowReducer::finish(results[block]); }

  static constexpr int sharedBytes =
      scoreTile * scorePitch * 4 + (isDirect ? 0 : 8 * blocks) + (isLong ? 8 * scoreTile : 0);
};

/// Everything of one program. `product(member, row, column, put)` gives put(row, column, product)
/// the raw products of a tile; `finish(member, row, column, score)` makes a score of one and says
/// whether it counts; `store(row, column, score)` writes that of a block, numbered from the
/// tensor's first.
template <class Blocks, int Rows, int Columns, int TileRows, int TileColumns, int Group,
          class Product, class Finish, class Store>
__device__ __forceinline__ void scoreBlocks(float *shared, i64 firstRow, i64 rows, i64 firstColumn,
                                            i64 columns, Product &&product, Finish &&finish,
                                            Store &&store) {
  Blocks blocks(shared);
  const i64 endRow = min(rows, firstRow + TileRows);
  const i64 endColumn = Columns == 0 ? columns : min(columns, firstColumn + TileColumns);
  auto storeBlock = [&](int block, float score) {
    constexpr int blockColumns = Columns ? Columns : 1;
    const i64 row = firstRow / Rows + block / Blocks::blockColumns;
    const i64 column = firstColumn / blockColumns + block % Blocks::blockColumns;
    if (row * Rows < rows && (Columns == 0 || column * Columns < columns))
      store(row, column, isNone(score) ? -INFINITY_F32 : score);
  };
#pragma unroll 1
  for (int member = 0; member < Group; ++member)
#pragma unroll 1
    for (i64 row = firstRow; row < endRow; row += scoreTile) {
      const int height = static_cast<int>(min(endRow - row, static_cast<i64>(scoreTile)));
      const int base = static_cast<int>(row - firstRow);
      blocks.openRows();
#pragma unroll 1
      for (i64 column = firstColumn; column < endColumn; column += scoreTile) {
        const int width = static_cast<int>(min(endColumn - column, static_cast<i64>(scoreTile)));
        product(member, row, column, [&](int r, int c, float score) {
          const bool isThere = r < height && c < width;
          const bool counts = isThere && finish(member, row + r, column + c, score);
          shared[r * scorePitch + c] = counts ? score : __uint_as_float(noScore);
        });
        if constexpr (Blocks::isLong)
          blocks.addLong(width);
        else {
          if constexpr (Columns > 1)
            blocks.reduceColumns(width);
          blocks.reduceRows(base, storeBlock);
        }
      }
      if constexpr (Blocks::isLong) {
        blocks.closeLong(height);
        blocks.reduceRows(base, storeBlock);
      }
    }
  for (int block = threadIdx.x; !Blocks::isDirect && block < Blocks::blocks; block += scoreThreads)
    storeBlock(block, blocks.result(block));
}
