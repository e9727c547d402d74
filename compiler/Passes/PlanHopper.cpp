//===- PlanHopper.cpp - warpgroups, rings and registers -------------------===//
#include "compiler/Analysis/HopperCost.h"
#include "compiler/Passes/Passes.h"

#include "dialects/Hopper/Hopper.h"

namespace lacuna {
#define GEN_PASS_DEF_PLANHOPPERPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

namespace {
struct PlanHopper final : lacuna::impl::PlanHopperPassBase<PlanHopper> {
  using PlanHopperPassBase::PlanHopperPassBase;

  LogicalResult plan(hopper::AttendOp op) {
    int64_t consumers = op.getRows() / 64;
    // plan-hopper-1
    if (consumers > maxHopperConsumers)
      return op.emitOpError("expected at most 192 query rows per tile on this target, got ")
             << op.getRows();
    HopperShape shape = {cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3),
                         static_cast<int64_t>(op.getValueDim()), op.getRows(),
                         static_cast<int64_t>(op.getKeys())};
    HopperRings rings = fitHopperRings(shape, {querySlots, stages});
    // plan-hopper-2
    if (rings.stages == 0) {
      int64_t depth = stages ? int64_t(stages) : 2;
      return op.emitOpError("expected the rings to fit in ")
             << sharedMemoryLimit << " bytes of shared memory, got "
             << sharedMemoryBytes(shape, {rings.querySlots, depth}) << " for " << rings.querySlots
             << " query slots and " << depth << " stages";
    }
    HopperRegisters registers = hopperRegistersFor(consumers);
    op.setConsumers(consumers);
    op.setStages(rings.stages);
    op.setQuerySlots(rings.querySlots);
    op.setProducerRegisters(registers.producer);
    op.setConsumerRegisters(registers.consumer);
    return success();
  }

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](hopper::AttendOp op) {
      return failed(plan(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
