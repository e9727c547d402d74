// Lacuna's device library: choices in rows whose keys stay in registers; after the choices.
//
// A row of up to 512 columns is a warp's, one of up to 8192 that of a block of 256 threads.

/// The cut of the `wanted` greatest keys, of which there are more. `count(key)` says how many are
/// at least `key`; equal counts end the search early.
template <class Count> __device__ __forceinline__ Cut searchCut(u32 wanted, Count &&count) {
  u32 key = 0;
#pragma unroll 1
  for (u32 bit = 0x80000000u; bit; bit >>= 1) {
    const u32 next = key | bit, found = count(next);
    if (found == wanted)
      return {next - 1, 0};
    key = found > wanted ? next : key;
  }
  return {key, static_cast<i64>(wanted - count(key + 1))};
}

/// A row whose keys stay in registers, `Kept` a thread. `load(column)` reads a score and
/// `adjust(column, score)` is what counts: all are read before the first is needed.
template <int Threads, int Kept> struct KeptRow : Keys<KeptRow<Threads, Kept>, Threads> {
  typedef Team<Threads> Group;
  typedef u32 Count;
  /// Keys after which a thread looks whether there are more.
  static constexpr int together = Threads == 32 ? 2 : 8;
  /// Keys that a warp searches alone.
  static constexpr int fewPerLane = 8;

  i64 head, row;
  int columns;
  u32 keys[Kept];

  template <class Load, class Adjust>
  __device__ KeptRow(i64 head, i64 row, int columns, Load &&load, Adjust &&adjust)
      : head(head), row(row), columns(columns) {
    forPlaces(
        [&](int i, int column) { keys[i] = column < columns ? __float_as_uint(load(column)) : 0; });
    forPlaces([&](int i, int column) {
      keys[i] = column < columns ? keyOf(adjust(column, __uint_as_float(keys[i]))) : noKey;
    });
  }
  template <class Visit> __device__ __forceinline__ void forPlaces(Visit &&visit) const {
#pragma unroll
    for (int i = 0; i < Kept; ++i) {
      if (i % together == 0 && i * Threads >= columns)
        break;
      visit(i, i * Threads + Group::thread());
    }
  }
  template <class Visit> __device__ __forceinline__ void forKeys(Visit &&visit) const {
    forPlaces([&](int i, int) { visit(keys[i]); });
  }
  /// Calls visit(column, key): all threads together, in the order of the columns.
  template <class Visit> __device__ __forceinline__ void forColumns(Visit &&visit) const {
    forPlaces([&](int i, int column) { visit(column, keys[i]); });
  }

  /// The greatest key such that it and all above it weigh at least `wanted`; `noKey` if none does.
  template <class Weight> __device__ u32 findKey(u64 wanted, Weight &&weight) const {
    u32 key = 0;
#pragma unroll 1
    for (u32 bit = 0x80000000u; bit; bit >>= 1) {
      const u32 next = key | bit;
      decltype(weight(0u)) mine = 0;
      forKeys([&](u32 other) { mine += other >= next ? weight(other) : 0; });
      key = Group::sum(mine) >= wanted ? next : key;
    }
    return key;
  }
  __device__ Cut findCount(i64 wanted) const {
    if (wanted <= 0)
      return noCut;
    if (wanted >= this->countIf([](u32 key) { return key != noKey; }))
      return cutOfAll;
    Cut cut;
    if (narrow(static_cast<u32>(wanted), cut))
      return cut;
    return searchCut(static_cast<u32>(wanted), [&](u32 key) {
      u32 mine = 0;
      forKeys([&](u32 other) { mine += other >= key; });
      return Group::sum(mine);
    });
  }
  /// Whether few keys can be among so many, and then their cut. If as many threads have one that
  /// is great, the others need not be looked at.
  __device__ bool narrow(u32 wanted, Cut &cut) const {
    if constexpr (Threads == 32) {
      return false;
    } else {
      if (wanted > Threads)
        return false;
      u32 most = noKey;
      forKeys([&](u32 key) { most = key > most ? key : most; });
      const Cut bound = searchCut(
          wanted, [&](u32 key) { return static_cast<u32>(__syncthreads_count(most >= key)); });
      const u32 least = bound.ties ? bound.key : bound.key + 1;
      // Fewer threads have a candidate at all.
      if (least == noKey)
        return false;
      u32 number = 0;
      forKeys([&](u32 key) { number += key >= least; });
      int found, place = Group::before(static_cast<int>(number), found);
      if (found > 32 * fewPerLane)
        return false;
      __shared__ u32 few[32 * fewPerLane];
      forKeys([&](u32 key) {
        if (key >= least)
          few[place] = key;
        place += key >= least;
      });
      __syncthreads();
      u32 mine[fewPerLane];
#pragma unroll
      for (int i = 0; i < fewPerLane; ++i) {
        const int place = 32 * i + static_cast<int>(threadIdx.x % 32);
        mine[i] = place < found ? few[place] : noKey;
      }
      if (found == static_cast<int>(wanted))
        cut = {least - 1, 0};
      else
        cut = searchCut(wanted, [&](u32 key) {
          u32 sum = 0;
#pragma unroll
          for (int i = 0; i < fewPerLane; ++i)
            sum += mine[i] >= key;
          return __reduce_add_sync(~0u, sum);
        });
      return true;
    }
  }

  /// Writes the list: ids(head, row, place, column) and counts(head, row, number).
  template <class Ids, class Counts>
  __device__ void write(Cut cut, int capacity, Ids &&ids, Counts &&counts) const {
    u32 word = wordOf([&](u32 key) { return key > cut.key; });
    if (cut.ties > 0) {
      const u32 equal = wordOf([&](u32 key) { return key == cut.key; });
      int all;
      const int before = Group::before(__popc(equal), all);
      word |= lowest(equal, static_cast<int>(cut.ties) - before);
    }
    int chosen, place = Group::before(__popc(word), chosen);
    if constexpr (Threads == 32) {
      // All lanes write, word by word.
      for (int i = 0; 32 * i < columns; ++i) {
        const u32 bits = __shfl_sync(~0u, word, i);
        const int at = __shfl_sync(~0u, place, i) + __popc(bits & ((1u << Group::thread()) - 1));
        if (bits >> Group::thread() & 1 && at < capacity)
          ids(head, row, at, 32 * i + Group::thread());
      }
    } else {
      for (; word && place < capacity; word &= word - 1, ++place)
        ids(head, row, place, 32 * Group::thread() + __ffs(static_cast<int>(word)) - 1);
    }
    const int written = min(chosen, capacity);
    for (int entry = written + Group::thread(); entry < capacity; entry += Threads)
      ids(head, row, entry, -1);
    if (Group::thread() == 0)
      counts(head, row, written);
  }

private:
  /// The lowest `number` bits of `word` that are set.
  __device__ static u32 lowest(u32 word, int number) {
    u32 bits = 0;
    for (; word && number > 0; word &= word - 1, --number)
      bits |= word & ~(word - 1);
    return bits;
  }
  /// Word i of the bits that test(key) gives to the columns, in the thread of that number.
  template <class Test> __device__ u32 wordOf(Test &&test) const {
    u32 word = 0;
    if constexpr (Threads == 32) {
      forPlaces([&](int i, int) {
        const u32 bits = __ballot_sync(~0u, test(keys[i]));
        word = Group::thread() == i ? bits : word;
      });
    } else {
      static_assert(Kept * Group::warps <= Threads, "");
      __shared__ u32 words[Kept * Group::warps];
      __syncthreads();
      forPlaces([&](int i, int column) {
        const u32 bits = __ballot_sync(~0u, test(keys[i]));
        if (threadIdx.x % 32 == 0)
          words[column / 32] = bits;
      });
      __syncthreads();
      word = 32 * Group::thread() < columns ? words[Group::thread()] : 0;
    }
    return word;
  }
};

