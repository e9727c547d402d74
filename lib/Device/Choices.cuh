// Lacuna's device library: lists of the best columns; after the primitives.
//
// A thread block takes the rows that compete with each other. Scores become keys: unsigned numbers
// in the same order. The key of the last chosen candidate is found digit by digit, from counts or
// masses, so that nothing is sorted; lists are then written in the order of the columns. The keys
// of one row that is not too long stay in registers.

enum class Rule { TopK, Share, TopP, Above, NearMax, Deviation };

/// Not a candidate, and a NaN, which comes after every number.
static constexpr u32 noKey = 0, nanKey = 1;
/// What is forced.
static constexpr u32 topKey = 0xff800000u;

/// A number that grows with the score; 0 and -0 are one.
__device__ __forceinline__ u32 keyOf(float score) {
  if (score != score)
    return nanKey;
  if (score == -INFINITY_F32)
    return noKey;
  const u32 bits = __float_as_uint(score + 0.f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
/// The score of a key that is none of the three above.
__device__ __forceinline__ float scoreOf(u32 key) {
  return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
}
__device__ __forceinline__ bool isFiniteKey(u32 key) { return key > nanKey && key < topKey; }

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
  __device__ u32 keyAt(const float *row, i64 column) const {
    const float score = __ldg(row + column * columnStride);
    // Everything is a candidate then, the greatest too.
    return keyOf(!isRising ? score : score == INFINITY_F32 ? -3.402823466e38f : -score);
  }
};

/// What thread blocks of `Threads` threads need to agree.
template <int Threads> struct Team {
  static constexpr int warps = Threads / 32;

  /// Merges what each warp has.
  template <class T, class Merge> __device__ static T reduceWarps(T value, Merge &&merge) {
    __shared__ T parts[warps];
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = value;
    __syncthreads();
    T result = parts[0];
#pragma unroll 4
    for (int warp = 1; warp < warps; ++warp)
      result = merge(result, parts[warp]);
    return result;
  }
  template <class T, class Merge> __device__ static T reduce(T value, Merge &&merge) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
      value = merge(value, __shfl_xor_sync(~0u, value, lane));
    return reduceWarps(value, merge);
  }
  template <class T> __device__ static T sum(T value) {
    return reduce(value, [](T a, T b) { return a + b; });
  }
  __device__ static u32 sum(u32 value) {
    return reduceWarps(__reduce_add_sync(~0u, value), [](u32 a, u32 b) { return a + b; });
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
#pragma unroll 4
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
/// With `Kept` it is one row, and up to that many keys per thread stay in registers.
template <int Threads, int Kept = 0> struct Choice {
  ScoreTable table;
  i64 head, heads, row, rows;
  u32 kept[Kept ? Kept : 1];
  bool isKept;

  __device__ Choice(const ScoreTable &table, i64 head, i64 heads, i64 row, i64 rows)
      : table(table), head(head), heads(heads), row(row), rows(rows),
        isKept(Kept && table.columns <= Threads * Kept) {
    if (!isKept)
      return;
    const float *scores = table.rowAt(head, row);
#pragma unroll
    for (int i = 0; i < Kept; ++i) {
      const int column = i * Threads + threadIdx.x;
      kept[i] = column < table.columns ? table.keyAt(scores, column) : noKey;
    }
  }

  /// Calls visit(key) for every key, in an order that depends on the sizes alone; `noKey` may come
  /// more often than there are.
  template <class Visit> __device__ void forKeys(Visit &&visit) const {
    if (isKept) {
#pragma unroll
      for (int i = 0; i < Kept; ++i)
        visit(kept[i]);
      return;
    }
    // Rows without gaps between them are one long row.
    const bool isDense = table.rowStride == table.columns * table.columnStride;
    const i64 lines = isDense ? 1 : rows, length = isDense ? rows * table.columns : table.columns;
    for (i64 h = head; h < head + heads; ++h)
      for (i64 r = row; r < row + lines; ++r) {
        const float *scores = table.rowAt(h, r);
#pragma unroll 4
        for (i64 column = threadIdx.x; column < length; column += Threads)
          visit(table.keyAt(scores, column));
      }
  }
  template <class Test> __device__ i64 countIf(Test &&test) const {
    if (isKept) {
      u32 mine = 0;
      forKeys([&](u32 key) { mine += test(key); });
      return Team<Threads>::sum(mine);
    }
    i64 mine = 0;
    forKeys([&](u32 key) { mine += test(key); });
    return Team<Threads>::sum(mine);
  }

  /// The cut for the first candidates whose weights add up to `wanted`, or for all when they do not
  /// reach it. `weight(key)` is a whole number; 1 for `IsCount`.
  template <bool IsCount, class Weight> __device__ Cut find(u64 wanted, Weight &&weight) const {
    if (wanted == 0)
      return {0xffffffffu, 0};
    const u32 key = isKept ? findKept<IsCount>(wanted, weight) : findDigits(wanted, weight);
    if (key == noKey)
      return {noKey, 0};
    u64 above = 0, equal = 0;
    forKeys([&](u32 other) {
      above += other > key ? weight(other) : 0;
      equal += other == key;
    });
    above = Team<Threads>::sum(above);
    equal = Team<Threads>::sum(equal);
    u64 ties = wanted - above;
    if constexpr (!IsCount) {
      const u64 each = weight(key);
      ties = (ties + each - 1) / each;
    }
    return {key, static_cast<i64>(min(ties, equal))};
  }
  __device__ Cut findCount(i64 wanted) const {
    return find<true>(static_cast<u64>(wanted), [](u32 key) { return key != noKey ? 1u : 0u; });
  }

  /// The greatest key such that it and all above it weigh at least `wanted`; `noKey` if none does.
  template <bool IsCount, class Weight> __device__ u32 findKept(u64 wanted, Weight &&weight) const {
    u32 key = 0;
#pragma unroll 1
    for (u32 bit = 0x80000000u; bit; bit >>= 1) {
      const u32 next = key | bit;
      bool reaches;
      if constexpr (IsCount) {
        u32 mine = 0;
        forKeys([&](u32 other) { mine += other >= next ? weight(other) : 0; });
        reaches = Team<Threads>::sum(mine) >= wanted;
      } else {
        u64 mine = 0;
        forKeys([&](u32 other) { mine += other >= next ? weight(other) : 0; });
        reaches = Team<Threads>::sum(mine) >= wanted;
      }
      key = reaches ? next : key;
    }
    return key;
  }
  /// The same from sums of each digit, for keys in memory.
  template <class Weight> __device__ u32 findDigits(u64 wanted, Weight &&weight) const {
    constexpr int most = 2048, perLane = most / 32;
    __shared__ u64 sums[most];
    __shared__ u64 rest;
    __shared__ u32 digit;
    u32 prefix = 0;
    int used = 0;
#pragma unroll 1
    for (int width : {11, 11, 10}) {
      const int shift = 32 - used - width;
      __syncthreads();
      for (int i = threadIdx.x; i < most; i += Threads)
        sums[i] = 0;
      __syncthreads();
      forKeys([&](u32 key) {
        if (key != noKey && (used == 0 || key >> (32 - used) == prefix))
          atomicAdd(&sums[key >> shift & (most - 1) >> (11 - width)],
                    static_cast<u64>(weight(key)));
      });
      __syncthreads();
      if (threadIdx.x < 32) {
        // Lane 31 has the greatest digits.
        const int first = threadIdx.x * perLane;
        u64 mine = 0;
        for (int i = 0; i < perLane; ++i)
          mine += sums[first + i];
        u64 above = 0;
        for (int lane = 31; lane > 0; --lane) {
          const u64 other = __shfl_sync(~0u, mine, lane);
          above += lane > static_cast<int>(threadIdx.x) ? other : 0;
        }
        const bool isHere = above < wanted && above + mine >= wanted;
        if (__ballot_sync(~0u, isHere) == 0 && threadIdx.x == 0) {
          digit = 0;
          rest = 0;
        }
        __syncwarp();
        if (isHere) {
          int bin = first + perLane - 1;
          for (; sums[bin] < wanted - above; --bin)
            above += sums[bin];
          digit = bin;
          rest = wanted - above;
        }
      }
      __syncthreads();
      wanted = rest;
      if (wanted == 0)
        return noKey;
      prefix = prefix << width | digit;
      used += width;
    }
    return prefix;
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
          const u32 key = column < table.columns ? table.keyAt(scores, column) : noKey;
          int equal = 0, tie = 0;
          if (ties > 0)
            tie = Team<Threads>::rank(key != noKey && key == cut.key, equal);
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
  /// The greatest score that is neither forced nor NaN; -inf if there is none.
  __device__ float top() const {
    u32 mine = noKey;
    forKeys([&](u32 key) { mine = isFiniteKey(key) && key > mine ? key : mine; });
    mine = Team<Threads>::reduce(mine, [](u32 a, u32 b) { return a > b ? a : b; });
    return mine == noKey ? -INFINITY_F32 : scoreOf(mine);
  }
};

/// exp(score - top) as a multiple of 2^-31; nothing for what is forced or no number.
__device__ __forceinline__ u32 massOf(u32 key, float top) {
  return isFiniteKey(key) ? static_cast<u32>(expf(scoreOf(key) - top) * 2147483648.f) : 0;
}

/// How many candidates a rule takes, before the floor and the cap.
template <Rule Kind, int Threads, int Kept>
__device__ __forceinline__ i64 countChosen(const Choice<Threads, Kept> &choice, double number) {
  const double share = number > 0 ? (number < 1 ? number : 1) : 0;
  if constexpr (Kind == Rule::TopK)
    return number > 0 ? static_cast<i64>(number) : 0;
  if constexpr (Kind == Rule::Share) {
    const u64 all = static_cast<u64>(choice.countIf([](u32 key) { return key != noKey; }));
    const u64 part = static_cast<u64>(share * 4294967296.0);
    return static_cast<i64>((all >> 32) * part +
                            (((all & 0xffffffffull) * part + 0xffffffffull) >> 32));
  }
  const i64 forced = choice.countIf([](u32 key) { return key == topKey; });
  if constexpr (Kind == Rule::TopP) {
    const float top = choice.top();
    u64 part = 0;
    choice.forKeys([&](u32 key) { part += massOf(key, top); });
    const u64 total = Team<Threads>::sum(part);
    const u64 wanted = min(static_cast<u64>(ceil(share * static_cast<double>(total))), total);
    if (wanted == 0)
      return forced;
    const Cut cut = choice.template find<false>(wanted, [&](u32 key) { return massOf(key, top); });
    return forced + cut.ties +
           choice.countIf([&](u32 key) { return isFiniteKey(key) && key > cut.key; });
  }
  double limit = number;
  if constexpr (Kind == Rule::NearMax)
    limit = static_cast<double>(choice.top()) + number;
  if constexpr (Kind == Rule::Deviation) {
    double sum = 0, squares = 0;
    const double finite = static_cast<double>(choice.countIf(isFiniteKey));
    choice.forKeys(
        [&](u32 key) { sum += isFiniteKey(key) ? static_cast<double>(scoreOf(key)) : 0.0; });
    const double mean = Team<Threads>::sum(sum) / finite;
    choice.forKeys([&](u32 key) {
      const double distance = static_cast<double>(scoreOf(key)) - mean;
      squares += isFiniteKey(key) ? distance * distance : 0.0;
    });
    limit = mean + number * sqrt(Team<Threads>::sum(squares) / finite);
  }
  return forced + choice.countIf([&](u32 key) {
    return isFiniteKey(key) && static_cast<double>(scoreOf(key)) >= limit;
  });
}

/// The lists of the rows that compete.
template <Rule Kind, int Threads, int Kept, class Ids, class Counts>
__device__ __forceinline__ void choose(const Choice<Threads, Kept> &choice, double number,
                                       i64 floor, i64 cap, int capacity, Ids &&ids,
                                       Counts &&counts) {
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
template <int Threads, int Kept, class Entry, class Count>
__device__ __forceinline__ void sample(const Choice<Threads, Kept> &choice, double number,
                                       u32 batch, u32 head, u32 row, u64 seed, Entry &&entry,
                                       Count &&count) {
  const float top = choice.top();
  u64 part = 0;
  choice.forKeys([&](u32 key) { part += massOf(key, top); });
  const double total = static_cast<double>(Team<Threads>::sum(part));
  const float *scores = choice.table.rowAt(choice.head, choice.row);
  const int columns = choice.table.columns;
  int written = 0;
  for (int base = 0; base < columns; base += Threads) {
    const int column = base + threadIdx.x;
    const u32 key = column < columns ? choice.table.keyAt(scores, column) : noKey;
    float chance = 0.f;
    if (key == topKey)
      chance = 1.f;
    else if (total > 0)
      chance = static_cast<float>(min(1.0, number * static_cast<double>(massOf(key, top)) / total));
    const bool isChosen = draw(static_cast<u32>(column), row, head, batch, seed) < chance;
    int chosen;
    const int place = Team<Threads>::rank(isChosen, chosen);
    if (isChosen)
      entry(written + place, column, 1.f / chance);
    written += chosen;
  }
  for (int place = written + threadIdx.x; place < columns; place += Threads)
    entry(place, -1, 0.f);
  if (threadIdx.x == 0)
    count(written);
}

/// How clear a choice of `number` columns is; forced columns and NaN do not count.
template <int Threads, int Kept>
__device__ __forceinline__ float marginOf(const Choice<Threads, Kept> &choice, i64 number) {
  if (choice.countIf(isFiniteKey) <= number)
    return 1.f;
  auto ranked = [&](i64 rank) {
    return scoreOf(choice
                       .template find<true>(static_cast<u64>(rank),
                                            [](u32 key) { return isFiniteKey(key) ? 1u : 0u; })
                       .key);
  };
  const float first = ranked(1), last = ranked(number), next = ranked(number + 1);
  return first == next ? 0.f : (last - next) / (first - next);
}
