//===- HopperDialect.cpp - registration and verifiers ---------------------===//
#include "dialects/Hopper/Hopper.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace lacuna::hopper;

#include "dialects/Hopper/HopperDialect.cpp.inc"

void HopperDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Hopper/HopperOps.cpp.inc"
      >();
}

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

int64_t AttendOp::getRows() { return product(getQueryBox()); }
int64_t AttendOp::getKeys() { return product(getKeyBox()); }

/// Whether `value` is computed in `block` from its arguments other than those of the query.
static bool dependsOnKey(Value value, Block &block, size_t queryAxes) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &block &&
           (argument.getArgNumber() == 0 || argument.getArgNumber() > queryAxes);
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &block)
    return false;
  bool depends = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == &block)
        depends |= dependsOnKey(operand, block, queryAxes);
  });
  return depends;
}

static LogicalResult verifyBounds(YieldOp yield, AttendOp attend) {
  size_t axes = attend.getKeyBox().size(), queryAxes = attend.getQueryBox().size();
  if (yield.getLower().empty() && yield.getUpper().empty())
    return success();
  // hopper-yield-1
  if (yield.getLower().size() != axes || yield.getUpper().size() != axes)
    return yield.emitOpError("expected a lower and an upper bound for each of ")
           << axes << " key axes, got " << yield.getLower().size() << " and "
           << yield.getUpper().size();
  Block &block = *yield->getBlock();
  for (Value bound : yield->getOperands().drop_front())
    // hopper-yield-2
    if (dependsOnKey(bound, block, queryAxes))
      return yield.emitOpError("expected bounds that depend on neither the key nor the score");
  return success();
}

LogicalResult AttendOp::verify() {
  // hopper-attend-1
  if (getRows() % 64 != 0)
    return emitOpError("expected a multiple of 64 query rows, one warpgroup each, got ")
           << getRows();
  // hopper-attend-2
  if (getKeys() % 16 != 0 || getKeys() > 256)
    return emitOpError("expected a multiple of 16 keys per tile, at most 256, got ") << getKeys();
  // hopper-attend-3
  if (getConsumers() && static_cast<int64_t>(*getConsumers()) * 64 != getRows())
    return emitOpError("expected one consumer warpgroup per 64 rows, got ")
           << *getConsumers() << " for " << getRows() << " rows";
  size_t coordinates = getQueryBox().size() + getKeyBox().size();
  for (Region &region : getElements()) {
    // hopper-attend-4
    if (region.getNumArguments() != 1 + coordinates)
      return emitOpError("expected element functions of a score and ")
             << coordinates << " coordinates, got " << region.getNumArguments() << " arguments";
    // hopper-attend-7
    if (region.front().empty() || !isa<YieldOp>(region.front().back()))
      return emitOpError("expected each element function to end with hopper.yield");
    if (failed(verifyBounds(cast<YieldOp>(region.front().back()), *this)))
      return failure();
  }
  // hopper-attend-6
  if (getKeyBox().size() > 1 && getKeyBox().back() % 8 != 0)
    return emitOpError("expected a multiple of 8 keys along the innermost axis, got ")
           << getKeyBox().back();
  WalkResult result = getWalk().walk([&](TileOp tile) {
    // hopper-attend-5
    if (tile.getKind() < getElements().size())
      return WalkResult::advance();
    tile.emitOpError("expected a kind with an element function, got ")
        << tile.getKind() << " of " << getElements().size();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

#define GET_OP_CLASSES
#include "dialects/Hopper/HopperOps.cpp.inc"
