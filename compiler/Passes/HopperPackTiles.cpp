//===- HopperPackTiles.cpp - small key blocks share a tile -----------------===//
#include "compiler/Analysis/HopperCost.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace lacuna {
#define GEN_PASS_DEF_HOPPERPACKTILESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Registers that bounds and addresses take beside a packed tile, and those that predicates of
/// pairs take; what rows look up in memory for gathered keys.
static constexpr int64_t ofBounds = 20, ofPredicates = 100, ofLookups = 16;

/// Whether the walk reads numbers of blocks at places that a loop counts. Classes of tiles are
/// bytes.
static bool walksList(hopper::AttendOp op) {
  bool found = false;
  op.getWalk().walk([&](tensor::ExtractOp read) {
    if (read.getType().isInteger(8))
      return;
    for (Value index : read.getIndices())
      if (auto argument = dyn_cast<BlockArgument>(index))
        found |= isa<scf::ForOp>(argument.getOwner()->getParentOp());
  });
  return found;
}

/// Whether some tiles have no element function: only those are packed.
static bool hasPlainTiles(hopper::AttendOp op) {
  return llvm::any_of(op.getElements(), [](Region &region) {
    return cast<hopper::YieldOp>(region.front().getTerminator()).isIdentity();
  });
}

/// Whether some tiles have a predicate or a score function for each pair.
static bool hasPredicates(hopper::AttendOp op) {
  return llvm::any_of(op.getElements(), [](Region &region) {
    return !cast<hopper::YieldOp>(region.front().getTerminator()).keepsScore();
  });
}

/// Whether some element function reads memory.
static bool looksUp(hopper::AttendOp op) {
  return llvm::any_of(op.getElements(), [](Region &region) {
    return region.walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
  });
}

/// Whether keys are gathered once boxes share tiles.
static bool gathersWhenPacked(hopper::AttendOp op) {
  const int64_t keys = static_cast<int64_t>(op.getKeys());
  op.setKeys(2 * std::max(op.getPieceKeys(), leastCopiedKeys));
  const bool gathers = op.isGathered();
  op.setKeys(keys);
  return gathers;
}

static bool fits(hopper::AttendOp op, int64_t keys, int64_t blocks, bool gathers) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  HopperShape shape = {query.getDimSize(3),
                       static_cast<int64_t>(op.getValueDim()),
                       op.getRows(),
                       keys,
                       blocks,
                       gathers};
  int64_t registers = hopperRegistersFor(shape.consumers(), packingProducer, 0, blocks).consumer;
  int64_t elements = hasPredicates(op) ? ofPredicates : ofBounds;
  // Pairs of gathered keys are masked one by one, whatever the mask.
  if (gathers && !op.getNatural())
    elements = gatheredElements + (looksUp(op) ? ofLookups : 0);
  return estimateRegisters(shape, elements) <= registers &&
         sharedMemoryBytes(shape, fitHopperRings(shape)) <= sharedMemoryLimitOf(blocks);
}

namespace {
struct HopperPackTiles final : lacuna::impl::HopperPackTilesPassBase<HopperPackTiles> {
  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp op) {
      if (!walksList(op) && !op.isGathered())
        return;
      int64_t piece = op.getPieceKeys();
      // One warpgroup does not fill a multiprocessor; predicates need the registers of both.
      const bool gathers = gathersWhenPacked(op);
      if (op.getRows() == 64 && !hasPredicates(op) &&
          fits(op, std::max(piece, leastCopiedKeys), 2, gathers))
        op.setBlocks(2);
      // What is skipped are tiles as they are.
      if (op.getTaken() || (!gathers && (!hasPlainTiles(op) || piece % 8 != 0)))
        return;
      for (int64_t keys = mostPackedKeys / piece * piece; keys > piece; keys -= piece)
        if (keys % 16 == 0 && fits(op, keys, static_cast<int64_t>(op.getBlocks()), gathers)) {
          op.setKeys(keys);
          return;
        }
    });
  }
};
} // namespace
