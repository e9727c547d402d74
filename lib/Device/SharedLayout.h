//===- SharedLayout.h - shared memory of a pipeline -----------------------===//
#pragma once

#include <algorithm>
#include <cstdint>

namespace lacuna {

/// What decides how much shared memory a kernel needs; the names are those of a kernel's Config.
struct PipelineShape {
  int64_t rows, keys, headDim, valueDim, querySlots, stages;
  /// Whether keys are gathered one by one.
  bool isGathered = false;
};

/// Boxes of fewer keys are too short for the copy engine: their keys are gathered, row by row, by
/// all threads of the producer's warpgroup.
constexpr int64_t leastCopiedKeys = 16;
/// Boxes of so many keys of a sequence can be copied, but are faster gathered.
constexpr int64_t mostGatheredKeys = 16;

/// Dynamic shared memory that a block on sm_90 may have.
constexpr int64_t sharedMemoryLimit = 232448;
/// The same when `blocks` of them share a multiprocessor, of whose memory each takes 1024 bytes
/// more.
constexpr int64_t sharedMemoryLimitOf(int64_t blocks) {
  return (sharedMemoryLimit + 1024) / blocks / 128 * 128 - 1024;
}

/// Bytes of shared memory as `Shared` in Producer.cuh lays them out: matrices as panels of 64
/// columns of 128 bytes, then barriers, notes of tiles, gathered keys' places and numbers of work
/// items.
constexpr int64_t sharedMemoryBytes(const PipelineShape &shape) {
  int64_t headPanels = (shape.headDim + 63) / 64, valuePanels = (shape.valueDim + 63) / 64;
  int64_t slot = shape.rows * 128 * std::max(headPanels, valuePanels);
  int64_t stage = shape.keys * 128 * (headPanels + valuePanels);
  int64_t barriers = 8 * (4 * shape.querySlots + 4 * shape.stages);
  int64_t places = shape.isGathered ? 4 * shape.keys : 0;
  return shape.querySlots * slot + shape.stages * stage + barriers + (16 + places) * shape.stages +
         4 * shape.querySlots;
}

/// Bytes behind those of a pipeline for `capacity` long items, as `LongItems` in ItemOrder.cuh lays
/// them out, from the next multiple of 8.
constexpr int64_t longItemsBytes(int64_t capacity) { return 8 + 24 + 8 * capacity; }

/// Registers that a block of `consumers` warpgroups and a producer has, one of `blocks` on a
/// multiprocessor, divided by the 128 threads of one warpgroup. At its launch every thread has the
/// same number, a multiple of 8; `setmaxnreg` only moves them between warpgroups, and a warpgroup
/// that asks for more than there are waits forever.
constexpr int64_t registersAtLaunch(int64_t consumers, int64_t blocks = 1) {
  // The assembler gives no thread more than it may have later.
  constexpr int64_t mostPerThread = 240;
  int64_t groups = consumers + 1, each = 65536 / 128 / blocks / groups / 8 * 8;
  return groups * (each < mostPerThread ? each : mostPerThread);
}

} // namespace lacuna
