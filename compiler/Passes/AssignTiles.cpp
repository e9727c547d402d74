//===- AssignTiles.cpp - tile shapes per attend ---------------------------===//
#include "compiler/Passes/HopperTileChoice.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Passes/Segments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <bit>

namespace lacuna {
#define GEN_PASS_DEF_ASSIGNTILESPASS
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna

using namespace mlir;
using namespace lacuna;

/// Tokens of a tile on the CPU.
static constexpr int64_t evenTokens = 64;

/// A box of `tokens` (a power of two) as even as possible: the shortest extent that may still grow
/// is doubled, later axes first. `limits` are the next powers of two of constant sizes, 0 for
/// others.
static SmallVector<int64_t> chooseBox(int64_t tokens, ArrayRef<int64_t> limits) {
  SmallVector<int64_t> box(limits.size(), 1);
  for (int64_t left = tokens; left > 1; left /= 2) {
    // When every axis has reached its limit the last one is padded.
    size_t best = box.size() - 1;
    bool found = false;
    for (size_t axis = box.size(); axis-- > 0;) {
      if (limits[axis] != 0 && box[axis] >= limits[axis])
        continue;
      if (!found || box[axis] < box[best])
        best = axis;
      found = true;
    }
    box[best] *= 2;
  }
  return box;
}

/// The next power of two of each constant size of `segment`, 0 for sizes known at run time only.
static SmallVector<int64_t> getLimits(const Segments &segments, unsigned segment) {
  SmallVector<int64_t> limits(segments.getRank(segment), 0);
  if (segments.isLoneSequence())
    return limits;
  for (auto [limit, size] : llvm::zip_equal(limits, segments.getSizes(segment)))
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      limit = std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(*constant, 1, 1 << 20)));
  return limits;
}

/// Boxes of all segments, flat: `asked` itself when it has one extent per axis, else boxes of
/// `asked` (one number) tokens.
static FailureOr<SmallVector<int64_t>> chooseTile(attn::AttendOp op, const Segments &segments,
                                                  ArrayRef<int64_t> asked, int64_t standard,
                                                  StringRef option) {
  int64_t axes = 0;
  for (unsigned segment = 0; segment < segments.size(); ++segment)
    axes += segments.getRank(segment);
  for (int64_t extent : asked)
    if (extent < 1)
      return op.emitOpError("expected positive extents for ") << option << ", got " << extent;
  if (static_cast<int64_t>(asked.size()) == axes)
    return SmallVector<int64_t>(asked);
  if (asked.size() > 1)
    return op.emitOpError("expected one number or one per axis for ")
           << option << ", got " << asked.size() << " for " << axes << " axes";
  int64_t tokens = asked.empty() ? standard : asked.front();
  if (segments.isLoneSequence())
    return SmallVector<int64_t>{tokens};
  if (!std::has_single_bit(static_cast<uint64_t>(tokens)))
    return op.emitOpError("expected a power of two for ")
           << option << " to share among axes, got " << tokens;
  SmallVector<int64_t> boxes;
  for (unsigned segment = 0; segment < segments.size(); ++segment)
    llvm::append_range(boxes, chooseBox(tokens, getLimits(segments, segment)));
  return boxes;
}

namespace {
struct AssignTiles final : lacuna::impl::AssignTilesPassBase<AssignTiles> {
  using AssignTilesPassBase::AssignTilesPassBase;

  /// Even boxes of `queries` and of `keys` tokens, or what is asked for.
  LogicalResult assignEven(attn::AttendOp op, const Segments &segments, int64_t queries,
                           int64_t keys) {
    if (!op.getQueryTile()) {
      FailureOr<SmallVector<int64_t>> tile =
          chooseTile(op, segments, queryTile, queries, "query-tile");
      if (failed(tile))
        return failure();
      op.setQueryTile(*tile);
    }
    if (!op.getKeyTile()) {
      FailureOr<SmallVector<int64_t>> tile = chooseTile(op, segments, keyTile, keys, "key-tile");
      if (failed(tile))
        return failure();
      op.setKeyTile(*tile);
    }
    return success();
  }

  /// The box that the attend has or the options ask for; empty when the planner chooses.
  FailureOr<Extents> getAsked(attn::AttendOp op, const Segments &segments,
                              std::optional<ArrayRef<int64_t>> written, ArrayRef<int64_t> option,
                              StringRef name) {
    if (written)
      return Extents(*written);
    if (option.empty())
      return Extents();
    FailureOr<SmallVector<int64_t>> tile = chooseTile(op, segments, option, 0, name);
    if (failed(tile))
      return failure();
    return Extents(tile->begin(), tile->end());
  }

  LogicalResult assignPlanned(attn::AttendOp op, const Segments &segments) {
    FailureOr<Extents> query = getAsked(op, segments, op.getQueryTile(), queryTile, "query-tile");
    if (failed(query))
      return failure();
    FailureOr<Extents> key = getAsked(op, segments, op.getKeyTile(), keyTile, "key-tile");
    if (failed(key))
      return failure();
    FailureOr<std::vector<HopperCandidate>> shapes = compareHopperTiles(op, segments, *query, *key);
    if (failed(shapes))
      return failure();
    op.setQueryTile(shapes->front().query);
    op.setKeyTile(shapes->front().key);
    return success();
  }

  void runOnOperation() override {
    if (target != "cpu" && target != "sm_90a") {
      getOperation().emitError("expected target cpu or sm_90a, got ") << target;
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](attn::AttendOp op) -> WalkResult {
      Segments segments;
      if (failed(segments.readDomain(op)))
        return WalkResult::interrupt();
      // What the GPU cannot do yet is refused where its tiles are read.
      bool planned = target == "sm_90a" && segments.size() == 1 && segments.getRank(0) <= 3;
      LogicalResult done = planned              ? assignPlanned(op, segments)
                           : target == "sm_90a" ? assignEven(op, segments, 128, 128)
                                                : assignEven(op, segments, evenTokens, evenTokens);
      return failed(done) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
