// Lacuna's device library, part 8: scores of blocks; after the rows.
//
// A thread block computes tiles of 128 x 128 scores in registers, puts them into shared memory, and
// reduces them there: first along columns, then over rows, heads and further tiles.

static constexpr int scoreThreads = 256, scoreTile = 128;
/// Floats of a row of scores in shared memory; the padding spreads columns over the banks.
static constexpr int scorePitch = scoreTile + 1;

enum class Score { Dot, Box, Ball, Quadratic };
enum class Reduction { Sum, Mean, Max, LogSumExp };

/// What has been reduced so far. A count of 0 means nothing.
struct Partial {
  float value, count;
};
template <Reduction Kind> struct Reducer {
  __device__ static Partial empty() {
    return {Kind == Reduction::Max || Kind == Reduction::LogSumExp ? -INFINITY_F32 : 0.f, 0.f};
  }
  /// `count` of a log-sum-exp is the sum of exp(score - value), so it is above 0 once there is one.
  __device__ static void add(Partial &partial, float score) {
    if constexpr (Kind == Reduction::Max) {
      partial.value =
          partial.value > score || partial.value != partial.value ? partial.value : score;
      partial.count = 1.f;
    } else if constexpr (Kind == Reduction::LogSumExp) {
      if (score == -INFINITY_F32 && partial.count == 0.f) {
        partial.count = 0.f;
        return;
      }
      const float top = partial.value > score ? partial.value : score;
      if (top == INFINITY_F32) {
        partial = {top, 1.f};
        return;
      }
      partial.count =
          partial.count * exp2Fast((partial.value - top) * log2e) + exp2Fast((score - top) * log2e);
      partial.value = top;
    } else {
      partial.value += score;
      partial.count += 1.f;
    }
  }
  __device__ static float finish(Partial partial) {
    if (partial.count == 0.f)
      return -INFINITY_F32;
    if constexpr (Kind == Reduction::Mean)
      return partial.value / partial.count;
    if constexpr (Kind == Reduction::LogSumExp)
      return partial.value + log2Fast(partial.count) * ln2;
    return partial.value;
  }
};

/// Rows of a tensor as a product needs them.
struct ScoreRows {
  const void *base;
  i64 offset, rowStride, channelStride;
  /// Rows from here on do not exist.
  i64 rows;
};

// Products on the tensor cores ---------------------------------------------------------------

