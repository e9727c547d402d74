//===- PeelFullTiles.cpp - masks only in partial tiles --------------------===//
#include "compiler/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace lacuna {
#define GEN_PASS_DEF_PEELFULLTILESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Drops what a loop body that visits full tiles only need not compute: its masks, and the classes
/// of its tiles, which are known to be full (2).
static void dropMasks(tile::ForEachOp loop) {
  loop.walk([](tile::MaskOp mask) {
    mask.getResult().replaceAllUsesWith(mask.getScores());
    mask.erase();
  });
  loop.walk([](tile::ClassifyOp classify) {
    OpBuilder builder(classify);
    Value full = arith::ConstantIntOp::create(builder, classify.getLoc(), classify.getType(), 2);
    classify.replaceAllUsesWith(full);
    classify.erase();
  });
}

namespace {
struct PeelFullTiles final : lacuna::impl::PeelFullTilesPassBase<PeelFullTiles> {
  void runOnOperation() override {
    SmallVector<tile::ForEachOp> loops;
    getOperation()->walk([&](tile::ForEachOp loop) {
      // Two loops would visit full tiles first, whatever their order.
      if (loop.getTileClass() == tile::TileClass::Live && !loop.getAscending())
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
