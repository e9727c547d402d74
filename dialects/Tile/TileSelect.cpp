//===- TileSelect.cpp - verifiers of programs that select -----------------===//
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace lacuna::tile;

/// What the elements of memory are.
enum class Elements { Floats, Numbers, Bytes };

/// select-1: memory of a rank and with elements that the op reads or writes.
static LogicalResult verifyMemory(Operation *op, StringRef what, Type type, int64_t rank,
                                  Elements elements = Elements::Floats) {
  auto shaped = dyn_cast<ShapedType>(type);
  auto fits = [&](Type element) {
    return elements == Elements::Floats ? isa<Float16Type, BFloat16Type, Float32Type>(element)
                                        : element.isInteger(elements == Elements::Bytes ? 8 : 32);
  };
  if (shaped && shaped.hasRank() && shaped.getRank() == rank && fits(shaped.getElementType()))
    return success();
  StringRef wanted = elements == Elements::Floats    ? "f16, bf16 or f32"
                     : elements == Elements::Numbers ? "i32"
                                                     : "i8";
  return op->emitOpError("expected ")
         << what << " of rank " << rank << " with elements " << wanted << ", got " << type;
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

/// The regions that restrict scores.
template <typename Op> static LogicalResult verifyRestriction(Op op) {
  Builder builder(op.getContext());
  Type index = builder.getIndexType(), flag = builder.getI1Type();
  if (failed(verifyFunction(op, "within", op.getWithin(), {index, index}, flag)))
    return failure();
  return verifyFunction(op, "force", op.getForce(), {index, index}, flag);
}

LogicalResult SummarizeOp::verify() {
  if (failed(verifyMemory(*this, "a source", getSource().getType(), 4)) ||
      failed(verifyMemory(*this, "a target", getTarget().getType(), 4)))
    return failure();
  // summarize-1
  if (getAt().empty() || getAt().size() != getSizes().size() || getAt().size() != getBox().size())
    return emitOpError("expected one coordinate, size and box extent per axis, got ")
           << getAt().size() << ", " << getSizes().size() << " and " << getBox().size();
  // summarize-2
  if (llvm::any_of(getBox(), [](int64_t extent) { return extent < 1; }))
    return emitOpError("expected positive box extents, got [") << getBox() << "]";
  // summarize-3
  ArrayRef<int64_t> channels = getChannels();
  int64_t all = getSource().getType().getDimSize(3);
  if (channels.size() != 2 || channels[0] < 0 || channels[0] >= channels[1] || channels[1] > all)
    return emitOpError("expected channels [first, last] with 0 <= first < last <= ")
           << all << ", got [" << channels << "]";
  // summarize-4
  using lacuna::select::Summary;
  if (getUnit().has_value() != static_cast<bool>(getTokens()) ||
      (getUnit() && static_cast<int64_t>(*getUnit()) < 1))
    return emitOpError("expected a positive unit together with a number of tokens");
  bool isPart = getUnit() || getPartial();
  if (isPart &&
      (getBox().size() != 1 ||
       !llvm::is_contained({Summary::Mean, Summary::Sum, Summary::Min, Summary::Max}, getKind())))
    return emitOpError("expected partials of mean, sum, min or max of a sequence, got ")
           << lacuna::select::stringifySummary(getKind()) << " over " << getBox().size() << " axes";
  if (getPartial())
    return verifyMemory(*this, "partials", getPartial().getType(), 4);
  return success();
}

LogicalResult FoldOp::verify() {
  // fold-1
  if (static_cast<int64_t>(getBy()) < 1)
    return emitOpError("expected at least one folded token, got ") << static_cast<int64_t>(getBy());
  if (failed(verifyMemory(*this, "a source", getSource().getType(), 4)))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4);
}

