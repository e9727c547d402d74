//===- Pipeline.h - what Producer.cuh and Attention.cuh compute, on a host --===//
//
// The producer's and the consumers' sides with the members that kernels call. The producer runs
// first and writes down every tile; each consumer thread then contributes its scores; rows are
// summed in f64; each consumer thread at last stores its part. Pairs that `recompute` visits must
// give the same rows.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/Emulator/Device.h"

struct Tile {
  int kind;
  int at[3];
  std::vector<float> keys, values;
  /// Of gathered keys; pieces that the tile lacks have none.
  std::vector<u32> places;
};
static constexpr int placeBits = 29;
static constexpr u32 placeMask = (1u << placeBits) - 1;
/// One query tile of one head on its way through a block.
struct WorkItem {
  int id;
  std::vector<float> query;
  std::vector<Tile> tiles;
  float scale = 0;
  /// Per tile, rows x keys.
  std::vector<std::vector<float>> scores;
  /// Per row: the largest power of two and the sum of the others by it; weighted values.
  std::vector<double> top, sum, output, recomputedSum, recomputed;
  /// Where tiles may be skipped: what each row knows (SkipRows), and per group of 64 rows its
  /// marks.
  struct RowLimit {
    float limit;
    bool isOutside;
  };
  struct Marks {
    signed char *at;
    int blocks, step;
  };
  std::vector<RowLimit> limits;
  std::vector<Marks> marks;
};
static std::vector<WorkItem> items;
enum class Phase { Produce, Score, Store };
static Phase phase;

template <class C> struct Shared {
  static constexpr int panels(int columns) { return (columns + 63) / 64; }
  static constexpr int queryPanelBytes = C::rows * 128, keyPanelBytes = C::keys * 128;
  static constexpr int queryPanels = panels(C::headDim), valuePanels = panels(C::valueDim);
  static constexpr int bytes = 0;
  u32 base;
  unsigned char *memory;
  void initialize() const {}
};

/// Rows of `columns` channels out of staged panels.
template <class Element> std::vector<float> readStage(int rows, int columns, int panelBytes) {
  std::vector<float> result;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      unsigned short bits;
      std::memcpy(&bits, &stage[column / 64 * panelBytes + row * 128 + column % 64 * 2], 2);
      result.push_back(toFloat<Element>(bits));
    }
  return result;
}

template <class C> struct Producer {
  const Shared<C> &shared;

  static i64 take(int *counter) { return i64(atomicAdd(counter, 1)) + gridDim.x; }
  void publish(int id) {
    if (id >= 0)
      items.emplace_back().id = id;
  }
  template <class Copy> void query(Copy &&copy) {
    copy(0u, 0u);
    items.back().query =
        readStage<typename C::Element>(C::rows, C::headDim, Shared<C>::queryPanelBytes);
  }
  template <class CopyKeys, class CopyValues>
  void tile(int kind, int a0, int a1, int a2, CopyKeys &&copyKeys, CopyValues &&copyValues) {
    Tile tile{kind, {a0, a1, a2}, {}, {}};
    copyKeys(0u, 0u, kind, a0, a1, a2);
    tile.keys = readStage<typename C::Element>(C::keys, C::headDim, Shared<C>::keyPanelBytes);
    copyValues(0u, 0u, kind, a0, a1, a2);
    tile.values = readStage<typename C::Element>(C::keys, C::valueDim, Shared<C>::keyPanelBytes);
    items.back().tiles.push_back(std::move(tile));
  }
  template <class... Copies> void end(Copies &&...) {}
};

//===----------------------------------------------------------------------===//
// Long items first
//===----------------------------------------------------------------------===//

static constexpr int finders = 96;

