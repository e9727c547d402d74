//===- SetReport.h - what the compiler knows about the sets of a spec -----===//
#pragma once

#include "compiler/Driver/SpecInterface.h"
#include "compiler/Passes/TileChoice.h"
#include "compiler/Pipelines/Pipelines.h"

namespace lacuna::tool {

/// The loops between one query segment and one key segment.
struct SegmentLoops {
  unsigned querySegment = 0, keySegment = 0;
  /// "I" or "I0, I1, I2"; "J" or "J0, J1, J2".
  std::string queryTile, keyTile;
  /// One line per loop nest.
  std::vector<std::string> live, full, partial;
  /// Whether bounds alone find the live tiles.
  bool exact = true, opaque = false;
  /// Whether the walk goes along a list.
  bool listed = false;
  /// What the names in the formulas stand for, where it is not plain.
  std::vector<std::string> notes;
};

/// One attend of a spec, in its canonical form and with its tiles.
struct AttendReport {
  unsigned line = 0;
  llvm::SmallVector<int64_t> queryTile, keyTile;
  /// Which blocks are left out by a look at their scores; empty where none is.
  std::string skips;
  /// How many segments the tokens fall into.
  unsigned segments = 1;
  std::vector<SegmentLoops> loops;
  bool opaque = false;
  /// What it is of a hierarchy whose nodes are seen through columns.
  std::optional<HierarchyPart> part;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;

  /// Pairs over all batch entries and heads, live or not.
  double countPairs() const {
    return static_cast<double>(batch) * static_cast<double>(heads) * static_cast<double>(queries) *
           static_cast<double>(keys);
  }
};

/// Reports for every attend of `spec`, whose module is simplified on the way. After a mistake a
/// diagnostic is emitted.
mlir::FailureOr<std::vector<AttendReport>> reportSets(const BoundSpec &spec,
                                                      const SpecToTileOptions &tiles);

/// "b = 1, n = 4096, left = 255": what a spec was bound to, for headings.
std::string boundText(const BoundSpec &spec);

} // namespace lacuna::tool
