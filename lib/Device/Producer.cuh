// Lacuna's device library: shared memory of the forward pipeline, and its producer.
//
// One warp walks the live key tiles of a work item and feeds two rings, keys and values. The
// generated kernel supplies a Config and the walk over tiles.

/// What the producer says about one key tile, next to its keys.
struct TileNote {
  /// Which element function applies, plus `lastOfItem` for the last tile of an item; `endOfItem` in
  /// place of a tile for an item that has none.
  int kind;
  /// First key coordinate along each axis.
  int at[3];
};
static constexpr int endOfItem = -1, lastOfItem = 1 << 30;
/// Where the number of pieces stands in the kind of a tile that is packed from several.
static constexpr int piecesShift = 16, kindMask = (1 << piecesShift) - 1;
/// A gathered key's place is its coordinate, with the kind above. The kind of its tile has a bit
/// for each kind with an element function.
static constexpr int placeBits = 29;
static constexpr u32 placeMask = (1u << placeBits) - 1;

/// Shared memory of one kernel. Matrices are stored as panels of 64 columns; a panel row is 128
/// bytes, swizzled by the copy engine.
template <class C> struct Shared {
  static constexpr int panels(int columns) { return (columns + 63) / 64; }
  static constexpr int queryPanelBytes = C::rows * 128, keyPanelBytes = C::keys * 128;
  static constexpr int queryPanels = panels(C::headDim), valuePanels = panels(C::valueDim);
  /// The output leaves through the query's slot, which may need more panels.
  static constexpr int querySlotBytes =
      queryPanelBytes * (queryPanels > valuePanels ? queryPanels : valuePanels);
  static constexpr int keySlotBytes = keyPanelBytes * queryPanels;
  static constexpr int valueSlotBytes = keyPanelBytes * valuePanels;

  static constexpr int queryOffset = 0;
  static constexpr int keyOffset = queryOffset + querySlotBytes * C::querySlots;
  static constexpr int valueOffset = keyOffset + keySlotBytes * C::stages;
  static constexpr int barrierOffset = valueOffset + valueSlotBytes * C::stages;
  static constexpr int noteOffset = barrierOffset + 8 * (4 * C::querySlots + 4 * C::stages);
  static constexpr bool isGathered = C::isGathered;
  static constexpr int placeOffset = noteOffset + 16 * C::stages;
  static constexpr int itemOffset = placeOffset + (isGathered ? 4 * C::keys * C::stages : 0);
  static constexpr int bytes = itemOffset + 4 * C::querySlots;
  static_assert(C::keys % 8 == 0, "a panel of keys must hold whole swizzle groups");

  u32 base;
  unsigned char *memory;

  __device__ u32 barrier(int i) const { return base + barrierOffset + 8 * i; }
  __device__ u32 queryFull(int slot) const { return barrier(slot); }
  __device__ u32 queryEmpty(int slot) const { return barrier(C::querySlots + slot); }
  __device__ u32 itemFull(int slot) const { return barrier(2 * C::querySlots + slot); }
  __device__ u32 itemEmpty(int slot) const { return barrier(3 * C::querySlots + slot); }
  __device__ u32 keyFull(int stage) const { return barrier(4 * C::querySlots + stage); }
  __device__ u32 keyEmpty(int stage) const {
    return barrier(4 * C::querySlots + C::stages + stage);
  }
  __device__ u32 valueFull(int stage) const {
    return barrier(4 * C::querySlots + 2 * C::stages + stage);
  }
  __device__ u32 valueEmpty(int stage) const {
    return barrier(4 * C::querySlots + 3 * C::stages + stage);
  }
  __device__ volatile TileNote &note(int stage) const {
    return reinterpret_cast<volatile TileNote *>(memory + noteOffset)[stage];
  }
  __device__ volatile int &item(int slot) const {
    return reinterpret_cast<volatile int *>(memory + itemOffset)[slot];
  }
  /// Where each key of a gathered tile comes from.
  __device__ u32 *places(int stage) const {
    return reinterpret_cast<u32 *>(memory + placeOffset) + C::keys * stage;
  }
  __device__ u32 noteAddress(int stage) const { return base + noteOffset + 16 * stage; }
  __device__ u32 itemAddress(int slot) const { return base + itemOffset + 4 * slot; }
  __device__ u32 query(int slot) const { return base + queryOffset + querySlotBytes * slot; }
  __device__ u32 key(int stage) const { return base + keyOffset + keySlotBytes * stage; }
  __device__ u32 value(int stage) const { return base + valueOffset + valueSlotBytes * stage; }

  __device__ void initialize() const {
    // Gathering threads arrive when their copies are done, and a lane of each of their warps.
    constexpr int copiers = isGathered ? 128 : 0, tellers = isGathered ? 4 : 1;
    if (threadIdx.x == 0) {
      for (int slot = 0; slot < C::querySlots; ++slot) {
        barrierInit(queryFull(slot), 1);
        barrierInit(queryEmpty(slot), 4 * C::consumers);
        barrierInit(itemFull(slot), 1);
        barrierInit(itemEmpty(slot), 4 * C::consumers + (isGathered ? 3 : 0));
      }
      for (int stage = 0; stage < C::stages; ++stage) {
        barrierInit(keyFull(stage), copiers + tellers);
        barrierInit(keyEmpty(stage), 4 * C::consumers);
        barrierInit(valueFull(stage), isGathered ? copiers : 1);
        barrierInit(valueEmpty(stage), 4 * C::consumers);
      }
      fenceBarrierInit();
    }
    __syncthreads();
  }
};

