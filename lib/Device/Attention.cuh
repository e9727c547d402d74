// Lacuna's device library: who attends in the forward pipeline.
//
// Consumer warpgroups own 64 query rows each. A consumer issues the scores of tile t+1 before it
// turns tile t into probabilities, so that the tensor cores work while the softmax runs. The
// generated kernel supplies the element function.

/// One consumer warpgroup. Thread t of it holds rows t/4 + {0, 8} of its warp's 16, and of every
/// group of 8 columns the two at 2 (t mod 4).
template <class C> struct Consumer {
  const Shared<C> &shared;
  /// 0 .. consumers - 1.
  int group;
  Cursor<C::querySlots> item;
  Cursor<C::stages> keys, values;
  /// The query slot through which an output is leaving.
  int unreleased = -1;

  float output[C::valueDim / 2];
  float maximum[2], sum[2];

  __device__ Consumer(const Shared<C> &shared, int group) : shared(shared), group(group) {}
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32 % 4; }
  /// First of this thread's two rows, within the tile.
  __device__ int row() const { return group * 64 + warp() * 16 + lane() / 4; }

  /// Runs all items. `open(id)` returns the element function of an item, elements(kind, at,
  /// scores), which applies masks and score functions; `close(id)` calls `finish`. `scale` turns a
  /// score into a power of two.
  template <class Open, class Close> __device__ void run(float scale, Open &&open, Close &&close) {
    forEachItem([&](int id) { attend(scale, open(id)); }, close);
  }

  /// Divides by the row sums and writes the output tile through the query's slot, 16 rows a warp.
  /// `copy(source, row, panel)` issues one store. `lse(row, value)` takes natural logarithms.
  /// `scale` is the one given to run; `sinkPower` the base-2 logarithm of the sink's weight.
  /// `recompute(row, visit)` calls visit(live, score, values) for all pairs of a row, 32 at a time.
  template <class Copy, class Lse, class Recompute>
  __device__ void finish(float scale, bool hasSink, float sinkPower, Copy &&copy, Lse &&lse,
                         Recompute &&recompute) {
    float factor[2];
    bool empty[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = sum[r];
      total += __shfl_xor_sync(~0u, total, 1);
      total += __shfl_xor_sync(~0u, total, 2);
      empty[r] = maximum[r] == -INFINITY_F32;
      float power = empty[r] ? -INFINITY_F32 : maximum[r] * scale + log2Fast(total);
      factor[r] = reciprocal(total);
      if (hasSink) {
        float top = fmaxf(power, sinkPower);
        float whole = top == -INFINITY_F32
                          ? -INFINITY_F32
                          : top + log2Fast(exp2Fast(power - top) + exp2Fast(sinkPower - top));
        factor[r] *= exp2Fast(power - whole);
        power = whole;
      }
      if (lane() % 4 == 0)
        lse(row() + 8 * r, power * ln2);
    }
    u32 mine = shared.query(item.slot) + group * 64 * 128 + warp() * 16 * 128;
    int matrixRow = lane() % 16, half = lane() / 16;
    // The output of an empty row is 0, whatever the registers hold: an item without tiles leaves
    // them as they were.
    auto pair = [&](int i, int r) {
      u32 both = packPair<typename C::Element>(output[i] * factor[r], output[i + 1] * factor[r]);
      return empty[r] ? 0 : both;
    };
#pragma unroll
    for (int i = 0; i < C::valueDim / 8; i += 2) {
      u32 address = mine + i / 8 * Shared<C>::queryPanelBytes + matrixRow * 128 +
                    ((i % 8 + half) ^ (matrixRow % 8)) * 16;
      bool more = i + 1 < C::valueDim / 8;
      storeMatrix(address, pair(4 * i, 0), pair(4 * i + 2, 1), more ? pair(4 * i + 4, 0) : 0,
                  more ? pair(4 * i + 6, 1) : 0);
    }
    if (C::masked)
      repair(scale, factor, mine, recompute);
    fenceAsyncShared();
    __syncwarp();
    if (lane() == 0) {
#pragma unroll
      for (int panel = 0; panel < Shared<C>::valuePanels; ++panel)
        copy(mine + panel * Shared<C>::queryPanelBytes, group * 64 + warp() * 16, panel);
      copyOutCommit();
    }
  }

