// Lacuna's device library: keys that are gathered row by row.
//
// Boxes of fewer than 16 keys are too short for the copy engine. All four warps of the producer's
// warpgroup walk the same key tiles, and each copies the rows of a quarter of a tile: a lane holds
// 16 bytes of a row, and places them where the copy engine would. Consumers read the place of each
// key beside the tile, so that tiles share whatever has a mask and what has none.

/// The rows of one head: 16-bit channels side by side, `stride` bytes from one key to the next.
struct KeyRows {
  const unsigned short *base;
  u32 stride;
  int count;
};

/// Calls visit(i, load(i), isThere) as `forLanes` does; 128 entries are on their way while those
/// before are visited.
template <class Index, class Load, class Visit>
__device__ __forceinline__ void forLanesAhead(Index lower, Index upper, Index step, Load &&load,
                                              Visit &&visit) {
  lower = settled(lower), upper = settled(upper);
  if (!(lower < upper))
    return;
  const int lane = threadIdx.x % 32;
  auto place = [&](Index base, int part) { return base + (32 * part + lane) * step; };
  auto read = [&](Index i) { return load(i < upper ? i : lower); };
  auto a = read(place(lower, 0)), b = read(place(lower, 1)), c = read(place(lower, 2)),
       d = read(place(lower, 3));
#pragma unroll 1
  for (Index base = lower; base < upper; base += 128 * step) {
    const auto a0 = a, b0 = b, c0 = c, d0 = d;
    const Index next = base + 128 * step;
    a = read(place(next, 0)), b = read(place(next, 1)), c = read(place(next, 2)),
    d = read(place(next, 3));
#pragma unroll 1
    for (int part = 0; part < 4 && base + 32 * part * step < upper; ++part) {
      const Index mine = place(base, part);
      visit(mine, part < 2 ? (part == 0 ? a0 : b0) : (part == 2 ? c0 : d0), mine < upper);
    }
  }
}
/// Calls visit(i, isThere) with a round per lane.
template <class Index, class Visit>
__device__ __forceinline__ void forSpread(Index lower, Index upper, Index step, Visit &&visit) {
  lower = settled(lower), upper = settled(upper);
#pragma unroll 1
  for (Index base = lower; base < upper; base += 32 * step) {
    const Index mine = base + static_cast<int>(threadIdx.x % 32) * step;
    visit(mine, mine < upper);
  }
}

/// The rounds that one entry asks for, a lane each: visit(i, isThere) until no lane has more.
template <class Index, class Visit>
__device__ __forceinline__ void forRounds(Index lower, Index upper, bool isThere, Visit &&visit) {
#pragma unroll 1
  for (Index i = lower; __any_sync(~0u, isThere && i < upper); ++i)
    visit(i, isThere && i < upper);
}

/// The producer's side where keys are gathered: four warps that do the same but for the rows they
/// copy and that the first one also hands out work.
template <class C> struct Gatherer {
  /// Keys of a tile that one warp copies; lane l knows the place of key l of them.
  static constexpr int own = C::keys / 4;
  static_assert(own % 4 == 0 && own <= 32, "a warp copies four rows at once, and knows 32");

  const Shared<C> &shared;
  Cursor<C::querySlots> item;
  Cursor<C::stages> keys, values;
  /// Pieces of the tile that is being filled, and which kinds with an element function it has.
  int filled = 0;
  u32 kinds = 0;
  /// Whether the values of a tile are still to be copied, and the places of its keys; -1 for none.
  bool hasBefore = false, isFirst = true;
  int before = -1;

  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }

  /// The next work item, negative at the end.
  __device__ int next(int *counter, i64 items) {
    int id;
    if (warp() == 0) {
      const i64 taken = isFirst ? i64(blockIdx.x) : Producer<C>::take(counter);
      id = taken < items ? static_cast<int>(taken) : -1;
      barrierWait(shared.itemEmpty(item.slot), item.lap ^ 1);
      if (lane() == 0) {
        shared.item(item.slot) = id;
        barrierArrive(shared.itemFull(item.slot));
      }
    } else {
      barrierWait(shared.itemFull(item.slot), item.lap);
      id = shared.item(item.slot);
      __syncwarp();
      if (lane() == 0)
        barrierArrive(shared.itemEmpty(item.slot));
    }
    isFirst = false;
    return id;
  }
  template <class Copy> __device__ void query(Copy &&copy) {
    if (warp() == 0) {
      barrierWait(shared.queryEmpty(item.slot), item.lap ^ 1);
      if (lane() == 0) {
        barrierArriveExpect(shared.queryFull(item.slot),
                            Shared<C>::queryPanelBytes * Shared<C>::queryPanels);
        copy(shared.query(item.slot), shared.queryFull(item.slot));
      }
      __syncwarp();
    }
    item.advance();
  }
  /// Adds a piece for each lane in which `isHere` holds. A full tile is held back until it is known
  /// whether another piece follows.
  __device__ void tile(int kind, bool isHere, int at, const KeyRows &keyRows,
                       const KeyRows &valueRows) {
    const u32 hits = __ballot_sync(~0u, isHere);
    const int count = __popc(hits), rank = __popc(hits & ((1u << lane()) - 1));
#pragma unroll 1
    for (int done = 0;;) {
      const int taken = min(count - done, C::pieces - filled);
      if (filled == 0 && taken > 0)
        barrierWait(shared.keyEmpty(keys.slot), keys.lap ^ 1);
      if (isHere && rank >= done && rank < done + taken)
        put(filled + rank - done, kind, at);
      if (taken > 0 && !C::isPlain(kind))
        kinds |= 1u << kind;
      filled += taken;
      done += taken;
      if (done == count)
        break;
      close(0, keyRows, valueRows);
    }
  }
  /// After the last piece of an item.
  __device__ void end(const KeyRows &keyRows, const KeyRows &valueRows) {
    if (filled > 0) {
      close(lastOfItem, keyRows, valueRows);
      copyValues(valueRows);
    } else {
      barrierWait(shared.keyEmpty(keys.slot), keys.lap ^ 1);
      announce(endOfItem);
      keys.advance();
    }
    hasBefore = false;
  }