LogicalResult ProjectOp::verify() {
  if (failed(verifyMemory(*this, "a source", getSource().getType(), 4)) ||
      failed(verifyMemory(*this, "weights", getWeights().getType(), 3)) ||
      failed(verifyMemory(*this, "a target", getTarget().getType(), 4)))
    return failure();
  // project-1
  if (getTile().size() != 2 || getTile()[0] < 1 || getTile()[1] < 1)
    return emitOpError("expected a tile of rows and features, got [") << getTile() << "]";
  // project-2
  if (getSource().getType().getElementType() != getWeights().getType().getElementType())
    return emitOpError("expected tokens and weights of one element type, got ")
           << getSource().getType() << " and " << getWeights().getType();
  // project-3
  int64_t channels = getSource().getType().getDimSize(3);
  if (ShapedType::isDynamic(channels) || channels != getWeights().getType().getDimSize(1) ||
      getWeights().getType().isDynamicDim(2))
    return emitOpError("expected tokens and weights of a constant number of channels, got ")
           << getSource().getType() << " and " << getWeights().getType();
  return success();
}

LogicalResult ScoreBlocksOp::verify() {
  if (failed(verifyMemory(*this, "a query", getQuery().getType(), 4)) ||
      failed(verifyMemory(*this, "a key", getKey().getType(), 4)) ||
      failed(verifyMemory(*this, "a target", getTarget().getType(), getColumns() == 0 ? 3 : 4)))
    return failure();
  // score-blocks-1
  ArrayRef<int64_t> tile = getTile();
  auto rows = static_cast<int64_t>(getRows()), columns = static_cast<int64_t>(getColumns());
  if (tile.size() != 2 || rows < 1 || columns < 0 || tile[0] < 1 || tile[1] < 1 ||
      tile[0] % rows != 0 || (columns > 0 && tile[1] % columns != 0))
    return emitOpError("expected a tile of whole blocks of ")
           << rows << " rows and " << columns << " columns, got [" << tile << "]";
  // score-blocks-2
  if (static_cast<int64_t>(getGroup()) < 1)
    return emitOpError("expected at least one head in a group, got ")
           << static_cast<int64_t>(getGroup());
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
  if (failed(verifyMemory(*this, "a source", getSource().getType(), 4)))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4);
}

LogicalResult RestrictOp::verifyRegions() { return verifyRestriction(*this); }

LogicalResult ChooseOp::verify() {
  if (failed(verifyMemory(*this, "scores", getScores().getType(), 4)) ||
      failed(verifyMemory(*this, "ids", getIds().getType(), 4, Elements::Numbers)) ||
      failed(verifyMemory(*this, "counts", getCounts().getType(), 3, Elements::Numbers)))
    return failure();
  // choose-1
  if (getAt().size() != 3 - static_cast<unsigned>(getScope()))
    return emitOpError("expected ")
           << 3 - static_cast<unsigned>(getScope()) << " coordinates for scope "
           << lacuna::select::stringifyScope(getScope()) << ", got " << getAt().size();
  // choose-2
  if (static_cast<bool>(getNumber()) == getConstant().has_value())
    return emitOpError("expected either a constant or a value as the rule's number");
  // choose-3
  bool isRestricted = getRestricted() || !getWithin().empty() || !getForce().empty();
  if (isRestricted && getScope() != lacuna::select::Scope::Row)
    return emitOpError("expected restricted scores with scope row, got ")
           << lacuna::select::stringifyScope(getScope());
  if (getRestricted())
    return verifyMemory(*this, "restricted scores", getRestricted().getType(), 4);
  return success();
}

LogicalResult ChooseOp::verifyRegions() { return verifyRestriction(*this); }

LogicalResult SampleOp::verify() {
  if (failed(verifyMemory(*this, "scores", getScores().getType(), 4)) ||
      failed(verifyMemory(*this, "ids", getIds().getType(), 4, Elements::Numbers)) ||
      failed(verifyMemory(*this, "counts", getCounts().getType(), 3, Elements::Numbers)))
    return failure();
  return verifyMemory(*this, "weights", getWeights().getType(), 4);
}

LogicalResult MarginOp::verify() {
  if (failed(verifyMemory(*this, "scores", getScores().getType(), 4)))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 3);
}

LogicalResult GateOp::verify() {
  if (failed(verifyMemory(*this, "values", getValues().getType(), 3)))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 3, Elements::Numbers);
}

