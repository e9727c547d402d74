// Lacuna's device library: rows times matrices; after the states of linear attention, whose rows
// it copies.
//
// A program takes 128 rows and up to 128 features. Channels come in chunks, of which the next is
// on its way while one is used.

/// Two neighbours of a row of 16-bit elements or of floats.
template <class Element>
__device__ __forceinline__ void storePair(void *base, i64 offset, i64 stride, float a, float b) {
  auto *to = static_cast<typename Memory<Element>::Type *>(base) + offset;
  if constexpr (sizeof(*to) == 2) {
    const u32 pair = packPair<Element>(a, b);
    if (stride == 1 && reinterpret_cast<u64>(to) % 4 == 0) {
      *reinterpret_cast<u32 *>(to) = pair;
      return;
    }
    to[0] = static_cast<unsigned short>(pair);
    to[stride] = static_cast<unsigned short>(pair >> 16);
  } else {
    if (stride == 1 && reinterpret_cast<u64>(to) % 8 == 0) {
      *reinterpret_cast<float2 *>(to) = make_float2(a, b);
      return;
    }
    to[0] = a;
    to[stride] = b;
  }
}

/// Products on the tensor cores. Warps stand in rows of tiles of 16 tokens, and in two columns of
/// pairs of tiles of 8 features where there are enough of these.
template <class Element, int Channels, int Width> struct ProjectHalves {
  static constexpr int rows = 128, depth = Channels < 64 ? roundUp(Channels, 16) : 64;
  static constexpr int chunks = roundUp(Channels, depth) / depth, stages = chunks > 1 ? 2 : 1;
  static constexpr int places = roundUp(Width, 16);
  static constexpr int tokenPitch = rowPitch(depth), weightPitch = rowPitch(places);
  /// Elements of a chunk in shared memory: tokens, then a part of the matrix.
  static constexpr int tokenSize = rows * tokenPitch, stageSize = tokenSize + depth * weightPitch;
  static constexpr int sharedBytes = 2 * stages * stageSize;
  static constexpr int pairs = places / 16, columnWarps = pairs >= 4 ? 2 : 1;
  static constexpr int rowWarps = linearWarps / columnWarps, tiles = rows / 16 / rowWarps;
  static constexpr int pairsPerWarp = roundUp(pairs, columnWarps) / columnWarps;

  float sums[tiles][pairsPerWarp][2][4];

  /// Starts to copy `Rows` rows of `Columns` elements, of which `columns` exist.
  template <int Rows, int Columns>
  __device__ static void copyRows(const LinearRows &from, i64 first, int channel, int columns,
                                  int pitch, unsigned short *stage) {
    constexpr int parts = Columns / 8;
#pragma unroll
    for (int base = 0; base < Rows * parts; base += linearThreads) {
      const int part = base + static_cast<int>(threadIdx.x), row = part / parts;
      const int place = part % parts * 8;
      if (part < Rows * parts)
        copyEight<Element>(from, first + row, channel + place, columns,
                           stage + row * pitch + place);
    }
  }
  __device__ static void copyStage(const LinearRows &tokens, const LinearRows &weights, i64 first,
                                   int chunk, int columns, unsigned short *stage) {
    copyRows<rows, depth>(tokens, first, chunk * depth, Channels, tokenPitch, stage);
    copyRows<depth, places>(weights, chunk * depth, 0, columns, weightPitch, stage + tokenSize);
  }
  __device__ void multiplyStage(const unsigned short *stage) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned short *weights = stage + tokenSize;
#pragma unroll
    for (int channel = 0; channel < depth; channel += 16) {
      u32 a[tiles][4];
#pragma unroll
      for (int m = 0; m < tiles; ++m)
        loadMatrices(
            a[m],
            sharedAddress(stage + (16 * (m * rowWarps + warp % rowWarps) + lane % 16) * tokenPitch +
                          channel + lane / 16 * 8));
#pragma unroll
      for (int n = 0; n < pairsPerWarp; ++n) {
        const int pair = n * columnWarps + warp / rowWarps;
        if (pair >= pairs)
          break;
        u32 b[4];
        loadTransposed(b, weights + (channel + lane / 8 % 2 * 8 + lane % 8) * weightPitch +
                              16 * pair + lane / 16 * 8);
#pragma unroll
        for (int m = 0; m < tiles; ++m) {
          multiply<Element>(sums[m][n][0], a[m], b[0], b[1]);
          multiply<Element>(sums[m][n][1], a[m], b[2], b[3]);
        }
      }
    }
  }
  /// Calls put(row, feature, sum, sum of the next feature).
  template <class Put> __device__ void finish(Put &&put) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int m = 0; m < tiles; ++m)
