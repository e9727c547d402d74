// Lacuna's device library: linear attention over states of blocks; after the rows and the matrices.
//
// States are f32. Features have 16 bits and channels come in eights: a lane of a row holds eight
// neighbouring ones, and the lanes of a row are neighbours in their warp.

static constexpr int linearThreads = 256, linearWarps = linearThreads / 32;

enum class Feature { Softmax, Relu, Elu, Exp, Identity };

__host__ __device__ constexpr int roundUp(int value, int step) {
  return (value + step - 1) / step * step;
}
/// Lanes that hold a row.
__host__ __device__ constexpr int rowLanes(int channels) {
  int lanes = 1;
  while (8 * lanes < channels)
    lanes *= 2;
  return lanes;
}
/// Elements from one row of 16-bit elements in shared memory to the next: an odd number of chunks
/// of 16 bytes, so that eight rows fall into different banks.
__host__ __device__ constexpr int rowPitch(int columns) {
  return columns / 8 % 2 == 0 ? columns + 8 : columns;
}

/// Where rows of 16-bit elements of one head lie.
struct LinearRows {
  const void *base;
  i64 offset, rowStride, channelStride;
  /// Rows from here on do not exist.
  i64 end;
};

/// Eight channels from `channel` on of a row; zeros where there is none.
template <class Element>
__device__ __forceinline__ uint4 readEight(const LinearRows &rows, i64 row, int channel,
                                           int channels) {
  uint4 bits = make_uint4(0, 0, 0, 0);
  if (row >= rows.end || channel >= channels)
    return bits;
  const unsigned short *source = static_cast<const unsigned short *>(rows.base) + rows.offset +
                                 row * rows.rowStride + channel * rows.channelStride;
  if (Chunk<Element>::isWhole(source, rows.channelStride))
    return *reinterpret_cast<const uint4 *>(source);
  unsigned short parts[8];
#pragma unroll
  for (int k = 0; k < 8; ++k)
    parts[k] = source[k * rows.channelStride];
  return make_uint4(parts[0] | parts[1] << 16, parts[2] | parts[3] << 16, parts[4] | parts[5] << 16,
                    parts[6] | parts[7] << 16);
}

/// The same to shared memory, by a copy that is on its way where memory allows one.
template <class Element>
__device__ __forceinline__ void copyEight(const LinearRows &rows, i64 row, int channel,
                                          int channels, unsigned short *target) {
  const unsigned short *source = static_cast<const unsigned short *>(rows.base) + rows.offset +
                                 row * rows.rowStride + channel * rows.channelStride;
  const bool isThere = row < rows.end && channel < channels;
  if (!isThere || Chunk<Element>::isWhole(source, rows.channelStride))
    copyChunk(sharedAddress(target), isThere ? source : rows.base, isThere);
  else
    *reinterpret_cast<uint4 *>(target) = readEight<Element>(rows, row, channel, channels);
}

/// Turns the eight channels that this lane holds of a row into features, which it returns as they
/// are in memory and leaves in `x` as they are then. Whole warps call it.
template <Feature Kind, class Element, int Channels>
__device__ __forceinline__ uint4 makeFeatures(uint4 bits, int channel, float (&x)[8]) {
  typedef Memory<Element> Half;
  constexpr int lanes = rowLanes(Channels);
  const bool isHere = channel < Channels;
  const u32 words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 8; ++i)
    x[i] = Half::load(static_cast<unsigned short>(words[i / 2] >> i % 2 * 16));
  if constexpr (Kind == Feature::Identity)
    return bits;
  if constexpr (Kind == Feature::Softmax) {
    float most = -INFINITY_F32, sum = 0.f;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      most = isHere ? fmaxf(most, x[i]) : most;
#pragma unroll
    for (int lane = 1; lane < lanes; lane *= 2)
      most = fmaxf(most, __shfl_xor_sync(~0u, most, lane));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x[i] = isHere ? exp2Fast((x[i] - most) * log2e) : 0.f;
      sum += x[i];
    }
#pragma unroll
    for (int lane = 1; lane < lanes; lane *= 2)
      sum += __shfl_xor_sync(~0u, sum, lane);
    const float share = 1.f / sum;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      x[i] *= share;
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      // A NaN stays one.
      if constexpr (Kind == Feature::Relu)
        x[i] = x[i] < 0.f ? 0.f : x[i];
      else if constexpr (Kind == Feature::Elu)
        x[i] = x[i] < 0.f ? exp2Fast(x[i] * log2e) : x[i] + 1.f;
      else
        x[i] = exp2Fast(x[i] * log2e);
    }
  }
  unsigned short parts[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    parts[i] = isHere ? Half::store(x[i]) : static_cast<unsigned short>(0);
    x[i] = Half::load(parts[i]);
  }
  return make_uint4(parts[0] | parts[1] << 16, parts[2] | parts[3] << 16, parts[4] | parts[5] << 16,
                    parts[6] | parts[7] << 16);
}