/// select-1 for lists.
static LogicalResult verifyLists(Operation *op, Type ids, Type counts) {
  if (failed(verifyMemory(op, "ids", ids, 4, Elements::Numbers)))
    return failure();
  return verifyMemory(op, "counts", counts, 3, Elements::Numbers);
}

/// select-1 for rows after each other.
static LogicalResult verifyCsr(Operation *op, Type rowPtr, Type columns) {
  if (failed(verifyMemory(op, "row pointers", rowPtr, 3, Elements::Numbers)))
    return failure();
  return verifyMemory(op, "column ids", columns, 3, Elements::Numbers);
}

LogicalResult ListOfMaskOp::verify() {
  if (failed(verifyMemory(*this, "a mask", getMask().getType(), 4, Elements::Bytes)))
    return failure();
  return verifyLists(*this, getIds().getType(), getCounts().getType());
}

LogicalResult MaskOfListOp::verify() {
  if (failed(verifyLists(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4, Elements::Bytes);
}

LogicalResult ListOfCsrOp::verify() {
  if (failed(verifyCsr(*this, getRowPtr().getType(), getColumns().getType())))
    return failure();
  return verifyLists(*this, getIds().getType(), getCounts().getType());
}

LogicalResult CsrOfListOp::verify() {
  if (failed(verifyLists(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyCsr(*this, getRowPtr().getType(), getColumns().getType());
}

//===----------------------------------------------------------------------===//
// Choices among candidates
//===----------------------------------------------------------------------===//

LogicalResult ChildrenOp::verify() {
  // children-1
  if (static_cast<int64_t>(getBy()) < 1)
    return emitOpError("expected at least one child of a node, got ")
           << static_cast<int64_t>(getBy());
  if (failed(verifyLists(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyLists(*this, getChildIds().getType(), getChildCounts().getType());
}

LogicalResult ScoreListOp::verify() {
  if (failed(verifyMemory(*this, "a query", getQuery().getType(), 4)) ||
      failed(verifyMemory(*this, "a key", getKey().getType(), 4)) ||
      failed(verifyLists(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4);
}

LogicalResult ScoreListOp::verifyRegions() { return verifyRestriction(*this); }

LogicalResult RefineOp::verify() {
  // refine-1
  if (static_cast<int64_t>(getBy()) < 1 || static_cast<int64_t>(getMost()) < 1)
    return emitOpError("expected at least one child of a node and of a list, got ")
           << static_cast<int64_t>(getBy()) << " and " << static_cast<int64_t>(getMost());
  // refine-2
  if (static_cast<bool>(getNumber()) == getConstant().has_value())
    return emitOpError("expected either a constant or a value as the rule's number");
  if (failed(verifyMemory(*this, "a query", getQuery().getType(), 4)) ||
      failed(verifyMemory(*this, "a key", getKey().getType(), 4)) ||
      failed(verifyLists(*this, getIds().getType(), getListCounts().getType())) ||
      failed(verifyLists(*this, getPicked().getType(), getCounts().getType())))
    return failure();
  auto isMemory = [&](Value memory, StringRef what, int64_t rank, Elements elements) {
    return !memory || succeeded(verifyMemory(*this, what, memory.getType(), rank, elements));
  };
  return success(isMemory(getChildIds(), "ids of children", 4, Elements::Numbers) &&
                 isMemory(getChildCounts(), "counts of children", 3, Elements::Numbers) &&
                 isMemory(getScores(), "scores", 4, Elements::Floats) &&
                 isMemory(getPlaces(), "places", 4, Elements::Numbers));
}

LogicalResult RefineOp::verifyRegions() { return verifyRestriction(*this); }

LogicalResult PickOp::verify() {
  if (failed(verifyLists(*this, getIds().getType(), getCounts().getType())) ||
      failed(verifyMemory(*this, "places", getPlaces().getType(), 4, Elements::Numbers)))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4, Elements::Numbers);
}

LogicalResult WithoutOp::verify() {
  if (failed(verifyMemory(*this, "scores", getScores().getType(), 4)) ||
      failed(verifyLists(*this, getIds().getType(), getCounts().getType())))
    return failure();
  return verifyMemory(*this, "a target", getTarget().getType(), 4);
}
