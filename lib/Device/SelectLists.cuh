// Lacuna's device library: lists of blocks in other formats, and from other lists.
//
// Memory is read and written element by element at any strides. A warp takes a row; a block takes
// all rows of a list where the place of one depends on those before it.

/// One row of elements: neighbours lie `stride` apart.
template <class Element> struct Strip {
  Element *first;
  i64 stride, extent;
  __device__ __forceinline__ Element &operator[](i64 at) const { return first[at * stride]; }
};
template <class Element>
__device__ __forceinline__ Strip<Element> strip(void *base, i64 offset, i64 stride, i64 extent) {
  return {static_cast<Element *>(base) + offset, stride, extent};
}

/// Entries that a list has, from none to its capacity.
__device__ __forceinline__ int countEntries(int count, i64 capacity) {
  return static_cast<int>(count < 0 ? 0 : count < capacity ? count : capacity);
}
/// Lanes before this one that are in `lanes`.
__device__ __forceinline__ int lanesBefore(u32 lanes) {
  return __popc(lanes & ((1u << threadIdx.x % 32) - 1));
}

/// Fills a list up behind its `found` entries, and stores its count.
template <bool Cut>
__device__ __forceinline__ void finishList(Strip<int> ids, int *count, int found) {
  const int kept = countEntries(found, ids.extent);
  for (i64 entry = kept + threadIdx.x % 32; entry < ids.extent; entry += 32)
    ids[entry] = -1;
  if (threadIdx.x % 32 == 0)
    *count = Cut ? kept : found;
}

/// The places of `mask` that are not 0, in rising order.
template <bool Cut>
__device__ __forceinline__ void listOfMask(Strip<const signed char> mask, Strip<int> ids,
                                           int *count) {
  constexpr int ahead = 4;
  const int lane = threadIdx.x % 32;
  int found = 0;
  for (i64 from = 0; from < mask.extent; from += 32 * ahead) {
    bool marks[ahead];
#pragma unroll
    for (int step = 0; step < ahead; ++step) {
      const i64 at = from + 32 * step + lane;
      marks[step] = at < mask.extent && mask[at] != 0;
    }
#pragma unroll
    for (int step = 0; step < ahead; ++step) {
      const u32 marked = __ballot_sync(0xffffffffu, marks[step]);
      const i64 place = found + lanesBefore(marked);
      if (marks[step] && place < ids.extent)
        ids[place] = static_cast<int>(from + 32 * step + lane);
      found += __popc(marked);
    }
  }
  finishList<Cut>(ids, count, found);
}

/// 1 at the places that the list names, 0 elsewhere.
__device__ __forceinline__ void maskOfList(Strip<const int> ids, int count,
                                           Strip<signed char> mask) {
  const int lane = threadIdx.x % 32;
  for (i64 column = lane; column < mask.extent; column += 32)
    mask[column] = 0;
  // A byte may be cleared by one lane and marked by another.
  __syncwarp();
  count = countEntries(count, ids.extent);
  for (int entry = lane; entry < count; entry += 32) {
    const int column = ids[entry];
    // A list may name a column twice.
    if (column >= 0 && column < mask.extent)
      __nv_atomic_store_n(&mask[column], static_cast<signed char>(1), __NV_ATOMIC_RELAXED,
                          __NV_THREAD_SCOPE_BLOCK);
  }
}

/// The column ids from `first` up to `last`.
template <bool Cut>
__device__ __forceinline__ void listOfCsr(int first, int last, Strip<const int> columns,
                                          Strip<int> ids, int *count) {
  first = countEntries(first, columns.extent);
  last = countEntries(last, columns.extent);
  const int found = last > first ? last - first : 0, kept = countEntries(found, ids.extent);
  for (int entry = threadIdx.x % 32; entry < kept; entry += 32)
    ids[entry] = columns[first + entry];
  finishList<Cut>(ids, count, found);
}