/// Rows of f32 that may lie anywhere.
struct LinearFloats {
  const void *base;
  i64 offset, stride;

  /// Four neighbours from `place` on, of which `count` exist.
  __device__ __forceinline__ float4 four(i64 row, i64 place, i64 count) const {
    const float *from = static_cast<const float *>(base) + offset + row + place * stride;
    if (place + 4 <= count && stride == 1 && reinterpret_cast<u64>(from) % 16 == 0)
      return *reinterpret_cast<const float4 *>(from);
    float parts[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      parts[k] = place + k < count ? from[k * stride] : 0.f;
    return make_float4(parts[0], parts[1], parts[2], parts[3]);
  }
  __device__ __forceinline__ void put(i64 row, i64 place, i64 count, float4 value) const {
    float *to = static_cast<float *>(const_cast<void *>(base)) + offset + row + place * stride;
    if (place + 4 <= count && stride == 1 && reinterpret_cast<u64>(to) % 16 == 0) {
      *reinterpret_cast<float4 *>(to) = value;
      return;
    }
    const float parts[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (place + k < count)
        to[k * stride] = parts[k];
  }
};
__device__ __forceinline__ void addFour(float4 &sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

// States -------------------------------------------------------------------------------------

/// The state of one block of keys as a product of tensor cores: `Channels` rows, `Width` value
/// channels of it. Keys and values come in chunks, of which the next is on its way while one is
/// used; the thread that has copied a part of a key row makes features of it, in its place. Warps
/// stand in four rows of tiles of 16 key channels and two columns of pairs of tiles of 8 value
/// channels.
template <Feature Kind, class Element, int Channels, int Width> struct BlockState {
  static constexpr int keyRows = Channels > 128 ? 32 : 64;
  static constexpr int lanes = rowLanes(Channels), valueLanes = rowLanes(Width);
  static constexpr int keyPitch = rowPitch(roundUp(Channels, 16)),
                       valuePitch = rowPitch(roundUp(Width, 16));
  /// Elements of a chunk in shared memory: keys, then values.
  static constexpr int keySize = keyRows * keyPitch, stageSize = keySize + keyRows * valuePitch;
  static constexpr int channelTiles = roundUp(Channels, 16) / 16, pairs = roundUp(Width, 16) / 16;
  static constexpr int channelTilesPerWarp = roundUp(channelTiles, 4) / 4,
                       pairsPerWarp = roundUp(pairs, 2) / 2;
  static constexpr int normBytes = linearThreads * 8 * 4;
  static constexpr int sharedBytes = 4 * stageSize > normBytes ? 4 * stageSize : normBytes;

  float sums[channelTilesPerWarp][pairsPerWarp][2][4];
  float norms[8];

  /// Calls visit(row, channel) for the eighths of rows of a chunk that are this thread's. All lanes
  /// of a warp are called equally often.
  template <int Lanes, class Visit> __device__ static void forParts(Visit &&visit) {
    const int channel = static_cast<int>(threadIdx.x) % Lanes * 8;
#pragma unroll
    for (int first = 0; first < keyRows; first += linearThreads / Lanes)
      visit(first + static_cast<int>(threadIdx.x) / Lanes, channel);
  }
  /// Starts to copy the rows from `first` on to a stage.
  template <int Lanes>
  __device__ static void copyRows(const LinearRows &rows, i64 first, int channels, int pitch,
                                  unsigned short *stage) {
    forParts<Lanes>([&](int row, int channel) {
      if (row < keyRows && channel < roundUp(channels, 16))
        copyEight<Element>(rows, first + row, channel, channels, stage + row * pitch + channel);
    });
  }
  /// Features in the place of keys, for the parts that this thread has copied. Rows from `count` on
  /// do not exist.
  __device__ void makeStage(unsigned short *keys, i64 count) {
    forParts<lanes>([&](int row, int channel) {
      const bool isHere = row < keyRows && channel < Channels;
      auto *place = reinterpret_cast<uint4 *>(keys + row * keyPitch + channel);
      uint4 bits = isHere ? *place : make_uint4(0, 0, 0, 0);
      float x[8];
      bits = makeFeatures<Kind, Element, Channels>(bits, channel, x);
      if (!isHere)
        return;
      if (row < count) {
#pragma unroll
        for (int i = 0; i < 8; ++i)
          norms[i] += x[i];
      }
      *place = row < count ? bits : make_uint4(0, 0, 0, 0);
    });
  }
  __device__ void multiplyStage(const unsigned short *keys, const unsigned short *values) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int key = 0; key < keyRows; key += 16) {
      u32 a[channelTilesPerWarp][4];
#pragma unroll
      for (int m = 0; m < channelTilesPerWarp; ++m)
        if (const int tile = m * 4 + warp % 4; tile < channelTiles)
          loadTransposed(a[m], keys + (key + lane / 16 * 8 + lane % 8) * keyPitch + 16 * tile +
                                   lane / 8 % 2 * 8);
#pragma unroll
      for (int n = 0; n < pairsPerWarp; ++n) {
        const int pair = n * 2 + warp / 4;
        if (pair >= pairs)
          break;
        u32 b[4];
        loadTransposed(b, values + (key + lane / 8 % 2 * 8 + lane % 8) * valuePitch + 16 * pair +
                              lane / 16 * 8);
#pragma unroll
        for (int m = 0; m < channelTilesPerWarp; ++m)
          if (m * 4 + warp % 4 < channelTiles) {
            multiply<Element>(sums[m][n][0], a[m], b[0], b[1]);
            multiply<Element>(sums[m][n][1], a[m], b[2], b[3]);
          }
      }
    }
  }
  /// Calls put(channel, value channel, sum, sum of the next value channel).
  template <class Put> __device__ void finish(Put &&put) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int m = 0; m < channelTilesPerWarp; ++m)
#pragma unroll
      for (int n = 0; n < pairsPerWarp; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int below = 0; below < 2; ++below) {
            const int channel = 16 * (m * 4 + warp % 4) + lane / 4 + 8 * below;
            const int place = 16 * (n * 2 + warp / 4) + 8 * half + lane % 4 * 2;
            if (channel < Channels && place < Width)
              put(channel, place, sums[m][n][half][2 * below], sums[m][n][half][2 * below + 1]);
          }
  }
};

