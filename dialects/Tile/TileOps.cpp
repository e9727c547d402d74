//===- TileOps.cpp - verifiers of what a kernel's body does ---------------===//
#include "dialects/Select/SelectSyntax.h"
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>

using namespace mlir;
using namespace lacuna::tile;
using lacuna::sparsity::SetType;

//===----------------------------------------------------------------------===//
// Rules that several ops share
//===----------------------------------------------------------------------===//

/// Most tokens in one box: more do not fit any cache, and products of extents stay small numbers.
static constexpr int64_t maxBoxTokens = 4096;

/// box-1, box-2: one extent per axis, each positive; returns the number of tokens.
static FailureOr<int64_t> verifyBox(Operation *op, StringRef side, ArrayRef<int64_t> box,
                                    size_t sizes) {
  if (box.empty() || box.size() > 4 || box.size() != sizes)
    return op->emitOpError("expected the ")
           << side << " box to have one extent per axis and one to four axes, got " << box.size()
           << " extents for " << sizes << " axes";
  int64_t tokens = 1;
  for (int64_t extent : box) {
    if (extent < 1 || extent > maxBoxTokens || tokens * extent > maxBoxTokens)
      return op->emitOpError("expected the ")
             << side << " box to have positive extents and at most " << maxBoxTokens
             << " tokens, got [" << box << "]";
    tokens *= extent;
  }
  return tokens;
}

/// box-3: as many coordinates as sizes.
static LogicalResult verifyAt(Operation *op, StringRef side, size_t at, size_t sizes) {
  if (at == sizes)
    return success();
  return op->emitOpError("expected one ")
         << side << " coordinate per axis, got " << at << " for " << sizes << " axes";
}

/// tile-2: `type` has exactly this shape and element type.
static LogicalResult verifyTile(Operation *op, StringRef what, TileType type,
                                ArrayRef<int64_t> shape, Type elementType) {
  auto expected = TileType::get(op->getContext(), shape, elementType);
  if (type == expected)
    return success();
  return op->emitOpError("expected ") << what << " of type " << expected << ", got " << type;
}

static Type getF32(Operation *op) { return Float32Type::get(op->getContext()); }

/// set-1: the axes of both sides are those of a set between two segments.
static LogicalResult verifySetAxes(Operation *op, SetType type, size_t queryAxes, size_t keyAxes) {
  if (!type.isSingle())
    return op->emitOpError("expected a set between one query and one key segment, got ") << type;
  if (type.getQueryRank() == queryAxes && type.getKeyRank() == keyAxes)
    return success();
  return op->emitOpError("expected the axes of ")
         << type << ", got " << queryAxes << " query axes and " << keyAxes << " key axes";
}

/// region-1, region-2: the types of a region's block and of what it yields.
static LogicalResult verifyRegion(Operation *op, Region &region, ArrayRef<Type> arguments,
                                  ArrayRef<Type> yielded) {
  if (region.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError("expected a region with arguments of types (")
           << arguments << "), got (" << region.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("expected the region to end with tile.yield");
  if (yield.getValues().getTypes() != TypeRange(yielded))
    return yield.emitOpError("expected to yield (")
           << yielded << "), got (" << yield.getValues().getTypes() << ")";
  return success();
}

/// body-1: the op stands in the body of a kernel.
static LogicalResult verifyInBody(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (kernel && kernel.getBody().isAncestor(op->getParentRegion()))
    return success();
  return op->emitOpError("expected to stand in the body of a tile.kernel");
}

//===----------------------------------------------------------------------===//
// tile.load, tile.store
//===----------------------------------------------------------------------===//

/// memory-1 to memory-3: the tile fits the box and the tensor that it is read from or written to.
static LogicalResult verifyTransfer(Operation *op, TileType tile, ShapedType memory, size_t at,
                                    size_t sizes, ArrayRef<int64_t> box) {
  FailureOr<int64_t> tokens = verifyBox(op, "token", box, sizes);
  if (failed(tokens) || failed(verifyAt(op, "token", at, sizes)))
    return failure();
  // memory-1
  if (tile.getRows() != *tokens)
    return op->emitOpError("expected a tile of ")
           << *tokens << " rows, the tokens of the box, got " << tile.getRows();
  // memory-2
  auto extents = static_cast<int64_t>(tile.getShape().size());
  if (memory.getRank() != extents + 2)
    return op->emitOpError("expected batch and head before the ")
           << extents << " axes of the tile, got " << memory;
  // memory-3
  if (extents == 2 && memory.getDimSize(3) != tile.getColumns())
    return op->emitOpError("expected a tile as wide as the head dimension, got ")
           << tile << " and " << memory;
  return success();
}

LogicalResult LoadOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  if (failed(verifyTransfer(*this, getTile().getType(), source, getAt().size(), getSizes().size(),
                            getBox())))
    return failure();
  // load-1
  if (source.getElementType() != getTile().getType().getElementType())
    return emitOpError("expected the source's elements unchanged, got ")
           << source.getElementType() << " and " << getTile().getType().getElementType();
  return success();
}

