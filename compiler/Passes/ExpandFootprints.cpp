//===- ExpandFootprints.cpp - loops over sets become loops over indices ---===//
#include "compiler/Passes/FootprintLoops.h"
#include "compiler/Passes/Passes.h"

#include <deque>

namespace lacuna {
#define GEN_PASS_DEF_EXPANDFOOTPRINTSPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::Formula;
using lacuna::sparsity::FormulaSpace;

/// Erases sets and domains that nothing uses any more.
static void eraseUnusedSets(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa_and_present<sparsity::SparsityDialect>(op->getDialect()))
      return WalkResult::advance();
    ops.push_back(op);
    // What a set holds goes with it.
    return WalkResult::skip();
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isMemoryEffectFree(op))
      op->erase();
}

namespace {
/// A set with its footprint for one tile shape. The full and the partial loop of a kernel ask for
/// the same one.
struct KnownFootprint {
  Value set;
  TileShape shape;
  FormulaSpace space;
  Formula formula;
  Footprint footprint;
  /// Whether the footprint is one of single keys, and loops start at its corner.
  bool unaligned;
  bool ascending;
};

struct ExpandFootprints final : lacuna::impl::ExpandFootprintsPassBase<ExpandFootprints> {
  using ExpandFootprintsPassBase::ExpandFootprintsPassBase;

  void runOnOperation() override {
    known.clear();
    SmallVector<tile::ForEachOp> loops;
    getOperation()->walk([&](tile::ForEachOp loop) { loops.push_back(loop); });
    for (tile::ForEachOp loop : loops) {
      FailureOr<const KnownFootprint *> found = find(loop);
      if (failed(found))
        return signalPassFailure();
      const KnownFootprint &set = **found;
      writeLoops(loop, set.formula, set.space, set.footprint, set.unaligned);
    }
    eraseUnusedSets(getOperation());
  }

  FailureOr<const KnownFootprint *> find(tile::ForEachOp loop) {
    TileShape shape{llvm::to_vector(loop.getQueryBox()), llvm::to_vector(loop.getKeyBox())};
    for (const KnownFootprint &one : known)
      if (one.set == loop.getSet() && one.shape.query == shape.query &&
          one.shape.key == shape.key && one.ascending == loop.getAscending())
        return &one;
    auto type = cast<sparsity::SetType>(loop.getSet().getType());
    FormulaSpace space(loop.getContext(), type.getQueryRank(), type.getKeyRank());
    FailureOr<Formula> formula = sparsity::buildFormula(loop.getSet(), space);
    if (failed(formula))
      return failure();
    std::optional<Footprint> free;
    // A table of classes has an entry for each tile of the grid, and for none in between.
    bool isTable = loop.getClasses() || !loop.getBody().getOps<memref::StoreOp>().empty();
    // One loop over one axis has its tiles in order; several boxes have not.
    FootprintOptions options;
    if (loop.getAscending())
      options.maxBoxes = 1;
    if (unaligned && shape.key.size() > 1 && !isTable)
      free = computeKeyFootprint(*formula, space, shape);
    bool isFree = free.has_value();
    Footprint footprint =
        isFree ? std::move(*free) : computeFootprint(*formula, space, shape, options);
    known.push_back({loop.getSet(), std::move(shape), std::move(space), std::move(*formula),
                     std::move(footprint), isFree, loop.getAscending()});
    return &known.back();
  }

  std::deque<KnownFootprint> known;
};
} // namespace
