//===- PeelFullTiles.cpp - masks only in partial tiles --------------------===//
#include "compiler/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace lacuna {
#define GEN_PASS_DEF_PEELFULLTILESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Drops the masks of a loop body that visits full tiles only.
static void dropMasks(tile::ForEachOp loop) {
  loop.walk([](tile::MaskOp mask) {
    mask.getResult().replaceAllUsesWith(mask.getScores());
    mask.erase();
  });
}

namespace {
struct PeelFullTiles final : lacuna::impl::PeelFullTilesPassBase<PeelFullTiles> {
  void runOnOperation() override {
    SmallVector<tile::ForEachOp> loops;
    getOperation()->walk([&](tile::ForEachOp loop) {
      if (loop.getTileClass() == tile::TileClass::Live)
        loops.push_back(loop);
    });
    for (tile::ForEachOp loop : loops) {
      OpBuilder builder(loop);
      auto full = cast<tile::ForEachOp>(builder.clone(*loop));
      full.setTileClass(tile::TileClass::Full);
      dropMasks(full);
      loop.setTileClass(tile::TileClass::Partial);
      loop.getInitMutable().assign(full.getResults());
      ++loopsPeeled;
    }
  }
};
} // namespace