protected:
  /// Calls `attendTo(id)` and `close(id)` for each item.
  template <class Attend, class Close>
  __device__ void forEachItem(Attend &&attendTo, Close &&close) {
    // Gives the first turn to the first group.
    if (C::pingPong && group == C::consumers - 1)
      namedBarrierArrive(1, 256);
    for (int id; (id = next()) >= 0; item.advance()) {
      attendTo(id);
      close(id);
      if (lane() == 0)
        barrierArrive(shared.itemEmpty(item.slot));
      unreleased = item.slot;
      if (C::querySlots == 1)
        releaseOutput();
    }
    if (lane() == 0)
      copyOutWait();
  }
  /// Rows of this warp that masked values have spoilt: written again, in `panels`.
  template <class Recompute>
  __device__ void repair(float scale, const float (&factor)[2], u32 panels, Recompute &&recompute) {
    // 0 for a finite row, else NaN.
    float probe[2] = {0.f, 0.f};
#pragma unroll
    for (int i = 0; i < C::valueDim / 2; ++i)
      probe[i / 2 % 2] = __fmaf_rn(output[i], 0.f, probe[i / 2 % 2]);
    u32 spoilt[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      bool isSound = probe[r] == 0.f || maximum[r] == -INFINITY_F32 || !(fabsf(factor[r]) < 1e38f);
      spoilt[r] = __ballot_sync(~0u, !isSound);
    }
    if (!(spoilt[0] | spoilt[1]))
      return;
    __syncwarp();
#pragma unroll 1
    for (int row = 0; row < 16; ++row) {
      const int first = row % 8 * 4;
      if (!((row < 8 ? spoilt[0] : spoilt[1]) >> first & 0xf))
        continue;
      const float shift = __shfl_sync(~0u, row < 8 ? maximum[0] : maximum[1], first) * scale;
      const float weight = __shfl_sync(~0u, row < 8 ? factor[0] : factor[1], first);
      RowSum<typename C::Element, C::valueDim> sum;
      recompute(group * 64 + warp() * 16 + row,
                [&](bool live, float score, const unsigned short *values) {
                  sum.add(live, exp2Fast(score * scale - shift) * weight, values);
                });
      sum.store(panels, Shared<C>::queryPanelBytes, row);
    }
  }
  /// The next work item, negative at the end.
  __device__ int next() {
    barrierWait(shared.itemFull(item.slot), item.lap);
    int id;
    loadFirst(id, shared.itemAddress(item.slot));
    return shareFirst(id);
  }
  /// Runs all tiles of one item.
  template <class Elements> __device__ void attend(float scale, Elements &&elements) {
    float scores[C::keys / 2], correction[2];
    u32 weights[C::keys / 4];
    maximum[0] = maximum[1] = -INFINITY_F32;
    sum[0] = sum[1] = 0.f;
    barrierWait(shared.queryFull(item.slot), item.lap);

    awaitFull(shared.keyFull(keys.slot), keys.lap);
    TileNote note = read();
    if (note.kind == endOfItem) {
      releaseKeys();
      releaseOutput();
      return;
    }
    turnBegin();
    wgmmaFence();
    issueScores(scores);
    wgmmaCommit();
    turnEnd();
    wgmmaWait<0>();
    pin(scores);
    if constexpr (!Shared<C>::isGathered)
      releaseKeys();
    releaseOutput();
    softmax</*First=*/true>(scale, mask(note, elements, scores), scores, correction);
    convert(scores, weights);

    bool first = true;
    while (!(note.kind & lastOfItem)) {
      awaitFull(shared.keyFull(keys.slot), keys.lap);
      note = read();
      turnBegin();
      pin(scores);
      wgmmaFence();
      issueScores(scores);
      wgmmaCommit();
      awaitFull(shared.valueFull(values.slot), values.lap);
      issueOutput(weights, first);
      first = false;
      wgmmaCommit();
      turnEnd();
      wgmmaWait<1>();
      pin(scores);
      if constexpr (!Shared<C>::isGathered)
        releaseKeys();
      softmax</*First=*/false>(scale, mask(note, elements, scores), scores, correction);
      // The softmax has to run beside the product. Nothing but a branch that depends on its last
      // instruction keeps the assembler from moving the wait in front of all of it: sums of
      // exponentials are never negative, and it does not know.
      const bool isChanged = correction[0] != 1.f || correction[1] != 1.f;
      const bool never = sum[0] + sum[1] < 0.f;
      // Once the maxima have settled, most steps change none of the warp's.
      if (__any_sync(~0u, isChanged || never)) {
        wgmmaWait<0>();
        pin(output);
#pragma unroll
        for (int i = 0; i < C::valueDim / 2; ++i)
          output[i] *= correction[i / 2 % 2];
      } else {
        wgmmaWait<0>();
        pin(output);
      }
      releaseValues();
      convert(scores, weights);
    }
    awaitFull(shared.valueFull(values.slot), values.lap);
    wgmmaFence();
    issueOutput(weights, first);
    wgmmaCommit();
    wgmmaWait<0>();
    pin(output);
    releaseValues();
  }
  /// The note beside the keys. The lane that gives the slot back reads it, so that the next note is
  /// written after the read without a fence among lanes.
  __device__ TileNote read() const {
    TileNote note;
    loadFirst(note.kind, note.at[0], note.at[1], note.at[2], shared.noteAddress(keys.slot));
    return {shareFirst(note.kind),
            {shareFirst(note.at[0]), shareFirst(note.at[1]), shareFirst(note.at[2])}};
  }
  /// The first lane's value; the others have 0. A reduction, unlike a shuffle, tells the assembler
  /// that all lanes get the same: what depends on it stays in uniform registers.
  __device__ static int shareFirst(int value) { return __reduce_or_sync(~0u, unsigned(value)); }
  /// Applies the element function, and hides the pieces that a packed tile lacks. What it reads of
  /// gathered keys lies in their slot, which is given back here. Returns what is to be added to all
  /// scores.
  template <class Elements>
  __device__ float mask(const TileNote &note, Elements &&elements, float (&scores)[C::keys / 2]) {
    const int kind = note.kind & (C::pieces == 1 ? ~lastOfItem : kindMask);
    float offset = 0.f;
    if constexpr (Shared<C>::isGathered) {
      elements(kind, shared.places(keys.slot), scores);
      __syncwarp();
      releaseKeys();
    } else if constexpr (C::hasOffsets) {
      offset = elements(kind, note.at, scores);
    } else {
      elements(kind, note.at, scores);
    }
    if constexpr (C::pieces > 1) {
      const int present = (note.kind & ~lastOfItem) >> piecesShift;
      if (present == C::pieces)
        return offset;
      const LiveBits<C::keys> live = innerAxis<C::keys, C::keys, int>(0, 0, present * C::pieceKeys);
      hide<C::keys>(live, 0, scores);
      hide<C::keys>(live, 1, scores);
    }
    return offset;
  }
  /// Waits for a slot to be filled. Rows that threads have copied are seen by matrix instructions
  /// behind a fence.
  __device__ static void awaitFull(u32 barrier, u32 lap) {
    barrierWait(barrier, lap);
    if constexpr (Shared<C>::isGathered)
      fenceAsyncShared();
  }
  // Every warp releases for itself: warps of a group may drift apart by a whole tile.
  __device__ void releaseKeys() {
    if (lane() == 0)
      barrierArrive(shared.keyEmpty(keys.slot));
    keys.advance();
  }
  __device__ void releaseValues() {
    if (lane() == 0)
      barrierArrive(shared.valueEmpty(values.slot));
    values.advance();
  }
  /// Gives the slot of the item before back to the producer, once its output has been read.
  __device__ void releaseOutput() {
    if (unreleased < 0)
      return;
    if (lane() == 0) {
      copyOutWaitRead();
      barrierArrive(shared.queryEmpty(unreleased));
    }
    unreleased = -1;
  }
  /// With ping-pong, warpgroups issue matrix instructions in turn (named barriers 1, 2, ...).
  __device__ void turnBegin() {
    if (C::pingPong)
      namedBarrierSync(1 + group, 256);
  }
  __device__ void turnEnd() {
    if (C::pingPong)
      namedBarrierArrive(1 + (group + 1) % C::consumers, 256);
  }

  /// Where this group's queries are.
  __device__ u32 queries() const { return shared.query(item.slot) + group * 64 * 128; }
  __device__ void issueScores(float (&scores)[C::keys / 2]) { issueScores(scores, queries()); }
  __device__ void issueScores(float (&scores)[C::keys / 2], u32 queries) {
    u64 q = operand(queries, 0);
    u64 k = operand(shared.key(keys.slot), 0);
#pragma unroll
    for (int step = 0; step < (C::headDim + 15) / 16; ++step)
      wgmmaShared(scores, q + (step / 4 * Shared<C>::queryPanelBytes + step % 4 * 32) / 16,
                  k + (step / 4 * Shared<C>::keyPanelBytes + step % 4 * 32) / 16, step != 0);
  }
  __device__ void issueOutput(const u32 (&weights)[C::keys / 4], bool first) {
    u64 v = operand(shared.value(values.slot), Shared<C>::keyPanelBytes);
#pragma unroll
    for (int step = 0; step < C::keys / 16; ++step)
      wgmmaRegisters(output, weights[4 * step], weights[4 * step + 1], weights[4 * step + 2],
                     weights[4 * step + 3], v + step * 16 * 128 / 16, step != 0 || !first);
  }

  template <bool First>
  __device__ void softmax(float scale, float offset, float (&scores)[C::keys / 2],
                          float (&correction)[2]) {
    float top[2] = {maximum[0], maximum[1]};
    if (C::hasOffsets)
      top[0] = top[1] = -INFINITY_F32;
#pragma unroll
    for (int i = 0; i < C::keys / 2; ++i)
      top[i / 2 % 2] = fmaxf(top[i / 2 % 2], scores[i]);
    float shift[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], 1));
      top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], 2));
      if (C::hasOffsets)
        top[r] = fmaxf(maximum[r], top[r] + offset);
      // A row that has seen no key keeps -inf; its shift must stay finite.
      shift[r] = top[r] == -INFINITY_F32 ? 0.f : top[r] * scale;
      if (!First) {
        correction[r] = exp2Fast(maximum[r] * scale - shift[r]);
        sum[r] *= correction[r];
      }
      maximum[r] = top[r];
      if (C::hasOffsets)
        shift[r] -= offset * scale;
    }
#pragma unroll
    for (int i = 0; i < C::keys / 2; ++i) {
      scores[i] = exp2Fast(__fmaf_rn(scores[i], scale, -shift[i / 2 % 2]));
      sum[i / 2 % 2] += scores[i];
    }
  }
  __device__ void convert(const float (&scores)[C::keys / 2], u32 (&weights)[C::keys / 4]) {
#pragma unroll
    for (int i = 0; i < C::keys / 4; ++i)
      weights[i] = packPair<typename C::Element>(scores[2 * i], scores[2 * i + 1]);
  }
};