/// One thread looks at all items, and leaves out more of them than a GPU does, so that few items
/// have long ones among them.
template <int Capacity> struct LongItems {
  std::vector<u32> ids;

  static LongItems &at(unsigned char *, int) {
    static LongItems found;
    return found;
  }
  template <class Length, class Meet>
  void find(int, u32 first, u32 items, Length &&length, Meet &&) {
    u64 total = 0;
    for (u32 id = 0; id < items; ++id)
      total += length(id);
    ids.clear();
    for (u32 id = first; id < items; ++id)
      if (length(id) > total / items)
        ids.push_back(id);
    std::stable_sort(ids.begin(), ids.end(), [&](u32 a, u32 b) { return length(a) > length(b); });
  }
};
template <int Capacity> struct ItemOrder {
  static constexpr int barrier = 15;

  static bool matters(i64 items) { return items > gridDim.x; }
  template <class Take>
  static i64 next(const LongItems<Capacity> &found, i64, i64 items, Take &&take) {
    if (!matters(items))
      return take();
    for (;;) {
      i64 taken = take();
      auto rank = static_cast<u64>(taken - gridDim.x);
      if (rank < found.ids.size())
        return found.ids[rank];
      i64 id = taken - static_cast<i64>(found.ids.size());
      if (std::find(found.ids.begin(), found.ids.end(), id) == found.ids.end() || id >= items)
        return id;
    }
  }
};

//===----------------------------------------------------------------------===//
// Gathered keys
//===----------------------------------------------------------------------===//

struct KeyRows {
  const unsigned short *base;
  u32 stride;
  int count;
};

/// The producer's one thread runs every round of a loop, a consumer's those of its lane.
inline bool isMyRound(i64 round) {
  return phase == Phase::Produce || round % 32 == threadIdx.x % 32;
}
template <class Index, class Load, class Visit>
void forLanesAhead(Index lower, Index upper, Index step, Load &&load, Visit &&visit) {
  for (Index i = lower; i < upper; i += step)
    if (isMyRound((i - lower) / step))
      visit(i, load(i), true);
}
template <class Index, class Visit>
void forSpread(Index lower, Index upper, Index step, Visit &&visit) {
  for (Index i = lower; i < upper; i += step)
    if (isMyRound((i - lower) / step))
      visit(i, true);
}

template <class Index, class Visit>
void forRounds(Index lower, Index upper, bool isThere, Visit &&visit) {
  for (Index i = lower; isThere && i < upper; ++i)
    visit(i, true);
}

template <class C> struct Gatherer {
  const Shared<C> &shared;
  bool isFirst = true;

  int next(int *counter, i64 count) {
    i64 id = isFirst ? i64(blockIdx.x) : Producer<C>::take(counter);
    isFirst = false;
    if (id >= count)
      return -1;
    items.emplace_back().id = static_cast<int>(id);
    return static_cast<int>(id);
  }
  template <class Copy> void query(Copy &&copy) { Producer<C>{shared}.query(copy); }
  void tile(int kind, bool isHere, int at, const KeyRows &keyRows, const KeyRows &valueRows) {
    if (!isHere)
      return;
    std::vector<Tile> &tiles = items.back().tiles;
    if (tiles.empty() || tiles.back().places.size() == C::keys)
      tiles.push_back({0, {}, {}, {}, {}});
    Tile &tile = tiles.back();
    if (!C::isPlain(kind))
      tile.kind |= 1 << kind;
    for (int key = at; key < at + C::pieceKeys; ++key) {
      tile.places.push_back(static_cast<u32>(key) | static_cast<u32>(kind) << placeBits);
      addRow<C::headDim>(tile.keys, keyRows, key);
      addRow<C::valueDim>(tile.values, valueRows, key);
    }
  }
  void end(const KeyRows &, const KeyRows &) {}

private:
  template <int Channels>
  static void addRow(std::vector<float> &rows, const KeyRows &source, int key) {
    auto *row =
        reinterpret_cast<const unsigned char *>(source.base) + u64(u32(key)) * source.stride;
    for (int channel = 0; channel < Channels; ++channel) {
      unsigned short bits = 0;
      if (key < source.count)
        std::memcpy(&bits, row + 2 * channel, 2);
      rows.push_back(toFloat<typename C::Element>(bits));
    }
  }
};