/// Calls use(choice) with what chooses in one row: by a warp, in registers of a block or in memory.
/// `adjust(column, score)` is what counts. Rows of up to `warpColumns` columns are a warp's own.
static constexpr int warpColumns = 512, keptColumns = 32;
template <int Threads, class Adjust, class Use>
__device__ __forceinline__ void withRow(const ScoreTable &table, i64 head, i64 row,
                                        const Adjust &adjust, Use &&use) {
  const float *scores = table.rowAt(head, row);
  auto load = [&](int column) { return table.load(scores, column); };
  if (table.columns <= warpColumns)
    use(KeptRow<32, warpColumns / 32>(head, row, table.columns, load, adjust));
  else if (table.columns <= Threads * keptColumns)
    use(KeptRow<Threads, keptColumns>(head, row, table.columns, load, adjust));
  else
    use(Choice<Threads, Adjust>(table, head, 1, row, 1, adjust));
}

/// Writes what counts of a row, as store(column, score), by those who choose in it.
template <class Choice, class Adjust, class Store>
__device__ __forceinline__ void storeAdjusted(const Choice &, const ScoreTable &table,
                                              const float *scores, const Adjust &adjust,
                                              Store &&store) {
  for (int column = Choice::Group::thread(); column < table.columns;
       column += 32 * Choice::Group::warps)
    store(column, adjust(column, table.load(scores, column)));
}
