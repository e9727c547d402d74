//===- HopperTiles.h - tile shapes for sm_90a -----------------------------===//
//
// Enumerates shapes of query and key tiles, says of each what it takes or why
// it cannot be, and finds the cheapest.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/Analysis/HopperCost.h"
#include "compiler/Analysis/KeySpans.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace lacuna {

using Extents = llvm::SmallVector<int64_t, 3>;

/// Why a shape is refused.
enum class HopperRefusal {
  None,
  Registers,
  SharedMemory,
  /// The matrix instructions or the copy engine have no such shape.
  Instruction,
  /// Larger than what was faster when measured.
  Unproven,
  /// Another shape takes fewer clocks.
  Slower,
};
llvm::StringRef stringify(HopperRefusal refusal);

/// One choice of tiles.
struct HopperCandidate {
  Extents query, key;
  /// Heads whose rows are one tile.
  int64_t heads = 1;
  HopperShape shape = {};
  int64_t registers = 0, registerLimit = 0;
  int64_t querySlots = 0, stages = 0, sharedBytes = 0;
  /// Over all query tiles of a head; 0 where the length is not known.
  double queryTiles = 0, keyTiles = 0, fullTiles = 0;
  /// Clocks per query row and, where the length is not known, key.
  double cost = 0;
  HopperRefusal refusal = HopperRefusal::None;
};

/// What the tiles are for; empty extents leave the choice to the planner.
struct HopperProblem {
  int64_t headDim = 0, valueDim = 0;
  Extents query, key;
  /// Blocks of a list, which tiles divide; empty without one.
  Extents queryBlock, keyBlock;
  /// Neighbouring heads that have the same list and the same keys, so that their rows may share a
  /// tile.
  int64_t headGroup = 1;
  /// Of partial tiles.
  ScoreMask mask = ScoreMask::Bounds;
  /// Registers per thread that masks and score functions take.
  int64_t elementRegisters = 0;
  /// Registers of the producer; 0 stands for those of most walks.
  int64_t producerRegisters = 0;
  /// Whether the set is everything, so that no tile but the last is partial.
  bool isFull = false;
};

/// Shapes for a sequence of any length, most of whose tiles are full. The chosen one comes first,
/// then those that would work, the cheapest first, then those that cannot be. Empty where no shape
/// divides the blocks of a list.
std::vector<HopperCandidate> compareForSequence(const HopperProblem &problem);
/// The same for a set on a grid whose keys are `spans`. Key boxes start at the first live key where
/// the set is a product of ranges.
std::vector<HopperCandidate> compareForGrid(const HopperProblem &problem, KeySpans &spans);

} // namespace lacuna
