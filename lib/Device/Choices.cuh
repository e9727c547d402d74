// Lacuna's device library: lists of the best columns; after the teams.
//
// Scores become keys: unsigned numbers in the same order. The key of the last chosen candidate is
// found from counts or masses, so that nothing is sorted; lists are then written in the order of
// the columns. Here keys are read from memory as often as they are needed; KeptRows.cuh has rows
// whose keys stay in registers.

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

/// What scores are before they become keys: themselves.
struct AsTheyAre {
  __device__ float operator()(i64, float score) const { return score; }
};
/// The least come first, and everything is a candidate, the greatest too.
struct LeastFirst {
  __device__ float operator()(i64, float score) const {
    return score == INFINITY_F32 ? -3.402823466e38f : -score;
  }
};

/// The scores of one batch entry.
struct ScoreTable {
  const float *base;
  i64 headStride, rowStride, columnStride;
  int columns;

  __device__ const float *rowAt(i64 head, i64 row) const {
    return base + head * headStride + row * rowStride;
  }
  __device__ float load(const float *row, i64 column) const {
    return __ldg(row + column * columnStride);
  }
};

/// Where the choice ends: candidates with a greater key are chosen, and the first `ties` of those
/// with this one.
struct Cut {
  u32 key;
  i64 ties;
};
static constexpr Cut noCut = {0xffffffffu, 0}, cutOfAll = {noKey, 0};

/// What follows from all keys, which `forKeys(visit)` of `Self` visits in an order that depends on
/// the sizes alone; `noKey` may come more often than there are.
template <class Self, int Threads> struct Keys {
  typedef Team<Threads> Group;

  __device__ const Self &self() const { return static_cast<const Self &>(*this); }
  template <class Test> __device__ i64 countIf(Test &&test) const {
    typename Self::Count mine = 0;
    self().forKeys([&](u32 key) { mine += test(key) ? 1 : 0; });
    return static_cast<i64>(Group::sum(mine));
  }
  /// The greatest score that is neither forced nor NaN; -inf if there is none.
  __device__ float top() const {
    u32 mine = noKey;
    self().forKeys([&](u32 key) { mine = isFiniteKey(key) && key > mine ? key : mine; });
    mine = Group::reduce(mine, [](u32 a, u32 b) { return a > b ? a : b; });
    return mine == noKey ? -INFINITY_F32 : scoreOf(mine);
  }
  /// The cut for the first candidates whose weights add up to `wanted`, or for all when they do not
  /// reach it. `weight(key)` is a whole number, of which `noKey` has none.
  template <class Weight> __device__ Cut find(u64 wanted, Weight &&weight) const {
    if (wanted == 0)
      return noCut;
    const u32 key = self().findKey(wanted, weight);
    if (key == noKey)
      return cutOfAll;
    u64 above = 0, equal = 0;
    self().forKeys([&](u32 other) {
      above += other > key ? weight(other) : 0;
      equal += other == key;
    });
    above = Group::sum(above);
    equal = Group::sum(equal);
    const u64 each = weight(key);
    return {key, static_cast<i64>(min((wanted - above + each - 1) / each, equal))};
  }
};

/// Rows of a table in memory, which compete with each other: of `heads` heads from `head` on the
/// `rows` rows from `row` on. `adjust(column, score)` is what counts. The threads of a block.
template <int Threads, class Adjust = AsTheyAre>
struct Choice : Keys<Choice<Threads, Adjust>, Threads> {
  typedef Team<Threads> Group;
  typedef u64 Count;
  ScoreTable table;
  i64 head, heads, row, rows;
  Adjust adjust;

  __device__ Choice(const ScoreTable &table, i64 head, i64 heads, i64 row, i64 rows,
                    const Adjust &adjust = Adjust())
      : table(table), head(head), heads(heads), row(row), rows(rows), adjust(adjust) {}

  __device__ u32 keyAt(const float *scores, i64 column) const {
    return keyOf(adjust(column, table.load(scores, column)));
  }

