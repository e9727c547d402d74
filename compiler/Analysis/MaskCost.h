//===- MaskCost.h - what hiding dead scores takes on sm_90a ---------------===//
#pragma once

#include "compiler/Analysis/HopperCost.h"
#include "dialects/Sparsity/Formula.h"

namespace lacuna {

/// How partial tiles of a set are masked, and the registers per thread that this takes beyond those
/// of a full tile.
struct MaskCost {
  ScoreMask mask = ScoreMask::Bounds;
  int64_t registers = 0;
  /// Registers of a producer that walks over the set's key tiles; 0 stands for those of most walks.
  int64_t producer = 0;
};
MaskCost estimateMask(const sparsity::Formula &formula, const sparsity::FormulaSpace &space);

} // namespace lacuna
