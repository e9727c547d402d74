//===- WalkPrinter.cpp - walks over live key tiles as CUDA C++ ------------===//
#include "compiler/Emit/KernelPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lacuna;
using llvm::formatv;

namespace {
/// A loop over tiles in a row of one axis, which says nothing else.
struct PlainLoop {
  scf::ForOp loop;
  hopper::TileOp tile;
  /// Keys from one tile to the next.
  int64_t step = 1;
};
} // namespace

/// What is left of a loop whose rounds are: compute a place, name a tile there.
static std::optional<PlainLoop> getPlainLoop(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || loop.getNumResults() || getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  PlainLoop plain{loop, {}};
  for (Operation &inner : loop.getBody()->without_terminator()) {
    auto tile = dyn_cast<hopper::TileOp>(inner);
    if (tile ? static_cast<bool>(plain.tile) : !isPure(&inner) || inner.getNumRegions() > 0)
      return std::nullopt;
    if (tile)
      plain.tile = tile;
  }
  if (!plain.tile || plain.tile.getAt().size() != 1)
    return std::nullopt;
  Value at = plain.tile.getAt().front();
  if (auto product = at.getDefiningOp<arith::MulIOp>()) {
    std::optional<int64_t> factor = getConstantIntValue(product.getRhs());
    if (!factor)
      return std::nullopt;
    plain.step = *factor;
    at = product.getLhs();
  }
  return at == loop.getInductionVar() ? std::optional(plain) : std::nullopt;
}

/// Loops of several levels as rounds of one: what visits a tile is then there once, and the code of
/// many levels stays in the instruction cache. `body` is the kernel's, whose arithmetic says where
/// loops start and end.
static LogicalResult writeLevels(CodeWriter &out, const ScalarPrinter &scalars, Block &body,
                                 ArrayRef<PlainLoop> loops) {
  out.line("#pragma unroll 1");
  out.open(formatv("for (int level = 0; level < {0}; ++level) {{", loops.size()).str());
  out.line("int lower = 0, upper = 0, kind = 0;");
  out.open("switch (level) {");
  for (auto [number, plain] : llvm::enumerate(loops)) {
    scf::ForOp loop = plain.loop;
    hopper::TileOp tile = plain.tile;
    Value bounds[] = {loop.getLowerBound(), loop.getUpperBound()};
    out.open(formatv("case {0}: {{", number).str());
    // A copy: names of one case mean nothing in the next.
    ScalarPrinter inner(scalars);
    if (failed(inner.printNeeded(body, bounds)) ||
        failed(inner.printNeeded(*loop->getBlock(), bounds)))
      return failure();
    out.line(formatv("lower = {0}, upper = {1}, kind = {2};", inner.use(bounds[0]),
                     inner.use(bounds[1]), tile.getKind()));
    out.line("break;");
    out.close();
  }
  out.close();
  out.line("#pragma unroll 1");
  out.line("for (int tile = lower; tile < upper; ++tile)");
  out.line(formatv("  visit(kind, tile * {0}, 0, 0);", loops.front().step));
  out.close();
  return success();
}

/// Fewer loops are faster one after the other: windows have three.
static constexpr size_t fewestLevels = 6;

/// Loops from here on that `writeLevels` may take together, with nothing but arithmetic between
/// them.
static SmallVector<PlainLoop> findLevels(Operation &first) {
  SmallVector<PlainLoop> loops;
  for (Operation *op = &first; op; op = op->getNextNode()) {
    if (std::optional<PlainLoop> plain = getPlainLoop(*op);
        plain && (loops.empty() || plain->step == loops.front().step))
      loops.push_back(*plain);
    else if (op == &first || !isPure(op) || op->getNumRegions() > 0)
      break;
  }
  return loops.size() < fewestLevels ? SmallVector<PlainLoop>() : loops;
}

/// The live key tiles of one item, in order. A function of its own: the producer copies the tiles,
/// and whoever else must know them visits the same ones.
LogicalResult AttendPrinter::writeWalk(CodeWriter &out) {
  const bool isGathered = attend.isGathered();
  out.line(
      isGathered
          ? "/// Calls visit(kind, isHere, a0) for the pieces of an item, one for each lane in "
            "which isHere\n/// holds; for whole warps."
          : "/// Calls visit(kind, a0, a1, a2) for each key tile of an item, in order; for "
            "whole warps.");
  out.line("template <class Visit>");
  out.open("__device__ __forceinline__ void walk(const Arguments &args, const Item &item, "
           "Visit &&visit) {");
  ScalarPrinter scalars(out, sources());
  scalars.isWarp = true;
  scalars.isSpread = isGathered;
  bindGrid(scalars);
  Block &walk = attend.getWalk().front(), &body = kernel.getBody().front();
  llvm::SmallPtrSet<Operation *, 16> inLevels;
  for (Operation &op : walk)
    if (!isGathered && !inLevels.contains(&op))
      for (const PlainLoop &plain : findLevels(op))
        inLevels.insert(plain.loop);
  SmallVector<Value> roots;
  attend.getWalk().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (inLevels.contains(op))
      return WalkResult::skip();
    auto tile = dyn_cast<hopper::TileOp>(op);
    llvm::append_range(roots, tile ? tile.getAt() : op->getOperands());
    return WalkResult::advance();
  });
  if (failed(scalars.printNeeded(body, roots)))
    return failure();
  auto placeOf = [&](hopper::TileOp tile) {
    SmallVector<std::string> at;
    for (Value coordinate : tile.getAt())
      at.push_back(scalars.use(coordinate));
    return at;
  };
  scalars.fallback = [&](Operation &op) -> LogicalResult {
    auto tile = dyn_cast<hopper::TileOp>(op);
    if (!tile)
      return failure();
    SmallVector<std::string> at = placeOf(tile);
    if (isGathered) {
      out.line(
          formatv("visit(/*kind=*/{0}, threadIdx.x % 32 == 0, {1});", tile.getKind(), at.front()));
      return success();
    }
    at.resize(3, "0");
    out.line(formatv("visit(/*kind=*/{0}, {1});", tile.getKind(), llvm::join(at, ", ")));
    return success();
  };
  scalars.lanes = [&](Operation &op, const std::string &condition) -> LogicalResult {
    auto tile = dyn_cast<hopper::TileOp>(op);
    if (!tile)
      return failure();
    std::string isHere = condition.empty() ? "isThere" : "isThere && " + condition;
    out.line(formatv(isGathered ? "visit(/*kind=*/{0}, {1}, {2});"
                                : "visitLanes(visit, /*kind=*/{0}, {1}, {2});",
                     tile.getKind(), isHere, llvm::join(placeOf(tile), ", ")));
    return success();
  };
  for (Operation *op = walk.empty() ? nullptr : &walk.front(); op; op = op->getNextNode()) {
    SmallVector<PlainLoop> levels = isGathered ? SmallVector<PlainLoop>() : findLevels(*op);
    if (levels.empty()) {
      if (failed(scalars.print(*op)))
        return failure();
      continue;
    }
    if (failed(writeLevels(out, scalars, body, levels)))
      return failure();
    // Arithmetic between the loops may serve what follows.
    Operation *last = levels.back().loop;
    for (; op != last; op = op->getNextNode())
      if (!isa<scf::ForOp>(op) && failed(scalars.print(*op)))
        return failure();
  }
  out.close();
  return success();
}
