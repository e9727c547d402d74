// Lacuna's device library: tiles that are left out by a look at their scores.
//
// The 64 rows of a warpgroup vote on each tile once its scores are there. A tile that all of them
// let go costs neither exponentials nor a second product; its values arrive all the same, and are
// dropped. After the pipeline of attention, whose consumer this one is.

/// What a thread knows about the blocks of its two rows, for one item.
struct SkipRows {
  /// Tiles whose scores, as powers of two, lie below it may be skipped.
  float limit[2];
  /// Rows behind the last query let everything go.
  bool isOutside[2];
  /// Marks of the group's query block, `step` bytes from one of its `blocks` key blocks to the
  /// next; null for a group without queries.
  signed char *marks;
  int blocks, step;

  __device__ bool isTaken(int block) const { return marks[i64(block) * step] != 0; }
};

template <class C> struct SkippingConsumer : Consumer<C> {
  using Consumer<C>::Consumer;
  using Consumer<C>::shared;
  using Consumer<C>::group;
  using Consumer<C>::keys;
  using Consumer<C>::values;
  using Consumer<C>::output;
  using Consumer<C>::maximum;
  using Consumer<C>::sum;
  static_assert(C::pieces == 1, "marks are those of whole tiles");

  /// As `Consumer::run`; `rows(id)` returns the SkipRows of an item.
  template <class Open, class Close, class Rows>
  __device__ void run(float scale, Open &&open, Close &&close, Rows &&rows) {
    this->forEachItem(
        [&](int id) {
          const SkipRows mine = rows(id);
          clear(mine);
          attend(scale, open(id), mine);
          // All warps have to see the marks before they compute rows again.
          if (C::masked)
            namedBarrierSync(voteBarrier(), 128);
        },
        close);
  }

private:
  /// Barriers of turns have the lower numbers.
  __device__ int voteBarrier() const { return 8 + group; }
  __device__ static bool isMarking() { return threadIdx.x % 128 < 32; }
  __device__ void clear(const SkipRows &rows) const {
    if (!isMarking() || !rows.marks)
      return;
    for (int block = this->lane(); block < rows.blocks; block += 32)
      rows.marks[i64(block) * rows.step] = 0;
    __syncwarp();
  }
  __device__ void mark(const SkipRows &rows, const TileNote &note) const {
    if (isMarking() && rows.marks && this->lane() == 0)
      rows.marks[i64(note.at[0] / C::keys) * rows.step] = 1;
  }

  /// The largest score of each row, NaN where there is one.
  __device__ static void findTops(const float (&scores)[C::keys / 2], float (&top)[2]) {
    top[0] = top[1] = -INFINITY_F32;
#pragma unroll
    for (int i = 0; i < C::keys / 2; ++i)
      top[i / 2 % 2] = maxOrNan(top[i / 2 % 2], scores[i]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      top[r] = maxOrNan(top[r], __shfl_xor_sync(~0u, top[r], 1));
      top[r] = maxOrNan(top[r], __shfl_xor_sync(~0u, top[r], 2));
    }
  }
  /// Whether some row of the warpgroup needs a tile with these tops. Comparisons with NaN are
  /// false, so that it is needed.
  __device__ bool isNeeded(float scale, const float (&top)[2], const SkipRows &rows) const {
    bool agrees = true;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      bool isBelow = rows.isOutside[r] || top[r] == -INFINITY_F32 || top[r] * scale < rows.limit[r];
      if (C::hasMargin)
        isBelow = isBelow || (maximum[r] - top[r]) * scale > C::margin;
      agrees = agrees && isBelow;
    }
    // A reduction tells the assembler that all lanes go one way, as for notes.
    return __reduce_or_sync(~0u, !namedBarrierAll(voteBarrier(), 128, agrees)) != 0;
  }
  /// Scores become weights; what came before is to be multiplied by `correction`.
  __device__ void absorb(float scale, const float (&top)[2], float (&scores)[C::keys / 2],
                         float (&correction)[2]) {
    float shift[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float before = maximum[r];
      maximum[r] = maxOrNan(before, top[r]);
      // A row that has seen no key keeps -inf; its shift must stay finite.
      shift[r] = maximum[r] == -INFINITY_F32 ? 0.f : maximum[r] * scale;
      correction[r] = before == -INFINITY_F32 ? 0.f : exp2Fast(before * scale - shift[r]);
      sum[r] *= correction[r];
    }
#pragma unroll
    for (int i = 0; i < C::keys / 2; ++i) {
      scores[i] = exp2Fast(__fmaf_rn(scores[i], scale, -shift[i / 2 % 2]));
      sum[i / 2 % 2] += scores[i];
    }
  }
  __device__ void rescale(const float (&correction)[2]) {
#pragma unroll
    for (int i = 0; i < C::valueDim / 2; ++i)
      output[i] *= correction[i / 2 % 2];
  }
  /// Two loops would share the descriptors of all steps, in registers that there are not.
  __device__ void issueScores(float (&scores)[C::keys / 2]) {
    Consumer<C>::issueScores(scores, computedHere(this->queries()));
  }
  /// The slot goes back to the producer only once its copy has arrived.
  __device__ void dropValues() {
    barrierWait(shared.valueFull(values.slot), values.lap);
    this->releaseValues();
  }

  /// Tiles one after the other, until one is needed or the last one is not. `owed` says whether
  /// values of a tile before must be dropped; returns whether a tile is needed.
  template <class Elements>
  __device__ bool search(float scale, Elements &&elements, const SkipRows &rows, bool owed,
                         TileNote &note, float (&scores)[C::keys / 2], float (&top)[2]) {
    while (true) {
      barrierWait(shared.keyFull(keys.slot), keys.lap);
      note = this->read();
      if (note.kind == endOfItem) {
        this->releaseKeys();
        this->releaseOutput();
        return false;
      }
      this->turnBegin();
      pin(scores);
      wgmmaFence();
      issueScores(scores);
      wgmmaCommit();
      this->turnEnd();
      if (owed)
        dropValues();
      wgmmaWait<0>();
      pin(scores);
      this->releaseKeys();
      this->releaseOutput();
      this->mask(note, elements, scores);
      findTops(scores, top);
      if (isNeeded(scale, top, rows))
        return true;
      owed = true;
      if (note.kind & lastOfItem) {
        dropValues();
        return false;
      }
    }
  }

  /// Runs all tiles of one item. Weights of a needed tile meet their values beside the scores of
  /// the next tile, as in `Consumer::attend`.
  template <class Elements>
  __device__ void attend(float scale, Elements &&elements, const SkipRows &rows) {
    float scores[C::keys / 2], correction[2], top[2];
    u32 weights[C::keys / 4];
    maximum[0] = maximum[1] = -INFINITY_F32;
    sum[0] = sum[1] = 0.f;
    barrierWait(shared.queryFull(this->item.slot), this->item.lap);
    TileNote note;
    bool first = true, owed = false;
    while (search(scale, elements, rows, owed, note, scores, top)) {
      mark(rows, note);
      absorb(scale, top, scores, correction);
      if (!first)
        rescale(correction);
      this->convert(scores, weights);
      bool isHeld = true;
      while (isHeld && !(note.kind & lastOfItem)) {
        barrierWait(shared.keyFull(keys.slot), keys.lap);
        note = this->read();
        this->turnBegin();
        pin(scores);
        wgmmaFence();
        issueScores(scores);
        wgmmaCommit();
        barrierWait(shared.valueFull(values.slot), values.lap);
        // Without it the assembler adds one, and refuses to where it cannot see that warps go
        // together.
        wgmmaFence();
        this->issueOutput(weights, first);
        first = false;
        wgmmaCommit();
        this->turnEnd();
        wgmmaWait<1>();
        pin(scores);
        this->releaseKeys();
        this->mask(note, elements, scores);
        findTops(scores, top);
        isHeld = isNeeded(scale, top, rows);
        correction[0] = correction[1] = 1.f;
        if (isHeld) {
          mark(rows, note);
          absorb(scale, top, scores, correction);
        }
        // As in `Consumer::attend`: the branch keeps the softmax beside the product.
        const bool isChanged = correction[0] != 1.f || correction[1] != 1.f;
        const bool never = sum[0] + sum[1] < 0.f;
        if (__any_sync(~0u, isChanged || never)) {
          wgmmaWait<0>();
          pin(output);
          rescale(correction);
        } else {
          wgmmaWait<0>();
          pin(output);
        }
        this->releaseValues();
        this->convert(scores, weights);
      }
      if (isHeld) {
        barrierWait(shared.valueFull(values.slot), values.lap);
        wgmmaFence();
        this->issueOutput(weights, first);
        wgmmaCommit();
        wgmmaWait<0>();
        pin(output);
        this->releaseValues();
        return;
      }
      owed = true;
      if (note.kind & lastOfItem) {
        dropValues();
        return;
      }
    }
  }
};
