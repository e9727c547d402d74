//===- SeparateResults.cpp - each result has memory of its own ------------===//
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace lacuna {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// The tensor whose memory a launch continues in `value`; null where it begins.
static Value getBefore(Value value) {
  auto launch = value.getDefiningOp<tile::LaunchOp>();
  if (!launch || launch.getInto().empty())
    return {};
  return launch.getInto()[cast<OpResult>(value).getResultNumber()];
}

/// The first value in the memory of `value`.
static Value getRoot(Value value) {
  while (Value before = getBefore(value))
    value = before;
  return value;
}

/// Makes `value` once more, behind the launches that make it: what they read has not been
/// overwritten there. `copies` are the launches that have a copy.
static Value remake(Value value, IRMapping &copies) {
  auto launch = value.getDefiningOp<tile::LaunchOp>();
  if (!launch || copies.contains(value))
    return copies.lookupOrDefault(value);
  SmallVector<Value> into;
  for (Value before : launch.getInto())
    into.push_back(remake(before, copies));
  OpBuilder builder(launch->getContext());
  builder.setInsertionPointAfter(launch);
  auto copy = cast<tile::LaunchOp>(builder.clone(*launch));
  copy.getIntoMutable().assign(into);
  copies.map(launch->getResults(), copy->getResults());
  return copies.lookup(value);
}

/// Whether a launch overwrites a part of the memory of `value`.
static bool isContinued(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto launch = dyn_cast<tile::LaunchOp>(user);
    return launch && llvm::is_contained(launch.getInto(), value);
  });
}

static void remakeOperand(OpOperand &operand) {
  IRMapping copies;
  operand.set(remake(operand.get(), copies));
}

namespace {
struct SeparateResults final : lacuna::impl::SeparateResultsPassBase<SeparateResults> {
  void runOnOperation() override {
    if (getOperation().getBody().empty())
      return;
    Operation *end = getOperation().getBody().back().getTerminator();
    llvm::SmallDenseSet<Value> roots;
    for (OpOperand &operand : end->getOpOperands())
      if (isContinued(operand.get()) || !roots.insert(getRoot(operand.get())).second)
        remakeOperand(operand);
  }
};
} // namespace
