// Lacuna's device library: work items whose length only the device knows.
//
// Where lists say what an item has to do, some may have much more than others, and one that is
// taken last keeps the whole launch waiting. While a block's first item is under way, the idle
// warps of its producer look at all lengths and write down the long ones, the longest first; they
// are taken before the rest, which keeps its order. All blocks come to the same list.

/// Threads that look for long items: three warps of the producer's four.
static constexpr int finders = 96;

/// The items that must not come late: all that have more to do than a quarter of what each block
/// has, and of the last quarter, which little follows that could fill gaps, those longer than twice
/// the mean. The others stay with their neighbours, which share keys in the cache.
template <int Capacity> struct LongItems {
  u64 total, lastTotal;
  u32 count;
  u32 lengths[Capacity], ids[Capacity];

  /// Behind a pipeline of so many bytes.
  __device__ static LongItems &at(unsigned char *memory, int pipelineBytes) {
    return *reinterpret_cast<LongItems *>(memory + (pipelineBytes + 7) / 8 * 8);
  }

  /// Called by `finders` threads, which meet() several times; items before `first` are taken
  /// already. `length(id)` is what an item has to do, at least 0.
  template <class Length, class Meet>
  __device__ void find(int thread, u32 first, u32 items, Length &&length, Meet &&meet) {
    if (thread == 0)
      total = 0, lastTotal = 0, count = 0;
    meet();
    const u32 last = items - items / 4;
    u64 mine = 0, mineLast = 0;
#pragma unroll 4
    for (u32 id = thread; id < items; id += finders) {
      const u32 found = length(id);
      mine += found;
      mineLast += id < last ? 0 : found;
    }
    atomicAdd(&total, mine);
    atomicAdd(&lastTotal, mineLast);
    meet();
    // Half of the places for either kind: there are fewer items than that which are longer than so
    // small a part of the sum.
    const u64 mean = 2 * (total / items) + 2, part = Capacity / 2;
    const u64 late = max(mean, lastTotal / part),
              early = max(max(mean, total / (4 * first)), total / part);
#pragma unroll 4
    for (u32 id = first + thread; id < items; id += finders)
      if (const u32 found = length(id); found > (id < last ? early : late)) {
        const u32 place = atomicAdd(&count, 1u);
        ids[place] = id;
        lengths[place] = found;
      }
    meet();
    sort(thread, meet);
  }
  /// Whether an item is a long one; for a whole warp.
  __device__ bool has(u32 id) const {
    bool isHere = false;
    for (u32 i = threadIdx.x % 32; i < count; i += 32)
      isHere |= ids[i] == id;
    return __any_sync(~0u, isHere);
  }

private:
  /// The longest first; those of one length by their number, whoever has found them first.
  template <class Meet> __device__ void sort(int thread, Meet &&meet) {
    constexpr int most = (Capacity + finders - 1) / finders;
    u32 moved[most], places[most];
#pragma unroll
    for (int i = 0; i < most; ++i) {
      const u32 mine = thread + i * finders;
      if (mine >= count)
        break;
      const u32 id = ids[mine], length = lengths[mine];
      u32 place = 0;
      for (u32 other = 0; other < count; ++other)
        place += lengths[other] > length || (lengths[other] == length && ids[other] < id);
      moved[i] = id, places[i] = place;
    }
    meet();
#pragma unroll
    for (int i = 0; i < most; ++i)
      if (static_cast<u32>(thread + i * finders) < count)
        ids[places[i]] = moved[i];
    meet();
  }
};

/// The order in which the producer of a block takes items: one for each block as numbered, then the
/// long ones, then the others as numbered.
template <int Capacity> struct ItemOrder {
  static constexpr int barrier = 15;

  /// Whether there is anything to order.
  __device__ static bool matters(i64 items) { return items > gridDim.x; }

  /// The item after `id`, `items` or more after the last. `take()` counts, from the number of
  /// blocks on.
  template <class Take>
  __device__ static i64 next(const LongItems<Capacity> &found, i64 id, i64 items, Take &&take) {
    if (!matters(items))
      return take();
    if (id == blockIdx.x)
      namedBarrierSync(barrier, finders + 32);
    for (;;) {
      const i64 taken = take(), rank = taken - gridDim.x;
      if (rank < found.count)
        return found.ids[rank];
      const i64 plain = taken - found.count;
      if (plain >= items || !found.has(static_cast<u32>(plain)))
        return plain;
    }
  }
};