#pragma unroll
      for (int n = 0; n < pairsPerWarp; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int below = 0; below < 2; ++below)
            put(16 * (m * rowWarps + warp % rowWarps) + lane / 4 + 8 * below,
                16 * (n * columnWarps + warp / rowWarps) + 8 * half + lane % 4 * 2,
                sums[m][n][half][2 * below], sums[m][n][half][2 * below + 1]);
  }

  template <class Put>
  __device__ static void run(unsigned char *shared, const LinearRows &tokens,
                             const LinearRows &weights, i64 first, int columns, Put &&put) {
    ProjectHalves program = {};
    auto *stage = reinterpret_cast<unsigned short *>(shared);
    copyStage(tokens, weights, first, 0, columns, stage);
    chunksCommit();
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      if (chunk + 1 < chunks)
        copyStage(tokens, weights, first, chunk + 1, columns, stage + (chunk + 1) % 2 * stageSize);
      chunksCommit();
      chunksWait<1>();
      __syncthreads();
      program.multiplyStage(stage + chunk % 2 * stageSize);
      __syncthreads();
    }
    program.finish(put);
  }
};

/// The same with products of f32: a thread has eight rows, and pairs of features.
template <int Channels, int Width> struct ProjectFloats {
  static constexpr int rows = 128, depth = 16, lanes = 16, rowsPerThread = rows / lanes;
  static constexpr int pairs = roundUp(Width, 2 * lanes) / (2 * lanes), places = 2 * lanes * pairs;
  /// Channels of all rows lie after each other.
  static constexpr int tokenPitch = rows + 1, weightPitch = places + 2;
  static constexpr int sharedBytes = depth * (tokenPitch + weightPitch) * 4;

  __device__ static float read(const LinearRows &from, i64 row, int channel, int channels) {
    if (row >= from.end || channel >= channels)
      return 0.f;
    return static_cast<const float *>(
        from.base)[from.offset + row * from.rowStride + channel * from.channelStride];
  }

  template <class Put>
  __device__ static void run(unsigned char *shared, const LinearRows &tokens,
                             const LinearRows &weights, i64 first, int columns, Put &&put) {
    float *token = reinterpret_cast<float *>(shared), *weight = token + depth * tokenPitch;
    const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    float sums[rowsPerThread][pairs][2] = {};
#pragma unroll 1
    for (int channel = 0; channel < Channels; channel += depth) {
#pragma unroll
      for (int row = group; row < rows; row += linearThreads / lanes)
        token[lane * tokenPitch + row] = read(tokens, first + row, channel + lane, Channels);
#pragma unroll
      for (int part = threadIdx.x; part < depth * places; part += linearThreads)
        weight[part / places * weightPitch + part % places] =
            read(weights, channel + part / places, part % places, columns);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < depth; ++k)
#pragma unroll
        for (int n = 0; n < pairs; ++n) {
          const float *pair = weight + k * weightPitch + 2 * (n * lanes + lane);
          const float b0 = pair[0], b1 = pair[1];
#pragma unroll
          for (int m = 0; m < rowsPerThread; ++m) {
            const float a = token[k * tokenPitch + m * lanes + group];
            sums[m][n][0] = __fmaf_rn(a, b0, sums[m][n][0]);
            sums[m][n][1] = __fmaf_rn(a, b1, sums[m][n][1]);
          }
        }
      __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < rowsPerThread; ++m)
#pragma unroll
      for (int n = 0; n < pairs; ++n)
        put(m * lanes + group, 2 * (n * lanes + lane), sums[m][n][0], sums[m][n][1]);
  }
};

template <class Element, int Channels, int Width> struct Project {
  typedef ProjectHalves<Element, Channels, Width> Program;
};
template <int Channels, int Width> struct Project<float, Channels, Width> {
  typedef ProjectFloats<Channels, Width> Program;
};

/// The features of the rows from `first` on: put(row, feature, two sums) gets them. The matrix has
/// a row per channel; of its columns there are `columns`.
template <class Program, class Put>
__device__ __forceinline__ void projectRows(unsigned char *shared, const LinearRows &tokens,
                                            const LinearRows &weights, i64 first, int columns,
                                            Put &&put) {
  Program::run(shared, tokens, weights, first, columns, put);
}