private:
  /// Writes the places of the keys of a piece, as far as this warp copies them.
  __device__ void put(int piece, int kind, int at) {
    volatile u32 *places = shared.places(keys.slot);
#pragma unroll(C::pieceKeys > 8 ? 1 : C::pieceKeys)
    for (int i = 0; i < C::pieceKeys; ++i) {
      const int key = piece * C::pieceKeys + i;
      if (static_cast<u32>(key - warp() * own) < own)
        places[key] = static_cast<u32>(at + i) | static_cast<u32>(kind) << placeBits;
    }
  }
  /// The place of this lane's key of the tile; -1 where there is none.
  __device__ int take(int count) {
    __syncwarp();
    const int key = warp() * own + lane();
    if (lane() >= own || key >= filled * C::pieceKeys)
      return -1;
    const int at = static_cast<int>(shared.places(keys.slot)[key] & placeMask);
    return at < count ? at : -1;
  }
  /// Tells the consumers of a tile whose copies have been issued.
  __device__ void announce(int kind) {
    const u32 barrier = shared.keyFull(keys.slot);
    barrierArriveCopied(barrier);
    // Places are ordinary stores: the arrival of a lane that has met the others orders them.
    __syncwarp();
    if (lane() == 0) {
      if (warp() == 0)
        shared.note(keys.slot).kind = kind;
      barrierArrive(barrier);
    }
  }
  /// Copies the keys of the tile, then the values of the one before.
  __device__ void close(int last, const KeyRows &keyRows, const KeyRows &valueRows) {
    const int mine = take(keyRows.count);
    copyRows<C::headDim>(shared.key(keys.slot), keyRows, mine);
    announce(static_cast<int>(kinds) | filled << piecesShift | last);
    keys.advance();
    if (hasBefore)
      copyValues(valueRows);
    before = mine;
    hasBefore = true;
    filled = 0;
    kinds = 0;
  }
  __device__ void copyValues(const KeyRows &rows) {
    barrierWait(shared.valueEmpty(values.slot), values.lap ^ 1);
    copyRows<C::valueDim>(shared.value(values.slot), rows, before);
    barrierArriveCopied(shared.valueFull(values.slot));
    values.advance();
  }
  /// Copies this warp's rows of a tile, four at once: eight lanes have the 128 bytes that a row has
  /// in a panel, and chunk c of row r lands at chunk c xor (r mod 8).
  template <int Channels>
  __device__ static void copyRows(u32 target, const KeyRows &rows, int places) {
    const int first = warp() * own + lane() / 8, chunk = lane() % 8;
#pragma unroll
    for (int i = 0; i < own / 4; ++i) {
      const int at = __shfl_sync(~0u, places, 4 * i + lane() / 8);
      const int row = first + 4 * i;
      const unsigned char *source = reinterpret_cast<const unsigned char *>(rows.base) +
                                    u64(static_cast<u32>(max(at, 0))) * rows.stride + 16 * chunk;
      const u32 place = target + row * 128 + (chunk ^ row % 8) * 16;
#pragma unroll
      for (int panel = 0; panel < Shared<C>::panels(Channels); ++panel)
        copyChunk(place + panel * Shared<C>::keyPanelBytes, source + panel * 128,
                  at >= 0 && panel * 64 + chunk * 8 < Channels);
    }
  }
};