  template <class Visit> __device__ void forKeys(Visit &&visit) const {
    // Rows without gaps between them are one long row.
    const bool isDense = table.rowStride == table.columns * table.columnStride;
    const i64 lines = isDense ? 1 : rows, length = isDense ? rows * table.columns : table.columns;
    for (i64 h = head; h < head + heads; ++h)
      for (i64 r = row; r < row + lines; ++r) {
        const float *scores = table.rowAt(h, r);
#pragma unroll 4
        for (i64 column = threadIdx.x; column < length; column += Threads)
          visit(keyAt(scores, column));
      }
  }
  /// Calls visit(column, key) for every column of one row and, with `noKey`, for some behind the
  /// last: all threads call it together.
  template <class Visit> __device__ void forColumns(const float *scores, Visit &&visit) const {
    for (int base = 0; base < table.columns; base += Threads) {
      const int column = base + static_cast<int>(threadIdx.x);
      visit(column, column < table.columns ? keyAt(scores, column) : noKey);
    }
  }
  template <class Visit> __device__ void forColumns(Visit &&visit) const {
    forColumns(table.rowAt(head, row), visit);
  }
  __device__ Cut findCount(i64 wanted) const {
    return this->find(static_cast<u64>(wanted > 0 ? wanted : 0),
                      [](u32 key) { return key != noKey ? 1u : 0u; });
  }

  /// The greatest key such that it and all above it weigh at least `wanted`, from sums of each
  /// digit; `noKey` if none does.
  template <class Weight> __device__ u32 findKey(u64 wanted, Weight &&weight) const {
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
        forColumns(table.rowAt(h, r), [&](int column, u32 key) {
          int equal = 0, tie = 0;
          if (ties > 0)
            tie = Group::rank(key != noKey && key == cut.key, equal);
          visit(h, r, column, key != noKey && (key > cut.key || (key == cut.key && tie < ties)));
          ties = ties > equal ? ties - equal : 0;
        });
        close(h, r);
      }
  }
  /// Writes the lists: ids(head, row, place, column) and counts(head, row, number).
  template <class Ids, class Counts>
  __device__ void write(Cut cut, int capacity, Ids &&ids, Counts &&counts) const {
    int written = 0;
    auto add = [&](i64 h, i64 r, int column, bool isChosen) {
      int chosen;
      const int place = Group::rank(isChosen, chosen);
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

/// exp(score - top) as a multiple of 2^-31; nothing for what is forced or no number.
__device__ __forceinline__ u32 massOf(u32 key, float top) {
  return isFiniteKey(key) ? static_cast<u32>(expf(scoreOf(key) - top) * 2147483648.f) : 0;
}

/// How many candidates a rule takes, before the floor and the cap.
template <Rule Kind, class Choice>
__device__ __forceinline__ i64 countChosen(const Choice &choice, double number) {
  typedef typename Choice::Group Group;
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
    const u64 total = Group::sum(part);
    const u64 wanted = min(static_cast<u64>(ceil(share * static_cast<double>(total))), total);
    if (wanted == 0)
      return forced;
    const Cut cut =
        choice.find(wanted, [&](u32 key) { return static_cast<u64>(massOf(key, top)); });
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
    const double mean = Group::sum(sum) / finite;
    choice.forKeys([&](u32 key) {
      const double distance = static_cast<double>(scoreOf(key)) - mean;
      squares += isFiniteKey(key) ? distance * distance : 0.0;
    });
    limit = mean + number * sqrt(Group::sum(squares) / finite);
  }
  return forced + choice.countIf([&](u32 key) {
    return isFiniteKey(key) && static_cast<double>(scoreOf(key)) >= limit;
  });
}

/// The lists of the rows that compete.
template <Rule Kind, class Choice, class Ids, class Counts>
__device__ __forceinline__ void choose(const Choice &choice, double number, i64 floor, i64 cap,
                                       int capacity, Ids &&ids, Counts &&counts) {
  i64 chosen = countChosen<Kind>(choice, number);
  chosen = chosen > floor ? chosen : floor;
  chosen = chosen < cap ? chosen : cap;
  choice.write(choice.findCount(chosen), capacity, ids, counts);
}