inline float dot(const float *a, const float *b, int count) {
#ifdef __clang__
#pragma clang fp reassociate(on)
#endif
  float sum = 0.f;
  for (int i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

template <class C> struct Consumer {
  const Shared<C> &shared;
  int group;
  WorkItem *item = nullptr;

  Consumer(const Shared<C> &shared, int group) : shared(shared), group(group) {}
  static int lane() { return threadIdx.x % 32; }
  static int warp() { return threadIdx.x / 32 % 4; }
  int row() const { return group * 64 + warp() * 16 + lane() / 4; }

  template <class Open, class Close> void run(float scale, Open &&open, Close &&close) {
    for (WorkItem &next : items) {
      item = &next;
      item->scale = scale;
      if (phase == Phase::Score)
        score(open(item->id));
      else
        close(item->id);
    }
  }

  /// This thread's scores of all tiles: rows row() + {0, 8}, and two of every 8 keys.
  template <class Elements> void score(Elements &&elements) {
    item->scores.resize(item->tiles.size());
    for (size_t number = 0; number < item->tiles.size(); ++number) {
      Tile &tile = item->tiles[number];
      std::vector<float> &all = item->scores[number];
      all.resize(C::rows * C::keys);
      auto rowOf = [&](int i) { return row() + i / 2 % 2 * 8; };
      auto keyOf = [&](int i) { return i / 4 * 8 + lane() % 4 * 2 + i % 2; };
      // Packed tiles come one piece at a time; gathered ones lack keys at their end.
      int present = C::pieceKeys;
      if constexpr (C::isGathered) {
        present = static_cast<int>(tile.places.size());
        tile.keys.resize(C::keys * C::headDim);
        tile.values.resize(C::keys * C::valueDim);
      }
      float scores[C::keys / 2];
      for (int i = 0; i < C::keys / 2; ++i)
        scores[i] =
            dot(&item->query[rowOf(i) * C::headDim], &tile.keys[keyOf(i) * C::headDim], C::headDim);
      if constexpr (C::isGathered) {
        std::vector<u32> places(tile.places);
        places.resize(C::keys);
        elements(tile.kind, places.data(), scores);
      } else if constexpr (C::hasOffsets) {
        float offset = elements(tile.kind, tile.at, scores);
        for (float &score : scores)
          score += offset;
      } else {
        elements(tile.kind, tile.at, scores);
      }
      for (int i = 0; i < C::keys / 2; ++i)
        if (keyOf(i) >= present)
          scores[i] = -INFINITY;
      for (int i = 0; i < C::keys / 2; ++i)
        all[rowOf(i) * C::keys + keyOf(i)] = scores[i];
    }
  }

  template <class Copy, class Lse, class Recompute>
  void finish(float scale, bool hasSink, float sinkPower, Copy &&copy, Lse &&lse,
              Recompute &&recompute) {
    for (int r = 0; r < 2; ++r)
      if (int at = row() + 8 * r; lane() % 4 == 0)
        lse(at, static_cast<float>(totalPower(at, hasSink, sinkPower) * ln2));
    int first = group * 64 + warp() * 16;
    for (int at = first; at < first + 16; ++at)
      recompute(at, [&](bool live, float score, const unsigned short *values) {
        if (live)
          addRecomputed(at, std::exp2(double(score) * scale - item->top[at]), values);
      });
    if (lane() != 0)
      return;
    for (int panel = 0; panel < Shared<C>::valuePanels; ++panel) {
      for (int row = 0; row < 16; ++row)
        storeRow(first + row, panel,
                 std::exp2(power(first + row) - totalPower(first + row, hasSink, sinkPower)));
      copy(0u, first, panel);
    }
  }

  /// Base-2 logarithm of a row's sum, without and with the sink; -inf for an empty row.
  double power(int row) const {
    return item->sum[row] == 0 ? -INFINITY : item->top[row] + std::log2(item->sum[row]);
  }
  double totalPower(int row, bool hasSink, double sinkPower) const {
    double own = power(row);
    return !hasSink ? own : std::log2(std::exp2(own) + std::exp2(sinkPower));
  }
  void storeRow(int row, int panel, double share) const {
    for (int column = 0; column < 64; ++column) {
      int channel = panel * 64 + column;
      bool isZero = channel >= C::valueDim || item->sum[row] == 0;
      double value =
          isZero ? 0 : item->output[row * C::valueDim + channel] / item->sum[row] * share;
      auto bits = static_cast<unsigned short>(
          packPair<typename C::Element>(static_cast<float>(value), 0.f));
      std::memcpy(&stage[row % 16 * 128 + column * 2], &bits, 2);
    }
  }
  void addRecomputed(int row, double weight, const unsigned short *values) {
    item->recomputedSum[row] += weight;
    for (int channel = 0; channel < C::valueDim; ++channel)
      item->recomputed[row * C::valueDim + channel] +=
          weight * toFloat<typename C::Element>(values[channel]);
  }
};

/// Notes what `rows(id)` says of each thread's rows before it goes on as other consumers do.
template <class C> struct SkippingConsumer : Consumer<C> {
  using Consumer<C>::Consumer;
  template <class Open, class Close, class Rows>
  void run(float scale, Open &&open, Close &&close, Rows &&rows) {
    for (WorkItem &item : items) {
      item.limits.resize(C::rows);
      item.marks.resize(C::rows / 64);
      auto mine = rows(item.id);
      for (int r = 0; r < 2; ++r)
        item.limits[this->row() + 8 * r] = {mine.limit[r], mine.isOutside[r]};
      item.marks[this->group] = {mine.marks, mine.blocks, mine.step};
    }
    Consumer<C>::run(scale, open, close);
  }
};

/// Hides the scores of tiles that 64 rows let go, and marks the others.
template <class C> void skipTiles(WorkItem &item) {
  for (int group = 0; group < C::rows / 64; ++group) {
    WorkItem::Marks marks = item.marks[group];
    for (int block = 0; marks.at && block < marks.blocks; ++block)
      marks.at[i64(block) * marks.step] = 0;
    std::vector<float> largest(64, -INFINITY);
    for (size_t tile = 0; tile < item.tiles.size(); ++tile) {
      float *scores = &item.scores[tile][group * 64 * C::keys];
      std::vector<float> tops(64, -INFINITY);
      bool isNeeded = false;
      for (int row = 0; row < 64; ++row) {
        for (int key = 0; key < C::keys; ++key)
          if (float score = scores[row * C::keys + key]; !(score <= tops[row]))
            tops[row] = score;
        auto [limit, isOutside] = item.limits[group * 64 + row];
        bool agrees = isOutside || tops[row] == -INFINITY || tops[row] * item.scale < limit ||
                      (C::hasMargin && (largest[row] - tops[row]) * item.scale > C::margin);
        isNeeded |= !agrees;
      }
      if (!isNeeded) {
        std::fill(scores, scores + 64 * C::keys, -INFINITY);
        continue;
      }
      for (int row = 0; row < 64; ++row)
        largest[row] = max(largest[row], tops[row]);
      if (marks.at)
        marks.at[i64(item.tiles[tile].at[0] / C::keys) * marks.step] = 1;
    }
  }
}

/// Sums the rows of all items. A score of -inf contributes nothing, whatever its values are.
template <class C> void sumRows() {
  for (WorkItem &item : items) {
    if constexpr (requires { C::hasMargin; })
      skipTiles<C>(item);
    item.top.assign(C::rows, -INFINITY);
    item.sum.assign(C::rows, 0);
    item.output.assign(C::rows * C::valueDim, 0);
    item.recomputedSum = item.sum;
    item.recomputed = item.output;
    for (int row = 0; row < C::rows; ++row) {
      for (const std::vector<float> &scores : item.scores)
        for (int key = 0; key < C::keys; ++key)
          item.top[row] = max(item.top[row], double(scores[row * C::keys + key]) * item.scale);
      for (size_t tile = 0; tile < item.tiles.size(); ++tile)
        for (int key = 0; key < C::keys; ++key) {
          double score = item.scores[tile][row * C::keys + key];
          if (score == -INFINITY)
            continue;
          double weight = std::exp2(score * item.scale - item.top[row]);
          item.sum[row] += weight;
          for (int channel = 0; channel < C::valueDim; ++channel)
            item.output[row * C::valueDim + channel] +=
                weight * item.tiles[tile].values[key * C::valueDim + channel];
        }
    }
  }
}

/// Stops when a row that was recomputed differs. Rows outside the grid are not recomputed.
template <class C> void compareRecomputed() {
  for (const WorkItem &item : items)
    for (int row = 0; row < C::rows; ++row) {
      double expected = item.sum[row], found = item.recomputedSum[row];
      bool isPoisoned = std::isnan(found) && std::isnan(expected);
      if (found == 0 || isPoisoned || std::fabs(found - expected) <= 1e-3 * expected)
        continue;
      std::fprintf(stderr, "expected a sum of %g of row %d of item %d, recomputed %g\n", expected,
                   row, item.id, found);
      std::abort();
    }
}
