//===- HopperCost.h - what a pipeline on sm_90a takes ---------------------===//
//
// The planner's model: registers, shared memory and clocks of one key tile.
// docs/hopper-planner.md derives the numbers and compares them with
// measurements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lib/Device/SharedLayout.h"

#include <cstdint>

namespace lacuna {

/// The matrices of one pipeline.
struct HopperShape {
  int64_t headDim, valueDim;
  /// Query rows and keys of a tile.
  int64_t rows, keys;
  /// Thread blocks that share a multiprocessor.
  int64_t blocks = 1;
  /// Whether keys are gathered one by one.
  bool isGathered = false;

  /// One consumer warpgroup per 64 rows.
  int64_t consumers() const { return rows / 64; }
};

/// Numbers of setmaxnreg: registers per thread of the producer and of each consumer.
struct HopperRegisters {
  int64_t producer, consumer;
};

/// The most keys of a tile that several boxes share.
constexpr int64_t mostPackedKeys = 128;
/// Registers that masks of gathered keys take, which look at one pair after the other.
constexpr int64_t gatheredElements = 20;
/// Registers of a producer that gathers keys, or that packs boxes of a list.
constexpr int64_t packingProducer = 88;

/// Registers of a producer whose walk over key tiles keeps `values` in registers.
int64_t estimateProducer(int64_t values);
/// How the register file is shared among a producer that needs `producer` registers (0: as most
/// do) and `consumers` warpgroups. With `asked` each consumer has that many, and the
/// producer what is left. The file is shared by `blocks`.
HopperRegisters hopperRegistersFor(int64_t consumers, int64_t producer = 0, int64_t asked = 0,
                                   int64_t blocks = 1);

/// Registers per consumer thread: accumulators of scores and output, the weights of the tile
/// before, the `elements` that masks and score functions take, and the rest.
int64_t estimateRegisters(const HopperShape &shape, int64_t elements);

/// Rings that fit in shared memory.
struct HopperRings {
  int64_t querySlots, stages;
};
/// The most useful rings that fit: two stages, without which nothing overlaps, then a second query
/// slot, then deeper stages. Numbers that are `asked` (not 0) are kept. When nothing fits the least
/// that would be useful is returned.
HopperRings fitHopperRings(const HopperShape &shape, HopperRings asked = {0, 0});

inline int64_t sharedMemoryBytes(const HopperShape &shape, HopperRings rings) {
  return sharedMemoryBytes({shape.rows, shape.keys, shape.headDim, shape.valueDim, rings.querySlots,
                            rings.stages, shape.isGathered});
}

/// Clocks of one key tile on one multiprocessor.
struct TileClocks {
  /// Tensor cores, exponentials and other vector instructions, copies from L2.
  double products, softmax, loads;
  /// The tile: the greatest of the three, with what cannot overlap.
  double total;
};
/// How scores outside the set are hidden.
enum class ScoreMask {
  None,
  /// By bounds on the key per row, as bits.
  Bounds,
  /// By a predicate, pair by pair.
  Predicate,
};
TileClocks estimateTile(const HopperShape &shape, ScoreMask mask);

/// Clocks from one query tile to the next beyond its key tiles.
double estimateItem(int64_t querySlots);

} // namespace lacuna