/// The state of the keys from `first` up to `end`, for value channels from `column` on; `columns`
/// of them exist. put(channel, value channel, two sums) and putNorm(channel, sum) get it.
template <Feature Kind, class Element, int Channels, int Width, class Put, class PutNorm>
__device__ __forceinline__ void linearState(unsigned char *shared, LinearRows keys,
                                            LinearRows values, i64 first, i64 end, int column,
                                            int columns, Put &&put, PutNorm &&putNorm) {
  typedef BlockState<Kind, Element, Channels, Width> State;
  keys.end = values.end = end;
  values.offset += column * values.channelStride;
  State state = {};
  auto *stages = reinterpret_cast<unsigned short *>(shared);
  auto copy = [&](i64 at, int stage) {
    unsigned short *target = stages + stage * State::stageSize;
    State::template copyRows<State::lanes>(keys, at, Channels, State::keyPitch, target);
    State::template copyRows<State::valueLanes>(values, at, columns, State::valuePitch,
                                                target + State::keySize);
    chunksCommit();
  };
  copy(first, 0);
  int stage = 0;
#pragma unroll 1
  for (i64 at = first; at < end; at += State::keyRows, stage ^= 1) {
    copy(at + State::keyRows, stage ^ 1);
    chunksWait<1>();
    unsigned short *chunk = stages + stage * State::stageSize;
    state.makeStage(chunk, end - at);
    __syncthreads();
    state.multiplyStage(chunk, chunk + State::keySize);
    __syncthreads();
  }
  chunksWait<0>();
  state.finish([&](int channel, int place, float a, float b) {
    if (place < columns)
      put(channel, place, a, b);
  });
  if (column != 0)
    return;
  // Threads that hold the same channels lie one row of lanes apart.
  constexpr int lanes = State::lanes;
  float *parts = reinterpret_cast<float *>(shared);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i)
    parts[threadIdx.x * 8 + i] = state.norms[i];
  __syncthreads();
  for (int channel = threadIdx.x; channel < Channels; channel += linearThreads) {
    float sum = 0.f;
    for (int row = 0; row < linearThreads / lanes; ++row)
      sum += parts[(row * lanes + channel / 8) * 8 + channel % 8];
    putNorm(channel, sum);
  }
}

// Sums of states -----------------------------------------------------------------------------

/// Writes the sums of all rows before each of `count` rows, `sourceStep` and `targetStep` apart.
template <int Threads>
__device__ __forceinline__ void prefixRows(const LinearFloats &source, i64 sourceStep, i64 count,
                                           const LinearFloats &target, i64 targetStep,
                                           i64 columns) {
  constexpr int ahead = 8;
  for (i64 place = 4 * threadIdx.x; place < columns; place += 4 * Threads) {
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    target.put(0, place, columns, sum);
#pragma unroll 1
    for (i64 first = 0; first < count; first += ahead) {
      float4 next[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k)
        if (first + k < count)
          next[k] = source.four((first + k) * sourceStep, place, columns);
#pragma unroll
      for (int k = 0; k < ahead; ++k)
        if (first + k < count) {
          addFour(sum, next[k]);
          target.put((first + k + 1) * targetStep, place, columns, sum);
        }
    }
  }
}

/// Writes the sum of `count` rows that are `step` apart.
__device__ __forceinline__ void sumRows(const LinearFloats &source, i64 row, i64 step, i64 count,
                                        const LinearFloats &target, i64 targetRow, i64 place,
                                        i64 columns) {
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll 4
  for (i64 k = 0; k < count; ++k)
    addFour(sum, source.four(row + k * step, place, columns));
  target.put(targetRow, place, columns, sum);
}