LogicalResult StoreOp::verify() {
  auto target = cast<ShapedType>(getTarget().getType());
  // store-1
  if (!target.hasRank() || !isa<FloatType>(target.getElementType()))
    return emitOpError("expected a ranked target of floats, got ") << target;
  if (failed(verifyInBody(*this)))
    return failure();
  return verifyTransfer(*this, getTile().getType(), target, getAt().size(), getSizes().size(),
                        getBox());
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  TileType query = getQuery().getType(), key = getKey().getType();
  // dot-1
  if (query.getShape().size() != 2 || key.getShape().size() != 2)
    return emitOpError("expected query and key tiles of rows and channels, got ")
           << query << " and " << key;
  // dot-2
  if (query.getColumns() != key.getColumns() || query.getElementType() != key.getElementType())
    return emitOpError("expected query and key to have the same channels and elements, got ")
           << query << " and " << key;
  // dot-3
  if (!getScale().isFinite())
    return emitOpError("expected a finite scale");
  return verifyTile(*this, "scores", getScores().getType(), {query.getRows(), key.getRows()},
                    getF32(*this));
}

/// The boxes and coordinates of an op that knows both sides of a tile; returns the tile's shape.
template <typename Op> static FailureOr<SmallVector<int64_t>> verifySides(Op op) {
  FailureOr<int64_t> rows = verifyBox(op, "query", op.getQueryBox(), op.getQuerySizes().size());
  if (failed(rows) ||
      failed(verifyAt(op, "query", op.getQueryAt().size(), op.getQuerySizes().size())))
    return failure();
  FailureOr<int64_t> columns = verifyBox(op, "key", op.getKeyBox(), op.getKeySizes().size());
  if (failed(columns) || failed(verifyAt(op, "key", op.getKeyAt().size(), op.getKeySizes().size())))
    return failure();
  return SmallVector<int64_t>{*rows, *columns};
}

LogicalResult ScoreOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = verifySides(*this);
  if (failed(shape))
    return failure();
  return verifyTile(*this, "scores", getScores().getType(), *shape, getF32(*this));
}

LogicalResult ScoreOp::verifyRegions() {
  Type score = getF32(*this), index = IndexType::get(getContext());
  return verifyRegion(*this, getBody(), {score, index, index, index, index}, {score});
}

/// predicate-1, predicate-2: the set is given by name or as a region, and has the axes of the
/// sides.
template <typename Op> static LogicalResult verifyPredicate(Op op) {
  if (static_cast<bool>(op.getSet()) == !op.getPredicate().empty())
    return op.emitOpError("expected either a set or a predicate region, got ")
           << (op.getSet() ? "both" : "neither");
  if (!op.getSet())
    return success();
  return verifySetAxes(op, op.getSet().getType(), op.getQuerySizes().size(),
                       op.getKeySizes().size());
}

template <typename Op> static LogicalResult verifyPredicateRegion(Op op) {
  if (op.getPredicate().empty())
    return success();
  SmallVector<Type> arguments(op.getQuerySizes().size() + op.getKeySizes().size(),
                              IndexType::get(op.getContext()));
  return verifyRegion(op, op.getPredicate(), arguments, {IntegerType::get(op.getContext(), 1)});
}

LogicalResult MaskOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = verifySides(*this);
  if (failed(shape) || failed(verifyPredicate(*this)))
    return failure();
  // mask-1
  auto loop = (*this)->getParentOfType<ForEachOp>();
  if (loop && loop.getTileClass() == TileClass::Full)
    return emitOpError("expected no mask in a loop over full tiles");
  // mask-2
  if (!loop && getSet())
    return emitOpError("expected a mask over a set to stand in a loop over live or partial tiles");
  return verifyTile(*this, "scores", getScores().getType(), *shape, getF32(*this));
}

LogicalResult MaskOp::verifyRegions() { return verifyPredicateRegion(*this); }

LogicalResult ClassifyOp::verify() {
  if (failed(verifySides(*this)))
    return failure();
  return verifyPredicate(*this);
}

LogicalResult ClassifyOp::verifyRegions() { return verifyPredicateRegion(*this); }

//===----------------------------------------------------------------------===//
// The online softmax
//===----------------------------------------------------------------------===//

/// state-1, state-2: an accumulator of rows x channels and row values, all f32.
static LogicalResult verifyState(Operation *op, TileType accumulator, TileType maximum,
                                 TileType sum) {
  if (accumulator.getShape().size() != 2 || !accumulator.getElementType().isF32())
    return op->emitOpError("expected an f32 accumulator of rows and channels, got ") << accumulator;
  if (failed(verifyTile(op, "maximum", maximum, accumulator.getRows(), getF32(op))))
    return failure();
  return verifyTile(op, "sum", sum, accumulator.getRows(), getF32(op));
}

