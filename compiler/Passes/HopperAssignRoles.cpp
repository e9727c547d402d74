//===- HopperAssignRoles.cpp - warpgroups and their registers -------------===//
#include "compiler/Analysis/HopperCost.h"
#include "compiler/Passes/Passes.h"

namespace lacuna {
#define GEN_PASS_DEF_HOPPERASSIGNROLESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

namespace {
struct HopperAssignRoles final : lacuna::impl::HopperAssignRolesPassBase<HopperAssignRoles> {
  using HopperAssignRolesPassBase::HopperAssignRolesPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp op) {
      int64_t consumers = op.getRows() / 64;
      HopperRegisters registers = hopperRegistersFor(consumers, consumerRegisters);
      op.setConsumers(consumers);
      op.setProducerRegisters(registers.producer);
      op.setConsumerRegisters(registers.consumer);
    });
  }
};
} // namespace
