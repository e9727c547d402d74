//===- FootprintLoops.h - the loops of one tile.for_each ------------------===//
#pragma once

#include "compiler/Analysis/Footprint.h"
#include "dialects/Tile/Tile.h"

namespace lacuna {

/// Writes the loops that stand for `loop` and erases it. With `unaligned`, `footprint` is one of
/// single keys: loops go over tokens in steps of the key box, from the first key that the query
/// tile sees.
void writeLoops(tile::ForEachOp loop, const sparsity::Formula &formula,
                const sparsity::FormulaSpace &space, const Footprint &footprint, bool unaligned);

} // namespace lacuna
