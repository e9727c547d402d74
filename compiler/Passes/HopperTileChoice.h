//===- HopperTileChoice.h - tile shapes of an attend for sm_90a -----------===//
#pragma once

#include "compiler/Analysis/HopperTiles.h"
#include "compiler/Passes/Segments.h"

namespace lacuna {

/// Compares tile shapes for an attend whose domain is one segment of at most three axes; the first
/// is the one to take. Boxes that are not empty are kept. Emits what is wrong with the set.
mlir::FailureOr<std::vector<HopperCandidate>> compareHopperTiles(attn::AttendOp op,
                                                                 const Segments &segments,
                                                                 const Extents &query,
                                                                 const Extents &key);

} // namespace lacuna