/// A position in a ring of `Slots` and the parity of the current lap.
template <int Slots> struct Cursor {
  int slot = 0;
  u32 lap = 0;
  __device__ void advance() {
    if (++slot == Slots) {
      slot = 0;
      lap ^= 1;
    }
  }
};

/// The producer's side: one warp, all lanes of which wait and the first of which acts. `Copy`
/// issues the copies of one matrix: copy(target, barrier), and for keys and values copy(target,
/// barrier, kind, a0, a1, a2).
template <class C> struct Producer {
  const Shared<C> &shared;
  Cursor<C::querySlots> item;
  Cursor<C::stages> keys, values;
  /// The tile held back, and the one whose keys were copied last.
  TileNote pending, before;
  /// Tiles of the item so far, and pieces of the one that is being packed.
  int held = 0, filled = 0;
  /// Lane i knows the place of piece i of that tile, and of the tile before.
  int piece[3], pieceBefore[3];

  /// The next work item after the first one of each block; `counter` counts them.
  __device__ static i64 take(int *counter) {
    int taken = 0;
    if (isLeader())
      taken = atomicAdd(counter, 1);
    return i64(__shfl_sync(~0u, taken, 0)) + gridDim.x;
  }
  /// Hands a work item to the consumers; a negative one ends the kernel.
  __device__ void publish(int id) {
    barrierWait(shared.itemEmpty(item.slot), item.lap ^ 1);
    if (isLeader()) {
      shared.item(item.slot) = id;
      barrierArrive(shared.itemFull(item.slot));
    }
  }
  template <class Copy> __device__ void query(Copy &&copy) {
    barrierWait(shared.queryEmpty(item.slot), item.lap ^ 1);
    if (isLeader()) {
      barrierArriveExpect(shared.queryFull(item.slot),
                          Shared<C>::queryPanelBytes * Shared<C>::queryPanels);
      copy(shared.query(item.slot), shared.queryFull(item.slot));
    }
    item.advance();
  }
  /// One key tile, or a piece of one. It is held back until it is known whether another one
  /// follows.
  template <class CopyKeys, class CopyValues>
  __device__ void tile(int kind, int a0, int a1, int a2, CopyKeys &&copyKeys,
                       CopyValues &&copyValues) {
    if constexpr (C::pieces > 1) {
      pack(kind, a0, a1, a2, copyKeys, copyValues);
      return;
    }
    if (held > 0)
      feed(0, copyKeys, copyValues);
    pending = {kind, {a0, a1, a2}};
    ++held;
  }
  /// After the last tile of an item.
  template <class CopyKeys, class CopyValues>
  __device__ void end(CopyKeys &&copyKeys, CopyValues &&copyValues) {
    if (filled > 0) {
      close(lastOfItem, copyKeys, copyValues);
      putValues(copyValues);
    } else if (held > 0) {
      feed(lastOfItem, copyKeys, copyValues);
      feedValues(copyValues);
    } else {
      barrierWait(shared.keyEmpty(keys.slot), keys.lap ^ 1);
      if (isLeader()) {
        note(endOfItem);
        barrierArrive(shared.keyFull(keys.slot));
      }
      keys.advance();
    }
    held = 0;
  }

private:
  __device__ static bool isLeader() { return threadIdx.x % 32 == 0; }
  __device__ void note(int kind) {
    volatile TileNote &note = shared.note(keys.slot);
    note.kind = kind;
    note.at[0] = pending.at[0], note.at[1] = pending.at[1], note.at[2] = pending.at[2];
  }
  /// Copies the keys of the tile held back, then the values of the one before it.
  template <class CopyKeys, class CopyValues>
  __device__ void feed(int last, CopyKeys &&copyKeys, CopyValues &&copyValues) {
    barrierWait(shared.keyEmpty(keys.slot), keys.lap ^ 1);
    if (isLeader()) {
      note(pending.kind | last);
      barrierArriveExpect(shared.keyFull(keys.slot), Shared<C>::keySlotBytes);
      copyKeys(shared.key(keys.slot), shared.keyFull(keys.slot), pending.kind, pending.at[0],
               pending.at[1], pending.at[2]);
    }
    keys.advance();
    if (held > 1)
      feedValues(copyValues);
    before = pending;
  }
  /// Adds a piece of `pieceKeys` keys to a tile. Tiles with a mask stay alone: an element function
  /// knows one place.
  template <class CopyKeys, class CopyValues>
  __device__ void pack(int kind, int a0, int a1, int a2, CopyKeys &&copyKeys,
                       CopyValues &&copyValues) {
    if (filled == C::pieces || (filled > 0 && (kind != pending.kind || !C::isPlain(kind))))
      close(0, copyKeys, copyValues);
    if (filled == 0)
      pending = {kind, {a0, a1, a2}};
    if (threadIdx.x % 32 == filled)
      piece[0] = a0, piece[1] = a1, piece[2] = a2;
    ++filled;
  }
  /// Copies the keys of a packed tile, a piece a lane, and the values of the one before it. Pieces
  /// that are missing come from outside the tensors, as zeros, so that no old bits meet the weights
  /// of hidden keys.
  template <class CopyKeys, class CopyValues>
  __device__ void close(int last, CopyKeys &&copyKeys, CopyValues &&copyValues) {
    constexpr int outside = 1 << 29;
    const int lane = threadIdx.x % 32;
    if (lane >= filled)
      piece[0] = piece[1] = piece[2] = outside;
    barrierWait(shared.keyEmpty(keys.slot), keys.lap ^ 1);
    if (isLeader()) {
      note(pending.kind | filled << piecesShift | last);
      barrierArriveExpect(shared.keyFull(keys.slot), Shared<C>::keySlotBytes);
    }
    __syncwarp();
    if (lane < C::pieces)
      copyKeys(shared.key(keys.slot) + lane * C::pieceKeys * 128, shared.keyFull(keys.slot),
               pending.kind, piece[0], piece[1], piece[2]);
    keys.advance();
    if (held > 0)
      putValues(copyValues);
    filled = 0;
    held = 1;
    before = pending;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
      pieceBefore[axis] = piece[axis];
  }
  template <class CopyValues> __device__ void putValues(CopyValues &&copyValues) {
    const int lane = threadIdx.x % 32;
    barrierWait(shared.valueEmpty(values.slot), values.lap ^ 1);
    if (isLeader())
      barrierArriveExpect(shared.valueFull(values.slot), Shared<C>::valueSlotBytes);
    __syncwarp();
    if (lane < C::pieces)
      copyValues(shared.value(values.slot) + lane * C::pieceKeys * 128,
                 shared.valueFull(values.slot), before.kind, pieceBefore[0], pieceBefore[1],
                 pieceBefore[2]);
    values.advance();
  }
  template <class CopyValues> __device__ void feedValues(CopyValues &&copyValues) {
    barrierWait(shared.valueEmpty(values.slot), values.lap ^ 1);
    if (isLeader()) {
      barrierArriveExpect(shared.valueFull(values.slot), Shared<C>::valueSlotBytes);
      copyValues(shared.value(values.slot), shared.valueFull(values.slot), before.kind,
                 before.at[0], before.at[1], before.at[2]);
    }
    values.advance();
  }
};
