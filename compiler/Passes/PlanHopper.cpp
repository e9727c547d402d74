//===- PlanHopper.cpp - warpgroups, rings and registers -------------------===//
#include "compiler/Passes/Passes.h"

#include "dialects/Hopper/Hopper.h"

namespace lacuna {
#define GEN_PASS_DEF_PLANHOPPERPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Dynamic shared memory of one block on sm_90.
static constexpr int64_t sharedLimit = 232448;
/// Barriers, tile notes and item numbers, rounded up.
static constexpr int64_t bookkeeping = 1024;

/// Panels of 64 columns.
static int64_t panels(int64_t columns) { return (columns + 63) / 64; }

namespace {
/// Bytes of shared memory per query slot and per stage.
struct Footprints {
  int64_t slot, stage;
  explicit Footprints(hopper::AttendOp op) {
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    int64_t head = panels(query.getDimSize(3)), value = panels(op.getValueDim());
    slot = op.getRows() * 128 * std::max(head, value);
    stage = op.getKeys() * 128 * (head + value);
  }
  bool fits(int64_t slots, int64_t stages) const {
    return slots * slot + stages * stage + bookkeeping <= sharedLimit;
  }
};
} // namespace

/// setmaxnreg counts of producer and consumers; with the producer's they add up to at most 65,536
/// registers of 128 threads each.
static std::pair<int64_t, int64_t> registersFor(int64_t consumers) {
  switch (consumers) {
  case 1:
    return {56, 240};
  case 2:
    return {56, 224};
  default:
    return {32, 160};
  }
}

namespace {
struct PlanHopper final : lacuna::impl::PlanHopperPassBase<PlanHopper> {
  using PlanHopperPassBase::PlanHopperPassBase;

  LogicalResult plan(hopper::AttendOp op) {
    Footprints bytes(op);
    int64_t consumers = op.getRows() / 64;
    // plan-hopper-1
    if (consumers > 3)
      return op.emitOpError("expected at most 192 query rows per tile on this target, got ")
             << op.getRows();
    int64_t slots = querySlots ? int64_t(querySlots) : 1, depth = stages ? int64_t(stages) : 2;
    // plan-hopper-2
    if (!bytes.fits(slots, depth))
      return op.emitOpError("expected the rings to fit in ")
             << sharedLimit << " bytes of shared memory, got "
             << slots * bytes.slot + depth * bytes.stage + bookkeeping << " for " << slots
             << " query slots and " << depth << " stages";
    if (!querySlots && bytes.fits(2, depth))
      slots = 2;
    while (!stages && depth < 4 && bytes.fits(slots, depth + 1))
      ++depth;

    Builder builder(op.getContext());
    auto [producer, consumer] = registersFor(consumers);
    op.setConsumers(consumers);
    op.setStages(depth);
    op.setQuerySlots(slots);
    op.setProducerRegisters(producer);
    op.setConsumerRegisters(consumer);
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