template <class Element>
__device__ __forceinline__ void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1);
template <>
__device__ __forceinline__ void multiply<Bf16>(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void multiply<F16>(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void loadMatrices(u32 (&parts)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(address)
               : "memory");
}

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

/// The products of 128 rows with 128 rows, into `tile`. A warp computes 16 rows.
template <class Element, int Channels>
__device__ __forceinline__ void multiplyTile(const ScoreRows &queries, i64 firstQuery,
                                             const ScoreRows &keys, i64 firstKey, float *tile) {
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
      tile[(16 * warp + lane / 4 + part / 2 * 8) * scorePitch + 8 * n + lane % 4 * 2 + part % 2] =
          sums[n][part];
  __syncthreads();
}

// Products on the other units ----------------------------------------------------------------

/// The kinds that are no plain product of 16-bit elements. A thread computes 8 x 8 scores: rows
/// 16 r + its row, columns 16 c + its column.
template <Score Kind, class Element, int Channels>
__device__ __forceinline__ void combineTile(const ScoreRows &queries, i64 firstQuery,
                                            const ScoreRows &keys, const ScoreRows &companions,
                                            i64 firstKey, float scale, float *tile) {
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
            sums[i][j] += fmaxf(q[i] * k[j], q[i] * c[j]);
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
      tile[(16 * i + row) * scorePitch + 16 * j + column] = score;
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
  typedef Reducer<RowKind> RowReducer;
  typedef Reducer<ColumnKind> ColumnReducer;

  float *tile;
  Partial *results, *longRows;

  __device__ explicit ScoreBlocks(float *shared)
      : tile(shared), results(reinterpret_cast<Partial *>(shared + scoreTile * scorePitch)),
        longRows(results + blocks) {
    for (int i = threadIdx.x; !isDirect && i < blocks; i += scoreThreads)
      results[i] = RowReducer::empty();
  }
  __device__ void openRows() {
    if (isLong) {
      for (int i = threadIdx.x; i < scoreTile; i += scoreThreads)
        longRows[i] = ColumnReducer::empty();
    }
    __syncthreads();
  }
  /// Takes in one tile of long columns. `score(row, column, value)` is the final score, and whether
  /// it counts.
  template <class Finish> __device__ void addLong(int columns, Finish &&finish) {
    // Two threads share a row and meet in a shuffle.
    const int row = threadIdx.x / 2, half = threadIdx.x % 2;
    Partial mine = ColumnReducer::empty();
    for (int column = half; column < columns; column += 2) {
      float score = tile[row * scorePitch + column];
      if (finish(row, column, score))
        ColumnReducer::add(mine, score);
    }
    const Partial other = {__shfl_xor_sync(~0u, mine.value, 1),
                           __shfl_xor_sync(~0u, mine.count, 1)};
    if (half == 0) {
      Partial total = longRows[row];
      join(total, mine);
      join(total, other);
      longRows[row] = total;
    }
    __syncthreads();
  }
  __device__ static void join(Partial &total, Partial part) {
    if (part.count == 0.f)
      return;
    if constexpr (ColumnKind == Reduction::LogSumExp) {
      const float top = total.value > part.value ? total.value : part.value;
      if (total.count == 0.f || top == INFINITY_F32) {
        total = total.value == INFINITY_F32 ? total : part;
        return;
      }
      total.count = total.count * exp2Fast((total.value - top) * log2e) +
                    part.count * exp2Fast((part.value - top) * log2e);
      total.value = top;
    } else if constexpr (ColumnKind == Reduction::Max) {
      ColumnReducer::add(total, part.value);
    } else {
      total.value += part.value;
      total.count += part.count;
    }
  }
  /// The rows of a tile, from row `base` of the program's on, are whole: reduces them.
  __device__ void closeLong(int base, int rows) {
    if (threadIdx.x == 0 || Rows == 1)
      for (int row = Rows == 1 ? threadIdx.x : 0; row < rows; row += Rows == 1 ? scoreThreads : 1) {
        const float value = ColumnReducer::finish(longRows[row]);
        if (longRows[row].count != 0.f)
          RowReducer::add(results[(base + row) / Rows], value);
      }
    __syncthreads();
  }
  /// Takes in one tile whose blocks of columns are whole. Rows beyond `rows` and columns beyond
  /// `columns` do not exist; the tile starts at row `base` of the program's. `store(block, score)`
  /// gets what is final.
  template <class Finish, class Store>
  __device__ void add(int base, int rows, int columns, Finish &&finish, Store &&store) {
    // A block of columns has a thread; where there are fewer than threads, they share its rows.
    constexpr int tileRows = Rows < scoreTile ? TileRows : scoreTile;
    constexpr int heights = (tileRows + Rows - 1) / Rows;
    constexpr int items = heights * blockColumns;
    for (int item = threadIdx.x; item < items; item += scoreThreads) {
      const int height = item / blockColumns, width = item % blockColumns;
      const int block = (base / Rows + height) * blockColumns + width;
      Partial total = isDirect ? RowReducer::empty() : results[block];
      for (int row = height * Rows; row < min(rows, (height + 1) * Rows); ++row) {
        Partial line = ColumnReducer::empty();
        for (int column = width * Columns; column < min(columns, (width + 1) * Columns); ++column) {
          float score = tile[row * scorePitch + column];
          if (finish(row, column, score))
            ColumnReducer::add(line, score);
        }
        if (line.count != 0.f)
          RowReducer::add(total, ColumnReducer::finish(line));
      }
      if constexpr (isDirect)
        store(block, RowReducer::finish(total));
      else
        results[block] = total;
    }
    __syncthreads();
  }
  __device__ float result(int block) const { return RowReducer::finish(results[block]); }

  static constexpr int sharedBytes =
      scoreTile * scorePitch * 4 + (isDirect ? 0 : 8 * blocks) + (isLong ? 8 * scoreTile : 0);
};

/// Everything of one program. `product(member, row, column)` leaves the raw products of a tile in
/// shared memory; `finish(member, row, column, score)` makes a score of one and says whether it
/// counts; `store(row, column, score)` writes that of a block, numbered from the tensor's first.
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
      store(row, column, score);
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
        product(member, row, column);
        auto one = [&](int r, int c, float &score) {
          return r < height && finish(member, row + r, column + c, score);
        };
        if constexpr (Blocks::isLong)
          blocks.addLong(width, one);
        else
          blocks.add(base, height, width, one, storeBlock);
      }
      if constexpr (Blocks::isLong)
        blocks.closeLong(base, height);
    }
  for (int block = threadIdx.x; !Blocks::isDirect && block < Blocks::blocks; block += scoreThreads)
    storeBlock(block, blocks.result(block));
}
