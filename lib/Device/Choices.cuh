// Lacuna's device library, part 9: lists of the best columns; after the primitives.
//
// A thread block takes the rows that compete with each other. Scores become keys: unsigned numbers
// in the same order. The key of the last chosen candidate is found digit by digit, from counts or
// masses of each digit, so that nothing is sorted; lists are then written in the order of the
// columns.

enum class Rule { TopK, Share, TopP, Above, NearMax, Deviation };

/// Not a candidate, and a NaN, which comes after every number.
static constexpr u32 noKey = 0, nanKey = 1;

/// A number that grows with the score; 0 and -0 are one.
__device__ __forceinline__ u32 keyOf(float score) {
  if (score != score)
    return nanKey;
  if (score == -INFINITY_F32)
    return noKey;
  const u32 bits = __float_as_uint(score + 0.f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// The scores of one batch entry.
struct ScoreTable {
  const float *base;
  i64 headStride, rowStride, columnStride;
  int columns;
  /// The least come first.
  bool isRising = false;

  __device__ const float *rowAt(i64 head, i64 row) const {
    return base + head * headStride + row * rowStride;
  }
  __device__ float at(const float *row, int column) const {
    const float score = row[column * columnStride];
    // Everything is a candidate then, the greatest too.
    return !isRising ? score : score == INFINITY_F32 ? -3.402823466e38f : -score;
  }
};

/// What thread blocks of `Threads` threads need to agree.
template <int Threads> struct Team {
  static constexpr int warps = Threads / 32;

  template <class T> __device__ static T sum(T value) {
    __shared__ T parts[warps];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
      value += __shfl_xor_sync(~0u, value, lane);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = value;
    __syncthreads();
    T result = parts[0];
    for (int warp = 1; warp < warps; ++warp)
      result += parts[warp];
    return result;
  }
  __device__ static float greatest(float value) {
    __shared__ float parts[warps];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
      value = fmaxf(value, __shfl_xor_sync(~0u, value, lane));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = value;
    __syncthreads();
    float result = parts[0];
    for (int warp = 1; warp < warps; ++warp)
      result = fmaxf(result, parts[warp]);
    return result;
  }
  /// How many threads before this one have the flag; `total` is how many have it at all.
  __device__ static int rank(bool flag, int &total) {
    __shared__ int parts[warps];
    const u32 mask = __ballot_sync(~0u, flag);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = __popc(mask);
    __syncthreads();
    int before = __popc(mask & ((1u << threadIdx.x % 32) - 1));
    total = 0;
    for (int warp = 0; warp < warps; ++warp) {
      before += warp < static_cast<int>(threadIdx.x / 32) ? parts[warp] : 0;
      total += parts[warp];
    }
    return before;
  }
};

/// Where the choice ends: candidates with a greater key are chosen, and the first `ties` of those
/// with this one.
struct Cut {
  u32 key;
  i64 ties;
};

/// One choice among rows of a table: of `heads` heads from `head` on the `rows` rows from `row` on.
template <int Threads> struct Choice {
  ScoreTable table;
  i64 head, heads, row, rows;

  /// Calls visit(score) for every score, in an order that depends on the sizes alone.
  template <class Visit> __device__ void forScores(Visit &&visit) const {
    for (i64 h = head; h < head + heads; ++h)
      for (i64 r = row; r < row + rows; ++r) {
        const float *scores = table.rowAt(h, r);
        for (int column = threadIdx.x; column < table.columns; column += Threads)
          visit(table.at(scores, column));
      }
  }
  template <class Test> __device__ i64 countIf(Test &&test) const {
    i64 mine = 0;
    forScores([&](float score) { mine += test(score); });
    return Team<Threads>::sum(mine);
  }

  /// The cut for the first candidates whose weights add up to `wanted`, or for all when they do not
  /// reach it. `weight(score)` is a whole number, the same for equal scores.
  template <bool IsCount, class Weight> __device__ Cut find(u64 wanted, Weight &&weight) const {
    __shared__ u64 sums[256];
    __shared__ u64 rest;
    __shared__ u32 digit;
    u32 prefix = 0;
    if (wanted == 0)
      return {0xffffffffu, 0};
#pragma unroll 1
    for (int shift = 24; shift >= 0; shift -= 8) {
      __syncthreads();
      for (int i = threadIdx.x; i < 256; i += Threads)
        sums[i] = 0;
      __syncthreads();
      forScores([&](float score) {
        const u32 key = keyOf(score);
        if (key != noKey && (shift == 24 || key >> (shift + 8) == prefix))
          atomicAdd(&sums[key >> shift & 255], weight(score));
      });
      __syncthreads();
      if (threadIdx.x == 0) {
        int bin = 255;
        for (; bin > 0 && sums[bin] < wanted; --bin)
          wanted -= sums[bin];
        digit = bin;
        rest = wanted;
      }
      __syncthreads();
      wanted = rest;
      prefix = prefix << 8 | digit;
    }
    // Those with this key have equal weights; fewer than asked for means all.
    const u64 equal =
        static_cast<u64>(countIf([&](float score) { return keyOf(score) == prefix; }));
    const u64 total = sums[prefix & 255];
    if (prefix == noKey || total == 0)
      return {prefix, prefix == noKey ? 0 : static_cast<i64>(equal)};
    u64 ties = wanted;
    if constexpr (!IsCount) {
      const u64 each = total / equal;
      ties = (wanted + each - 1) / each;
    }
    return {prefix, static_cast<i64>(min(ties, equal))};
  }
  __device__ Cut findCount(i64 wanted) const {
    return find<true>(static_cast<u64>(wanted), [](float) { return 1ull; });
  }

  /// Calls visit(head, row, column, isChosen) for every column and, with false, for some behind the
  /// last: all threads call it together. Rows compete in order for ties.
  template <class Visit, class Close>
  __device__ void forChosen(Cut cut, Visit &&visit, Close &&close) const {
    i64 ties = cut.ties;
    for (i64 h = head; h < head + heads; ++h)
      for (i64 r = row; r < row + rows; ++r) {
        const float *scores = table.rowAt(h, r);
        for (int base = 0; base < table.columns; base += Threads) {
          const int column = base + threadIdx.x;
          const u32 key = column < table.columns ? keyOf(table.at(scores, column)) : noKey;
          int equal;
          const int tie = Team<Threads>::rank(key != noKey && key == cut.key, equal);
          visit(h, r, column, key != noKey && (key > cut.key || (key == cut.key && tie < ties)));
          ties = ties > equal ? ties - equal : 0;
        }
        close(h, r);
      }
  }
  /// Writes the lists: ids(head, row, place, column) and counts(head, row, number).
  template <class Ids, class Counts>
  __device__ void write(Cut cut, int capacity, Ids &&ids, Counts &&counts) const {
    int written = 0;
    auto add = [&](i64 h, i64 r, int column, bool isChosen) {
      int chosen;
      const int place = Team<Threads>::rank(isChosen, chosen);
      if (isChosen && written + place < capacity)
        ids(h, r, written + place, column);
      written += chosen;
    };
    forChosen(cut, add, [&](i64 h, i64 r) {
      written = min(written, capacity);
      for (int entry = written + threadIdx.x; entry < capacity; entry += Threads)
        ids(h, r, entry, -1);
      if (threadIdx.x == 0)
        counts(h, r, written);
      written = 0;
    });
  }
};

/// exp(score - top) as a multiple of 2^-32; nothing for what is forced or no number.
__device__ __forceinline__ u64 massOf(float score, float top) {
  if (score != score || score == INFINITY_F32 || score == -INFINITY_F32)
    return 0;
  return static_cast<u64>(static_cast<double>(expf(score - top)) * 4294967296.0);
}

/// How many candidates a rule takes, before the floor and the cap.
template <Rule Kind, int Threads>
__device__ __forceinline__ i64 countChosen(const Choice<Threads> &choice, double number) {
  if constexpr (Kind == Rule::TopK)
    return number > 0 ? static_cast<i64>(number) : 0;
  if constexpr (Kind == Rule::Share) {
    const u64 all = static_cast<u64>(choice.heads * choice.rows) * choice.table.columns;
    const double clamped = number > 0 ? (number < 1 ? number : 1) : 0;
    const u64 part = static_cast<u64>(clamped * 4294967296.0);
    return static_cast<i64>((all >> 32) * part +
                            (((all & 0xffffffffull) * part + 0xffffffffull) >> 32));
  }
  const i64 forced = choice.countIf([](float score) { return score == INFINITY_F32; });
  float mine = -INFINITY_F32;
  choice.forScores([&](float score) {
    if (score != INFINITY_F32)
      mine = fmaxf(mine, score);
  });
  const float top = Team<Threads>::greatest(mine);
  if constexpr (Kind == Rule::TopP) {
    u64 part = 0;
    choice.forScores([&](float score) { part += massOf(score, top); });
    const u64 total = Team<Threads>::sum(part);
    const double clamped = number > 0 ? (number < 1 ? number : 1) : 0;
    const double exact = clamped * static_cast<double>(total);
    const u64 wanted = min(static_cast<u64>(ceil(exact)), total);
    if (wanted == 0)
      return forced;
    const Cut cut =
        choice.template find<false>(wanted, [&](float score) { return massOf(score, top); });
    return forced + cut.ties + choice.countIf([&](float score) {
      return score < INFINITY_F32 && keyOf(score) > cut.key && keyOf(score) > nanKey;
    });
  }
  double limit = number;
  if constexpr (Kind == Rule::NearMax)
    limit = static_cast<double>(top) + number;
  if constexpr (Kind == Rule::Deviation) {
    double sum = 0, squares = 0;
    auto isFinite = [](float score) { return score - score == 0.f; };
    const double finite = static_cast<double>(choice.countIf(isFinite));
    choice.forScores(
        [&](float score) { sum += isFinite(score) ? static_cast<double>(score) : 0.0; });
    const double mean = Team<Threads>::sum(sum) / finite;
    choice.forScores([&](float score) {
      const double distance = static_cast<double>(score) - mean;
      squares += isFinite(score) ? distance * distance : 0.0;
    });
    limit = mean + number * sqrt(Team<Threads>::sum(squares) / finite);
  }
  return forced + choice.countIf([&](float score) {
    return score < INFINITY_F32 && score > -INFINITY_F32 && static_cast<double>(score) >= limit;
  });
}

/// The lists of the rows that compete.
template <Rule Kind, int Threads, class Ids, class Counts>
__device__ __forceinline__ void choose(const Choice<Threads> &choice, double number, i64 floor,
                                       i64 cap, int capacity, Ids &&ids, Counts &&counts) {
  i64 chosen = countChosen<Kind>(choice, number);
  chosen = chosen > floor ? chosen : floor;
  chosen = chosen < cap ? chosen : cap;
  choice.write(choice.findCount(chosen), capacity, ids, counts);
}

// Draws ------------------------------------------------------------------------------------------

/// A number in [0, 1) from Philox4x32-10 of a counter and a key.
__device__ __forceinline__ float draw(u32 c0, u32 c1, u32 c2, u32 c3, u64 seed) {
  u32 k0 = static_cast<u32>(seed), k1 = static_cast<u32>(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    const u32 next0 = static_cast<u32>(b >> 32) ^ c1 ^ k0,
              next2 = static_cast<u32>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<u32>(b);
    c3 = static_cast<u32>(a);
    c0 = next0;
    c2 = next2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return static_cast<float>(c0 >> 8) * 0x1p-24f;
}

/// One row's drawn list: `entry(place, column, weight)` for each of `columns` places.
template <int Threads, class Entry, class Count>
__device__ __forceinline__ void sample(const Choice<Threads> &choice, double number, u32 batch,
                                       u32 head, u32 row, u64 seed, Entry &&entry, Count &&count) {
  float mine = -INFINITY_F32;
  choice.forScores([&](float score) {
    if (score != INFINITY_F32)
      mine = fmaxf(mine, score);
  });
  const float top = Team<Threads>::greatest(mine);
  u64 part = 0;
  choice.forScores([&](float score) { part += massOf(score, top); });
  const double total = static_cast<double>(Team<Threads>::sum(part));
  const float *scores = choice.table.rowAt(choice.head, choice.row);
  int written = 0;
  for (int base = 0; base < choice.table.columns; base += Threads) {
    const int column = base + threadIdx.x;
    const float score =
        column < choice.table.columns ? choice.table.at(scores, column) : -INFINITY_F32;
    float chance = 0.f;
    if (score == INFINITY_F32)
      chance = 1.f;
    else if (total > 0)
      chance =
          static_cast<float>(min(1.0, number * static_cast<double>(massOf(score, top)) / total));
    const bool isChosen = draw(static_cast<u32>(column), row, head, batch, seed) < chance;
    int chosen;
    const int place = Team<Threads>::rank(isChosen, chosen);
    if (isChosen)
      entry(written + place, column, 1.f / chance);
    written += chosen;
  }
  for (int place = written + threadIdx.x; place < choice.table.columns; place += Threads)
    entry(place, -1, 0.f);
  if (threadIdx.x == 0)
    count(written);
}

/// The score whose key is `key`.
__device__ __forceinline__ float scoreOf(u32 key) {
  return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
}

/// How clear a choice of `number` columns is; forced columns and NaN do not count.
template <int Threads>
__device__ __forceinline__ float marginOf(const Choice<Threads> &choice, i64 number) {
  auto isFinite = [](float score) { return score - score == 0.f; };
  if (choice.countIf(isFinite) <= number)
    return 1.f;
  auto ranked = [&](i64 rank) {
    return scoreOf(
        choice
            .template find<true>(static_cast<u64>(rank),
                                 [&](float score) { return isFinite(score) ? 1ull : 0ull; })
            .key);
  };
  const float first = ranked(1), last = ranked(number), next = ranked(number + 1);
  return first == next ? 0.f : (last - next) / (first - next);
}
