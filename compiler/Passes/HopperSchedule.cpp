//===- HopperSchedule.cpp - turns of warpgroups, order of work items ------===//
#include "compiler/Analysis/AssumedNumbers.h"
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace lacuna {
#define GEN_PASS_DEF_HOPPERSCHEDULEPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Tokens of a sequence whose length only a launch knows.
static constexpr int64_t typicalLength = 8192;

namespace {
/// Counts the key tiles that a walk names, with assumed numbers.
class VisitCounter {
public:
  explicit VisitCounter(AssumedNumbers &numbers) : numbers(numbers) {}

  /// Null when a bound cannot be known.
  std::optional<double> count(Block &block) {
    double visits = 0;
    for (Operation &op : block) {
      std::optional<double> more = count(&op);
      if (!more)
        return std::nullopt;
      visits += *more;
    }
    return visits;
  }

private:
  std::optional<double> count(Operation *op) {
    if (isa<hopper::TileOp>(op))
      return 1;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return count(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return count(branch);
    return 0;
  }

  /// Rounds are taken to be like the one in the middle.
  std::optional<double> count(scf::ForOp loop) {
    std::optional<int64_t> lower = numbers.evaluate(loop.getLowerBound()),
                           upper = numbers.evaluate(loop.getUpperBound()),
                           step = numbers.evaluate(loop.getStep());
    if (!lower || !upper || !step || *step < 1)
      return std::nullopt;
    if (*upper <= *lower)
      return 0;
    auto rounds = llvm::divideCeilSigned(*upper - *lower, *step);
    numbers.set(loop.getInductionVar(), *lower + rounds / 2 * *step);
    std::optional<double> inner = count(*loop.getBody());
    if (!inner)
      return std::nullopt;
    return static_cast<double>(rounds) * *inner;
  }

  std::optional<double> count(scf::IfOp branch) {
    std::optional<int64_t> condition = numbers.evaluate(branch.getCondition());
    if (!condition)
      return std::nullopt;
    if (*condition)
      return count(*branch.thenBlock());
    return branch.elseBlock() ? count(*branch.elseBlock()) : 0;
  }

  AssumedNumbers &numbers;
};
} // namespace

/// Key tiles of the first or the last query tile of a head.
static std::optional<double> countVisits(hopper::AttendOp op, bool last) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  if (!kernel)
    return std::nullopt;
  AssumedNumbers numbers;
  kernel.getBody().walk([&](tensor::DimOp dim) {
    if (!dim.getSource().getType().isDynamicDim(dim.getConstantIndex().value_or(0)))
      return;
    numbers.set(dim, dim.getConstantIndex() == 2 ? typicalLength : 1);
  });
  for (BlockArgument input : kernel.getInputArguments())
    if (input.getType().isIndex())
      numbers.set(input, AssumedNumbers::typicalReach);
  for (BlockArgument axis : kernel.getGridArguments())
    numbers.set(axis, 0);
  auto tiles = kernel.getGridArguments().drop_front(2);
  if (last)
    for (auto [tile, size, extent] : llvm::zip(tiles, op.getSizes(), op.getQueryBox())) {
      std::optional<int64_t> tokens = numbers.evaluate(size);
      if (!tokens)
        return std::nullopt;
      numbers.set(tile, std::max<int64_t>(*tokens - 1, 0) / extent);
    }
  return VisitCounter(numbers).count(op.getWalk().front());
}

namespace {
struct HopperSchedule final : lacuna::impl::HopperSchedulePassBase<HopperSchedule> {
  using HopperSchedulePassBase::HopperSchedulePassBase;

  void runOnOperation() override {
    getOperation()->walk([&](hopper::AttendOp op) {
      // The softmax of so many keys is longer than the other group's products, unless they take
      // turns.
      constexpr int64_t mostKeysWithoutTurns = 160;
      bool isLong = static_cast<int64_t>(op.getKeys()) > mostKeysWithoutTurns;
      op.setPingPong(pingPong || (isLong && op.getRows() / 64 == 2));
      std::optional<double> first = countVisits(op, /*last=*/false),
                            last = countVisits(op, /*last=*/true);
      op.setAscending(first && last && *first > *last);
    });
  }
};
} // namespace
