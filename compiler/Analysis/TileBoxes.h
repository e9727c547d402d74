//===- TileBoxes.h - polyhedra of key tiles as loop bounds ----------------===//
#pragma once

#include "compiler/Analysis/Footprint.h"
#include "compiler/Analysis/TileRegions.h"

namespace lacuna {

/// Which column stands for what in the polyhedra of a footprint.
struct TileColumns {
  llvm::SmallVector<unsigned> queryTile, keyTile, symbols;
};

/// The key tiles of `region` as a loop nest that visits each of them once, given that `context`
/// holds. Symbol k of the result is `columns.symbols[k]`. Fails when an axis is unbounded or a
/// number exceeds 62 bits.
mlir::FailureOr<TileBox> convertToBox(Columns &columns, const TileColumns &roles,
                                      const TileRegion &region, llvm::ArrayRef<Row> context,
                                      mlir::MLIRContext *mlirContext);

} // namespace lacuna
