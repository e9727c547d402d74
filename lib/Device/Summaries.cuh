// Lacuna's device library: one row for each block of tokens; after the rows and the teams.
//
// A thread block of `Threads` threads, whole warps, takes one block of tokens. `lanes` neighbouring
// lanes share a row, so that a warp reads 32 / lanes rows at once; sums are taken in an order that
// depends on the sizes alone.

enum class Summary { Mean, Sum, Min, Max, Variance, First, Radius, Norm, Similarity, Count };

/// The first power of two that is at least `value`, at most 32.
__host__ __device__ constexpr int lanesFor(int value) {
  int lanes = 1;
  while (lanes < value && lanes < 32)
    lanes *= 2;
  return lanes;
}

/// Channels [First, First + Channels) of the tokens of one block. `token(row)` is the number of the
/// token in a row of the block's box, or -1 where there is none.
template <class Element, int First, int Channels, int Threads, class Token> struct SummaryBlock {
  static constexpr int size = Chunk<Element>::size;
  static constexpr int lanes = lanesFor((Channels + size - 1) / size);
  static constexpr int warps = Threads / 32, step = Threads / lanes;
  /// Channels that the lanes of a row hold at once.
  static constexpr int width = lanes * size;

  const void *source;
  i64 offset, tokenStride, channelStride;
  int rows;
  Token token;

  __device__ int firstChannel() const { return threadIdx.x % lanes * size; }
  __device__ void read(i64 number, int channel, float (&values)[size]) const {
    readChannels<Element, Channels>(source, offset + number * tokenStride + First * channelStride,
                                    channelStride, channel, values);
  }
  /// Calls visit(number, values) with `size` channels from `channel` on of the tokens of this
  /// thread's rows. Several loads are under way at once where whole ones are possible.
  template <class Visit> __device__ void forReads(int channel, Visit &&visit) const {
    typedef Chunk<Element> Lane;
    const auto *first = static_cast<const typename Lane::Type *>(source) + offset +
                        (First + channel) * channelStride;
    float values[size];
    if (Channels % size || !Lane::isWhole(first, channelStride) || tokenStride % size) {
#pragma unroll 1
      for (int row = threadIdx.x / lanes; row < rows; row += step) {
        const i64 number = token(row);
        if (number < 0)
          continue;
        read(number, channel, values);
        visit(number, values);
      }
      return;
    }
    constexpr int ahead = 4;
#pragma unroll 1
    for (int from = threadIdx.x / lanes; from < rows; from += ahead * step) {
      Lane lane[ahead];
      i64 number[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        const int row = from + i * step;
        number[i] = row < rows ? token(row) : -1;
        // A row without a token reads that of another, which is not visited.
        lane[i].whole =
            *reinterpret_cast<const uint4 *>(first + max(number[i], i64(0)) * tokenStride);
      }
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
#pragma unroll
        for (int j = 0; j < size; ++j)
          values[j] = Memory<Element>::load(lane[i].elements[j]);
        if (number[i] >= 0)
          visit(number[i], values);
      }
    }
  }
  /// The same for whole warps, with -1 where a row has no token.
  template <class Visit> __device__ void forRows(Visit &&visit) const {
    for (int first = 0; first < rows; first += step) {
      const int row = first + threadIdx.x / lanes;
      visit(row < rows ? token(row) : -1);
    }
  }
  /// Sum over the lanes of a row.
  __device__ float reduceRow(float value) const {
#pragma unroll
    for (int lane = lanes / 2; lane > 0; lane /= 2)
      value += __shfl_xor_sync(~0u, value, lane);
    return value;
  }
  /// Combines `map(values)` of all tokens channel by channel, and gives finish(channel, value) the
  /// result of each channel once. `map(number, channel, values)` changes the values of a lane.
  template <class Map, class Merge, class Finish>
  __device__ void forChannels(float start, Map &&map, Merge &&merge, Finish &&finish) const {
    __shared__ float parts[warps][width];
#pragma unroll 1
    for (int base = 0; base < Channels; base += width) {
      const int channel = base + firstChannel();
      float total[size];
#pragma unroll
      for (int i = 0; i < size; ++i)
        total[i] = start;
      if (channel < Channels)
        forReads(channel, [&](i64 number, float (&values)[size]) {
          map(number, channel, values);
#pragma unroll
          for (int i = 0; i < size; ++i)
            total[i] = merge(total[i], values[i]);
        });
#pragma unroll
      for (int i = 0; i < size; ++i)
#pragma unroll
        for (int lane = 16; lane >= lanes; lane /= 2)
          total[i] = merge(total[i], __shfl_xor_sync(~0u, total[i], lane));
      __syncthreads();
      if (threadIdx.x % 32 < lanes)
#pragma unroll
        for (int i = 0; i < size; ++i)
          parts[threadIdx.x / 32][firstChannel() + i] = total[i];
      __syncthreads();
      for (int i = threadIdx.x; i < width && base + i < Channels; i += Threads) {
        float result = parts[0][i];
#pragma unroll
        for (int warp = 1; warp < warps; ++warp)
          result = merge(result, parts[warp][i]);
        finish(base + i, result);
      }
    }
  }
};

