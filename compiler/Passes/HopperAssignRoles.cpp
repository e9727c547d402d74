//===- HopperAssignRoles.cpp - warpgroups and their registers -------------===//
#include "compiler/Analysis/HopperCost.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace lacuna {
#define GEN_PASS_DEF_HOPPERASSIGNROLESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// A read of memory has addresses of 64 bits and strides.
static constexpr int64_t ofRead = 14;
/// Bounds along several axes that one entry of a list has.
static constexpr int64_t ofNest = 4;
/// Maps and places of one more pair of tensors that tiles come from. Those of many are looked up by
/// number.
static constexpr int64_t ofSource = 12, mostSources = 5, ofManySources = 26;
/// The places of the pieces of two packed tiles.
static constexpr int64_t ofPacking = 8;

/// Values that stay in registers while the walk goes over one of its loops: those from outside that
/// the loop uses, and one per loop around it. The greatest number over all loops.
static int64_t countWalkValues(hopper::AttendOp op) {
  int64_t most = 0;
  op.getWalk().walk([&](scf::ForOp loop) {
    llvm::SmallPtrSet<Value, 32> kept;
    for (Operation *around = loop; around != op; around = around->getParentOp()) {
      auto outer = dyn_cast<scf::ForOp>(around);
      if (!outer)
        continue;
      kept.insert(outer.getInductionVar());
      kept.insert(outer.getUpperBound());
    }
    loop.getBody()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!loop->isAncestor(operand.getParentRegion()->getParentOp()) &&
            operand.getType().isIntOrIndex() && !operand.getDefiningOp<arith::ConstantOp>())
          kept.insert(operand);
    });
    int64_t reads = 0, nested = 0;
    loop.getBody()->walk([&](tensor::ExtractOp) { ++reads; });
    loop.getBody()->walk([&](Operation *op) { nested += isa<scf::ForOp, scf::IfOp>(op); });
    // A list whose entries have coordinates on several axes: their bounds live beside it.
    int64_t inner = reads > 0 && op.getQueryBox().size() > 1 ? ofNest + nested : 0;
    most = std::max(most, static_cast<int64_t>(kept.size()) + ofRead * reads + inner);
  });
  bool isPacked = op.getPieceKeys() < static_cast<int64_t>(op.getKeys());
  llvm::SmallPtrSet<Value, 4> sources;
  op.getWalk().walk([&](hopper::TileOp tile) { sources.insert(tile.getKey()); });
  int64_t others = std::max<int64_t>(static_cast<int64_t>(sources.size()), 1) - 1;
  int64_t ofSources = others < mostSources ? others * ofSource : ofManySources;
  return most + (isPacked ? ofPacking : 0) + ofSources;
}

namespace {
struct HopperAssignRoles final : lacuna::impl::HopperAssignRolesPassBase<HopperAssignRoles> {
  using HopperAssignRolesPassBase::HopperAssignRolesPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp op) {
      int64_t consumers = op.getRows() / 64;
      int64_t producer = estimateProducer(countWalkValues(op));
      if (op.isGathered())
        producer = std::max(producer, packingProducer);
      HopperRegisters registers = hopperRegistersFor(consumers, producer, consumerRegisters,
                                                     static_cast<int64_t>(op.getBlocks()));
      op.setConsumers(consumers);
      op.setProducerRegisters(registers.producer);
      op.setConsumerRegisters(registers.consumer);
    });
  }
};
} // namespace
