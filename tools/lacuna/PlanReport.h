//===- PlanReport.h - what the planner of sm_90a chose, and why -----------===//
#pragma once

#include "compiler/Analysis/HopperTiles.h"
#include "compiler/Driver/CountPairs.h"
#include "compiler/Pipelines/Pipelines.h"

#include "llvm/Support/JSON.h"

namespace lacuna::tool {

/// The pipeline of one attend and the shapes that were compared.
struct PlanReport {
  /// The chosen shape first; empty for domains of several segments, whose boxes are even.
  std::vector<HopperCandidate> shapes;
  /// As the kernel has it.
  HopperRings rings = {};
  HopperRegisters registers = {};
  int64_t consumers = 0, sharedBytes = 0;
  /// Keys of a tile in which several small boxes share, 0 where each box is a tile; thread blocks
  /// on a multiprocessor.
  int64_t packedKeys = 0, blocks = 1;
  bool pingPong = false, ascending = false;
  /// Attends that the kernel computes one after the other, whose results a merge joins.
  int64_t fused = 1;
  /// Of partial tiles.
  ScoreMask mask = ScoreMask::Bounds;
  /// Queries of a head, and keys.
  int64_t queries = 0, keys = 0;
  /// What attention over all keys would have, without masks.
  HopperShape dense = {};
  int64_t denseQuerySlots = 1;
};

/// Plans of all attends of `spec`, whose module is left alone. After a mistake, or where the target
/// cannot do what is asked, a diagnostic is emitted.
mlir::FailureOr<std::vector<PlanReport>> reportPlans(const BoundSpec &spec,
                                                     const SpecToHopperOptions &options);

/// Writes a plan, with the time that `counts` (null when not known) would take.
void printPlan(const PlanReport &plan, const AttendCounts *counts, llvm::raw_ostream &os);
llvm::json::Object toJson(const PlanReport &plan, const AttendCounts *counts);

/// "4 x 4 x 8".
std::string shapeText(llvm::ArrayRef<int64_t> tile);

} // namespace lacuna::tool
