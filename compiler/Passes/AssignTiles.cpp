//===- AssignTiles.cpp - tile shapes per attend ---------------------------===//
#include "compiler/Passes/FusedMerges.h"
#include "compiler/Passes/HeadTiles.h"
#include "compiler/Passes/Lists.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/TileChoice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/bit.h"

namespace lacuna {
#define GEN_PASS_DEF_ASSIGNTILESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Tokens of a tile on the CPU.
static constexpr int64_t cpuTokens = 64;

/// Tokens of a query and of a key tile on sm_90a where shapes are not compared: powers of two,
/// which any number of axes can share.
static FailureOr<std::pair<int64_t, int64_t>> chooseTokens(attn::AttendOp op) {
  FailureOr<HopperProblem> problem = getHopperProblem(op);
  if (failed(problem))
    return failure();
  problem->query = {128};
  HopperCandidate sequence = compareForSequence(*problem).front();
  return std::pair<int64_t, int64_t>(128,
                                     llvm::bit_floor(static_cast<uint64_t>(sequence.shape.keys)));
}

namespace {
struct AssignTiles final : lacuna::impl::AssignTilesPassBase<AssignTiles> {
  using AssignTilesPassBase::AssignTilesPassBase;

  /// Even boxes, or what is asked for.
  LogicalResult assignEven(attn::AttendOp op, const Segments &segments) {
    std::pair<int64_t, int64_t> tokens = {cpuTokens, cpuTokens};
    if (target == "sm_90a") {
      FailureOr<std::pair<int64_t, int64_t>> chosen = chooseTokens(op);
      if (failed(chosen))
        return failure();
      tokens = *chosen;
    }
    if (auto list = chooseListTiles(op, segments, tokens.first, tokens.second)) {
      if (!op.getQueryTile() && queryTile.empty())
        op.setQueryTile(list->first);
      if (!op.getKeyTile() && keyTile.empty())
        op.setKeyTile(list->second);
    }
    if (!op.getQueryTile()) {
      FailureOr<SmallVector<int64_t>> tile =
          chooseEvenTile(op, segments, queryTile, tokens.first, "query-tile");
      if (failed(tile))
        return failure();
      op.setQueryTile(*tile);
    }
    if (!op.getKeyTile()) {
      FailureOr<SmallVector<int64_t>> tile = chooseEvenTile(op, segments, keyTile, tokens.second,
                                                            "key-tile", target == "sm_90a" ? 8 : 1);
      if (failed(tile))
        return failure();
      op.setKeyTile(*tile);
    }
    return success();
  }

  LogicalResult assignPlanned(attn::AttendOp op, const Segments &segments) {
    FailureOr<std::vector<HopperCandidate>> shapes =
        compareHopperTiles(op, segments, queryTile, keyTile);
    if (failed(shapes))
      return failure();
    op.setQueryTile(shapes->front().query);
    op.setKeyTile(shapes->front().key);
    if (int64_t heads = shapes->front().heads; heads > 1)
      op->setAttr(headTileMark, Builder(op.getContext()).getI64IntegerAttr(heads));
    return success();
  }

  /// The blocks that are skipped.
  LogicalResult assignBlocks(attn::AttendOp op) {
    if (failed(requireSkipTile(op, queryTile, keyTile)))
      return failure();
    if (!op.getQueryTile())
      op.setQueryTile(queryTile.empty() ? *op.getSkipQuery() : ArrayRef<int64_t>(queryTile));
    op.setKeyTile(*op.getSkipKey());
    return success();
  }

  LogicalResult assign(attn::AttendOp op) {
    Segments segments;
    if (failed(segments.readDomain(op)))
      return failure();
    if (op.hasSkip() && target == "cpu")
      return assignBlocks(op);
    bool planned = target == "sm_90a" && hasHopperModel(segments);
    return planned ? assignPlanned(op, segments) : assignEven(op, segments);
  }

  /// Attends that one kernel computes have the tiles of one of them: of one that walks a list,
  /// whose blocks tiles must divide, if there is one.
  LogicalResult assignFused(attn::MergeOp merge) {
    SmallVector<attn::AttendOp> parts = findFusedParts(merge);
    if (parts.empty())
      return success();
    attn::AttendOp *listed = llvm::find_if(parts, [](attn::AttendOp part) {
      return static_cast<bool>(findAdditiveList(part.getSet()));
    });
    attn::AttendOp main = listed == parts.end() ? parts.front() : *listed;
    if (failed(assign(main)))
      return failure();
    for (attn::AttendOp part : parts) {
      if (!part.getQueryTile())
        part.setQueryTile(*main.getQueryTile());
      if (!part.getKeyTile())
        part.setKeyTile(*main.getKeyTile());
    }
    return success();
  }

  void runOnOperation() override {
    if (target != "cpu" && target != "sm_90a") {
      getOperation().emitError("expected target cpu or sm_90a, got ") << target;
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto merge = dyn_cast<attn::MergeOp>(op))
        return assignFused(merge);
      auto attend = dyn_cast<attn::AttendOp>(op);
      return attend && !findFusedMerge(attend) ? assign(attend) : success();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
