//===- HopperPlaceRings.cpp - stages and query slots in shared memory -----===//
#include "compiler/Analysis/HopperCost.h"
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_HOPPERPLACERINGSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

namespace {
struct HopperPlaceRings final : lacuna::impl::HopperPlaceRingsPassBase<HopperPlaceRings> {
  using HopperPlaceRingsPassBase::HopperPlaceRingsPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp op) {
      auto query = cast<RankedTensorType>(op.getQuery().getType());
      HopperShape shape = {query.getDimSize(3),
                           static_cast<int64_t>(op.getValueDim()),
                           op.getRows(),
                           static_cast<int64_t>(op.getKeys()),
                           static_cast<int64_t>(op.getBlocks()),
                           op.isGathered()};
      // Rings that do not fit are refused by the op.
      HopperRings rings = fitHopperRings(shape, {querySlots, stages});
      op.setStages(rings.stages);
      op.setQuerySlots(rings.querySlots);
    });
  }
};
} // namespace