/// The rows of a list of lists after each other: `rowIds` and `entryIds` are the strides of `ids`.
/// A block of `Warps` warps; pointers[r + 1] holds the length of row r until lengths are added up.
template <int Warps>
__device__ __forceinline__ void csrOfList(const int *ids, i64 rowIds, i64 entryIds, i64 capacity,
                                          Strip<const int> counts, Strip<int> pointers,
                                          Strip<int> columns) {
  __shared__ int sums[Warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const i64 rows = pointers.extent - 1;
  auto visit = [&](i64 row, int place, bool write) {
    const int count = countEntries(counts[row], capacity);
    for (int from = 0; from < count; from += 32) {
      const int entry = from + lane;
      const int id = entry < count ? ids[row * rowIds + entry * entryIds] : -1;
      const u32 named = __ballot_sync(0xffffffffu, id >= 0);
      if (write && id >= 0)
        columns[place + lanesBefore(named)] = id;
      place += __popc(named);
    }
    return place;
  };
  for (i64 row = warp; row < rows; row += Warps) {
    const int length = visit(row, 0, false);
    if (lane == 0)
      pointers[row + 1] = length;
  }
  if (threadIdx.x == 0)
    pointers[0] = 0;
  __syncthreads();
  int before = 0;
  for (i64 from = 0; from < rows; from += 32 * Warps) {
    const i64 row = from + threadIdx.x;
    int sum = row < rows ? pointers[row + 1] : 0;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance)
        sum += other;
    }
    if (lane == 31)
      sums[warp] = sum;
    __syncthreads();
    int all = 0;
    for (int other = 0; other < Warps; ++other) {
      if (other < warp)
        sum += sums[other];
      all += sums[other];
    }
    if (row < rows)
      pointers[row + 1] = before + sum;
    before += all;
    __syncthreads();
  }
  for (i64 row = warp; row < rows; row += Warps)
    visit(row, pointers[row], true);
  for (i64 place = before + threadIdx.x; place < columns.extent; place += 32 * Warps)
    columns[place] = -1;
}

// Choices among candidates -----------------------------------------------------------------------

/// Calls put(place, child) for the children, `By` each, of the nodes that a list names, of
/// `columns` that there are; how many these are. A warp.
template <int By, class Put>
__device__ __forceinline__ int visitChildren(Strip<const int> ids, int count, i64 columns,
                                             Put &&put) {
  const int nodes = countEntries(count, ids.extent), lane = static_cast<int>(threadIdx.x % 32);
  int found = 0;
  for (i64 from = 0; from < static_cast<i64>(nodes) * By; from += 32) {
    const i64 at = from + lane;
    const int entry = static_cast<int>(at / By);
    const i64 node = entry < nodes ? ids[entry] : -1, child = node * By + at % By;
    const bool isThere = node >= 0 && child < columns;
    const u32 there = __ballot_sync(0xffffffffu, isThere);
    if (isThere)
      put(found + lanesBefore(there), static_cast<int>(child));
    found += __popc(there);
  }
  return found;
}
/// The list of these children.
template <int By>
__device__ __forceinline__ void childrenOf(Strip<const int> ids, int count, i64 columns,
                                           Strip<int> children, int *childCount) {
  const int found = visitChildren<By>(ids, count, columns,
                                      [&](int place, int child) { children[place] = child; });
  finishList<false>(children, childCount, found);
}

/// Entries of a list by their places. A warp.
__device__ __forceinline__ void pickEntries(Strip<const int> ids, int count,
                                            Strip<const int> places, Strip<int> target) {
  count = countEntries(count, ids.extent);
  for (i64 entry = threadIdx.x % 32; entry < places.extent; entry += 32) {
    const int place = places[entry];
    target[entry] = place >= 0 && place < count ? ids[place] : -1;
  }
}

/// A row of scores, without the columns that a list names. A warp.
__device__ __forceinline__ void withoutListed(Strip<const float> scores, Strip<const int> ids,
                                              int count, Strip<float> target) {
  const int lane = threadIdx.x % 32;
  for (i64 column = lane; column < scores.extent; column += 32)
    target[column] = scores[column];
  // A score may be copied by one lane and shut out by another.
  __syncwarp();
  count = countEntries(count, ids.extent);
  for (int entry = lane; entry < count; entry += 32) {
    const int column = ids[entry];
    // A list may name a column twice.
    if (column >= 0 && column < scores.extent)
      __nv_atomic_store_n(reinterpret_cast<u32 *>(&target[column]), 0xff800000u,
                          __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  }
}