LogicalResult BeginOp::verify() {
  return verifyState(*this, getAccumulator().getType(), getMaximum().getType(), getSum().getType());
}

LogicalResult SoftmaxStepOp::verify() {
  TileType accumulator = getAccumulator().getType(), values = getValues().getType();
  if (failed(verifyState(*this, accumulator, getMaximum().getType(), getSum().getType())))
    return failure();
  // step-1
  if (values.getShape().size() != 2 || values.getColumns() != accumulator.getColumns())
    return emitOpError("expected values as wide as the accumulator, got ")
           << values << " and " << accumulator;
  // step-2
  return verifyTile(*this, "scores", getScores().getType(),
                    {accumulator.getRows(), values.getRows()}, getF32(*this));
}

/// marks-1: `taken` holds a byte for each pair of blocks.
static LogicalResult verifyMarks(Operation *op, Type taken) {
  auto type = cast<MemRefType>(taken);
  if (type.getRank() != 4 || !type.getElementType().isInteger(8))
    return op->emitOpError("expected marks of type i8 with four axes, got ") << type;
  return verifyInBody(op);
}

LogicalResult SkipOp::verify() {
  if (failed(verifyMarks(*this, getTaken().getType())))
    return failure();
  // skip-1
  TileType scores = getScores().getType();
  if (scores.getShape().size() != 2 || !scores.getElementType().isF32())
    return emitOpError("expected f32 scores of rows and keys, got ") << scores;
  if (failed(verifyTile(*this, "maximum", getMaximum().getType(), scores.getRows(), getF32(*this))))
    return failure();
  // skip-2
  auto rows = static_cast<int64_t>(getRows());
  if (rows < 1 || scores.getRows() % rows != 0)
    return emitOpError("expected a tile of whole blocks, got ")
           << scores.getRows() << " rows for blocks of " << rows;
  // skip-3
  if (!getBelow() && !getMargin())
    return emitOpError("expected limits of rows, or a margin");
  // skip-4
  for (Operation *user : getResult().getUsers())
    if (!isa<SoftmaxStepOp>(user))
      return emitOpError("expected the result to go to softmax steps only, got '")
             << user->getName() << "'";
  return success();
}

LogicalResult UnmarkOp::verify() {
  // skip-2
  auto rows = static_cast<int64_t>(getRows()), tile = static_cast<int64_t>(getTile());
  if (rows < 1 || tile < 1 || tile % rows != 0)
    return emitOpError("expected a tile of whole blocks, got ")
           << tile << " rows for blocks of " << rows;
  return verifyMarks(*this, getTaken().getType());
}

LogicalResult FinishOp::verify() {
  TileType accumulator = getAccumulator().getType();
  if (failed(verifyState(*this, accumulator, getMaximum().getType(), getSum().getType())))
    return failure();
  return verifyTile(*this, "output", getOutput().getType(), accumulator.getShape(), getF32(*this));
}

LogicalResult MergeOp::verify() {
  // merge-1
  if (getOutputs().empty())
    return emitOpError("expected at least one part");
  TileType output = getOutput().getType();
  if (failed(verifyState(*this, output, getLse().getType(), getLse().getType())))
    return failure();
  // merge-2
  for (auto [part, lse] : llvm::zip_equal(getOutputs(), getLses())) {
    auto partType = cast<TileType>(part.getType());
    if (partType.getShape() != output.getShape())
      return emitOpError("expected parts of the shape of ") << output << ", got " << partType;
    if (lse.getType() != getLse().getType())
      return emitOpError("expected each part's lse to be ")
             << getLse().getType() << ", got " << lse.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tile.for_each
//===----------------------------------------------------------------------===//

LogicalResult ForEachOp::verify() {
  if (failed(verifyBox(*this, "query", getQueryBox(), getQuerySizes().size())) ||
      failed(verifyAt(*this, "query", getQueryAt().size(), getQuerySizes().size())) ||
      failed(verifyBox(*this, "key", getKeyBox(), getKeySizes().size())))
    return failure();
  return verifySetAxes(*this, getSet().getType(), getQuerySizes().size(), getKeySizes().size());
}

LogicalResult ForEachOp::verifyRegions() {
  SmallVector<Type> arguments(getKeySizes().size(), IndexType::get(getContext()));
  llvm::append_range(arguments, getInit().getTypes());
  SmallVector<Type> results(getInit().getTypes());
  return verifyRegion(*this, getBody(), arguments, results);
}

using lacuna::select::parseConstant;
using lacuna::select::parseRuleNumber;
using lacuna::select::printConstant;
using lacuna::select::printRuleNumber;

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"