/// The tokens that the rows of a box have.
template <int Threads, class Token>
__device__ __forceinline__ int countTokens(int rows, const Token &token) {
  u32 mine = 0;
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += Threads)
    mine += token(row) >= 0;
  return static_cast<int>(Team<Threads>::sum(mine));
}

/// Writes the summary of one block of `count` tokens at `target` + `targetOffset`. keep(channel,
/// value) gets what a mean, a sum, a least or a greatest value is made from.
template <Summary Kind, class Element, class Out, int First, int Channels, int Threads, class Token,
          class Keep>
__device__ __forceinline__ void
summarize(const void *source, i64 offset, i64 tokenStride, i64 channelStride, int rows, Token token,
          float count, void *target, i64 targetOffset, i64 targetStride, Keep &&keep) {
  typedef SummaryBlock<Element, First, Channels, Threads, Token> Block;
  constexpr int size = Block::size;
  const Block block{source, offset, tokenStride, channelStride, rows, token};
  auto store = [&](int channel, float value) {
    static_cast<typename Memory<Out>::Type *>(target)[targetOffset + channel * targetStride] =
        Memory<Out>::store(value);
  };
  auto add = [](float a, float b) { return a + b; };
  auto same = [](i64, int, float (&)[size]) {};
  __shared__ float means[Channels];
  if constexpr (Kind == Summary::Variance || Kind == Summary::Radius) {
    block.forChannels(0.f, same, add,
                      [&](int channel, float sum) { means[channel] = sum / count; });
    __syncthreads();
  }
  auto storeBoth = [&](int channel, float value) {
    keep(channel, value);
    store(channel, Kind == Summary::Mean ? value / count : value);
  };
  if constexpr (Kind == Summary::Mean || Kind == Summary::Sum) {
    block.forChannels(0.f, same, add, storeBoth);
  } else if constexpr (Kind == Summary::Min) {
    block.forChannels(
        INFINITY_F32, same, [](float a, float b) { return a < b || a != a ? a : b; }, storeBoth);
  } else if constexpr (Kind == Summary::Max) {
    block.forChannels(
        -INFINITY_F32, same, [](float a, float b) { return a > b || a != a ? a : b; }, storeBoth);
  } else if constexpr (Kind == Summary::Variance) {
    auto centre = [&](i64, int channel, float (&values)[size]) {
#pragma unroll
      for (int i = 0; i < size; ++i) {
        const float distance = channel + i < Channels ? values[i] - means[channel + i] : 0.f;
        values[i] = distance * distance;
      }
    };
    block.forChannels(0.f, centre, add,
                      [&](int channel, float sum) { store(channel, sum / count); });
  } else if constexpr (Kind == Summary::First) {
    for (int channel = threadIdx.x; channel < Channels; channel += Threads)
      store(channel,
            Memory<Element>::load(static_cast<const typename Memory<Element>::Type *>(
                source)[offset + token(0) * tokenStride + (First + channel) * channelStride]));
  } else if constexpr (Kind == Summary::Count) {
    if (threadIdx.x == 0)
      store(0, count);
  } else {
    // Sums over the channels of a token: squares of the distance to `centre`.
    auto squares = [&](i64 number, bool isCentred) {
      float sum = 0.f;
#pragma unroll 1
      for (int channel = block.firstChannel(); number >= 0 && channel < Channels;
           channel += Block::width) {
        float values[size];
        block.read(number, channel, values);
#pragma unroll
        for (int i = 0; i < size; ++i) {
          const float centre = isCentred && channel + i < Channels ? means[channel + i] : 0.f;
          sum = __fmaf_rn(values[i] - centre, values[i] - centre, sum);
        }
      }
      return block.reduceRow(sum);
    };
    if constexpr (Kind == Summary::Radius) {
      float most = 0.f;
      block.forRows([&](i64 number) {
        const float square = squares(number, true);
        most = most > square || most != most ? most : square;
      });
      const float radius = sqrtf(Team<Threads>::most(most));
      if (threadIdx.x == 0)
        store(0, radius);
    } else if constexpr (Kind == Summary::Norm) {
      float sum = 0.f;
      block.forRows([&](i64 number) {
        const float square = squares(number, false);
        sum += threadIdx.x % Block::lanes == 0 ? square : 0.f;
      });
      const float norm = sqrtf(Team<Threads>::sum(sum));
      if (threadIdx.x == 0)
        store(0, norm);
    } else {
      // 1 / |x| of each row, then the sum of the unit vectors.
      extern __shared__ float inverse[];
      int row = threadIdx.x / Block::lanes;
      block.forRows([&](i64 number) {
        const float square = squares(number, false);
        if (threadIdx.x % Block::lanes == 0 && row < rows)
          inverse[row] = square > 0.f ? rsqrtf(square) : square;
        row += Block::step;
      });
      __syncthreads();
      float length = 0.f;
#pragma unroll 1
      for (int base = 0; base < Channels; base += Block::width) {
        const int channel = base + block.firstChannel();
        float total[size] = {};
        for (int r = threadIdx.x / Block::lanes; r < rows; r += Block::step) {
          const i64 number = token(r);
          if (number < 0 || channel >= Channels)
            continue;
          float values[size];
          block.read(number, channel, values);
#pragma unroll
          for (int i = 0; i < size; ++i)
            total[i] = __fmaf_rn(values[i], inverse[r], total[i]);
        }
        __shared__ float parts[Block::warps][Block::width];
#pragma unroll
        for (int i = 0; i < size; ++i)
#pragma unroll
          for (int lane = 16; lane >= Block::lanes; lane /= 2)
            total[i] += __shfl_xor_sync(~0u, total[i], lane);
        __syncthreads();
        if (threadIdx.x % 32 < Block::lanes)
#pragma unroll
          for (int i = 0; i < size; ++i)
            parts[threadIdx.x / 32][block.firstChannel() + i] = total[i];
        __syncthreads();
        for (int i = threadIdx.x; i < Block::width && base + i < Channels; i += Threads) {
          float sum = 0.f;
#pragma unroll
          for (int warp = 0; warp < Block::warps; ++warp)
            sum += parts[warp][i];
          length = __fmaf_rn(sum, sum, length);
        }
      }
      const float total = Team<Threads>::sum(length);
      if (threadIdx.x == 0)
        store(0, total / (count * count));
    }
  }
}

/// Row `row` of folded tokens.
template <class Element, int Channels, int By, bool Reversed, int Threads>
__device__ __forceinline__ void foldRow(const void *source, i64 offset, i64 tokenStride,
                                        i64 channelStride, i64 tokens, i64 row, void *target,
                                        i64 targetOffset, i64 targetStride) {
  typedef typename Memory<Element>::Type Type;
  for (int i = threadIdx.x; i < By * Channels; i += Threads) {
    const int place = i / Channels;
    const i64 token = row * By + (Reversed ? By - 1 - place : place);
    static_cast<Type *>(target)[targetOffset + i * targetStride] =
        token < tokens ? static_cast<const Type *>(
                             source)[offset + token * tokenStride + i % Channels * channelStride]
                       : Type(0);
  }
}
