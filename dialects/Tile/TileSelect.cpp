//===- TileSelect.cpp - verifiers of programs that select -----------------===//
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace lacuna::tile;

/// select-1: memory of a rank.
static LogicalResult verifyRank(Operation *op, StringRef what, Type type, int64_t rank) {
  if (auto shaped = dyn_cast<ShapedType>(type);
      shaped && shaped.hasRank() && shaped.getRank() == rank)
    return success();
  return op->emitOpError("expected ") << what << " of rank " << rank << ", got " << type;
}

/// select-2: a region's arguments and what it yields.
static LogicalResult verifyFunction(Operation *op, StringRef what, Region &region,
                                    ArrayRef<Type> arguments, Type yielded) {
  if (region.empty())
    return success();
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (region.getArgumentTypes() != TypeRange(arguments) || !yield ||
      yield.getValues().getTypes() != TypeRange(yielded))
    return op->emitOpError("expected region ")
           << what << " to be a function from (" << arguments << ") to " << yielded;
  return success();
}

LogicalResult SummarizeOp::verify() {
  if (failed(verifyRank(*this, "a source", getSource().getType(), 4)) ||
      failed(verifyRank(*this, "a target", getTarget().getType(), 4)))
    return failure();
  // summarize-1
  if (getAt().empty() || getAt().size() != getSizes().size() || getAt().size() != getBox().size())
    return emitOpError("expected one coordinate, size and box extent per axis, got ")
           << getAt().size() << ", " << getSizes().size() << " and " << getBox().size();
  // summarize-2
  if (getChannels().size() != 2)
    return emitOpError("expected the first and the last channel, got ") << getChannels().size();
  return success();
}

LogicalResult FoldOp::verify() {
  if (failed(verifyRank(*this, "a source", getSource().getType(), 4)))
    return failure();
  return verifyRank(*this, "a target", getTarget().getType(), 4);
}

LogicalResult ScoreBlocksOp::verify() {
  if (failed(verifyRank(*this, "a query", getQuery().getType(), 4)) ||
      failed(verifyRank(*this, "a key", getKey().getType(), 4)) ||
      failed(verifyRank(*this, "a target", getTarget().getType(), getColumns() == 0 ? 3 : 4)))
    return failure();
  // score-blocks-1
  ArrayRef<int64_t> tile = getTile();
  auto rows = static_cast<int64_t>(getRows()), columns = static_cast<int64_t>(getColumns());
  if (tile.size() != 2 || rows < 1 || columns < 0 || tile[0] < 1 || tile[1] < 1 ||
      tile[0] % rows != 0 || (columns > 0 && tile[1] % columns != 0))
    return emitOpError("expected a tile of whole blocks of ")
           << rows << " rows and " << columns << " columns, got [" << tile << "]";
  return success();
}

LogicalResult ScoreBlocksOp::verifyRegions() {
  Builder builder(getContext());
  Type index = builder.getIndexType(), score = builder.getF32Type();
  if (failed(verifyFunction(*this, "live", getLive(), {index, index, index}, builder.getI1Type())))
    return failure();
  return verifyFunction(*this, "function", getFunction(), {score, index, index, index, index},
                        score);
}

LogicalResult RestrictOp::verify() {
  if (failed(verifyRank(*this, "a source", getSource().getType(), 4)))
    return failure();
  return verifyRank(*this, "a target", getTarget().getType(), 4);
}

LogicalResult RestrictOp::verifyRegions() {
  Builder builder(getContext());
  Type index = builder.getIndexType(), flag = builder.getI1Type();
  if (failed(verifyFunction(*this, "within", getWithin(), {index, index}, flag)))
    return failure();
  return verifyFunction(*this, "force", getForce(), {index, index}, flag);
}

LogicalResult ChooseOp::verify() {
  if (failed(verifyRank(*this, "scores", getScores().getType(), 4)) ||
      failed(verifyRank(*this, "ids", getIds().getType(), 4)) ||
      failed(verifyRank(*this, "counts", getCounts().getType(), 3)))
    return failure();
  // choose-1
  if (getAt().size() != 3 - static_cast<unsigned>(getScope()))
    return emitOpError("expected ")
           << 3 - static_cast<unsigned>(getScope()) << " coordinates for scope "
           << lacuna::select::stringifyScope(getScope()) << ", got " << getAt().size();
  // choose-2
  if (static_cast<bool>(getNumber()) == getConstant().has_value())
    return emitOpError("expected either a constant or a value as the rule's number");
  return success();
}

LogicalResult SampleOp::verify() {
  if (failed(verifyRank(*this, "scores", getScores().getType(), 4)) ||
      failed(verifyRank(*this, "ids", getIds().getType(), 4)) ||
      failed(verifyRank(*this, "counts", getCounts().getType(), 3)))
    return failure();
  return verifyRank(*this, "weights", getWeights().getType(), 4);
}

LogicalResult MarginOp::verify() {
  if (failed(verifyRank(*this, "scores", getScores().getType(), 4)))
    return failure();
  return verifyRank(*this, "a target", getTarget().getType(), 3);
}

LogicalResult GateOp::verify() {
  if (failed(verifyRank(*this, "values", getValues().getType(), 3)))
    return failure();
  return verifyRank(*this, "a target", getTarget().getType(), 3);
}
