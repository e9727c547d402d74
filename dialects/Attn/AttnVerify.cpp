//===- AttnVerify.cpp - the rules of attend and merge ---------------------===//
#include "dialects/Attn/AttnInternal.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lacuna::attn;
using lacuna::sparsity::SetType;

/// Largest head dimension. GPU targets take 32 to 256 in steps of 8 and refuse others themselves.
static constexpr int64_t maxHeadDim = 512;

/// Most tokens in one tile.
static constexpr int64_t maxTileTokens = 4096;

LogicalResult lacuna::attn::verifyTokens(Operation *op, StringRef what, RankedTensorType type) {
  // shape-1
  if (type.getEncoding())
    return op->emitOpError("expected ") << what << " without an encoding, got " << type;
  // shape-2
  int64_t channels = type.getDimSize(3);
  if (!ShapedType::isDynamic(channels) && channels >= 1 && channels <= maxHeadDim)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expected ")
                                  << what << " to have a constant head dimension from 1 to "
                                  << maxHeadDim << ", got ";
  if (ShapedType::isDynamic(channels))
    return diagnostic << "?";
  return diagnostic << channels;
}

//===----------------------------------------------------------------------===//
// attn.attend
//===----------------------------------------------------------------------===//

/// attend-1 to attend-5: extents that query, key and value share.
static LogicalResult verifyInputs(AttendOp op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto key = cast<RankedTensorType>(op.getKey().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  auto shared = [&](RankedTensorType a, RankedTensorType b, unsigned axis,
                    StringRef rule) -> LogicalResult {
    if (!differ(a.getDimSize(axis), b.getDimSize(axis)))
      return success();
    return op.emitOpError("expected ")
           << rule << ", got " << a.getDimSize(axis) << " and " << b.getDimSize(axis);
  };
  // attend-1
  if (failed(shared(query, key, 0, "query and key to share the batch")) ||
      failed(shared(key, value, 0, "key and value to share the batch")) ||
      failed(shared(query, value, 0, "query and value to share the batch")))
    return failure();
  // attend-2
  if (failed(shared(key, value, 1, "key and value to have the same number of heads")))
    return failure();
  // attend-3
  if (failed(shared(key, value, 2, "key and value to have the same length")))
    return failure();
  // attend-4
  if (failed(shared(query, key, 3, "query and key to share the head dimension")))
    return failure();
  // attend-5
  int64_t heads = query.getDimSize(1), keyHeads = key.getDimSize(1);
  if (ShapedType::isDynamic(keyHeads))
    keyHeads = value.getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads))
    return success();
  if (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0)
    return op.emitOpError("expected the number of query heads to be a multiple of the number of "
                          "key heads, got ")
           << heads << " and " << keyHeads;
  return success();
}

/// attend-6 to attend-8: element types and the shapes of the results.
static LogicalResult verifyResults(AttendOp op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  auto output = cast<RankedTensorType>(op.getOutput().getType());
  // attend-6
  Type element = query.getElementType();
  for (Type type : {op.getKey().getType(), op.getValue().getType(), op.getOutput().getType()})
    if (cast<RankedTensorType>(type).getElementType() != element)
      return op.emitOpError("expected query, key, value and output of one element type, got ")
             << element << " and " << cast<RankedTensorType>(type).getElementType();
  // attend-7
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getDimSize(3);
  if (output.getShape() != ArrayRef(shape))
    return op.emitOpError("expected an output of type ")
           << RankedTensorType::get(shape, element) << ", got " << output;
  // attend-8
  if (!op.getLse())
    return success();
  shape.pop_back();
  auto lse = RankedTensorType::get(shape, Float32Type::get(op.getContext()));
  if (op.getLse().getType() != lse)
    return op.emitOpError("expected an lse of type ") << lse << ", got " << op.getLse().getType();
  return success();
}

/// attend-9, attend-10: sinks and scale.
static LogicalResult verifyNumbers(AttendOp op) {
  // attend-9
  int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  if (op.getSinks()) {
    auto sinks = cast<RankedTensorType>(op.getSinks().getType());
    if (differ(sinks.getDimSize(0), heads))
      return op.emitOpError("expected one sink per query head, got ")
             << sinks.getDimSize(0) << " sinks and " << heads << " heads";
  }
  // attend-10
  if (std::optional<APFloat> scale = op.getScale(); scale && !scale->isFinite())
    return op.emitOpError("expected a finite scale");
  return success();
}

LogicalResult
lacuna::attn::verifySetOps(Operation *op, Value set,
                           llvm::function_ref<LogicalResult(Operation *definition)> check) {
  llvm::SetVector<Value> sets;
  sets.insert(set);
  for (size_t next = 0; next < sets.size(); ++next) {
    Operation *definition = sets[next].getDefiningOp();
    if (!definition || !isa<lacuna::sparsity::SparsityDialect>(definition->getDialect()))
      return op->emitOpError("expected a set that set ops define, got one from outside");
    if (failed(check(definition)))
      return failure();
    for (Value operand : definition->getOperands())
      if (isa<SetType>(operand.getType()))
        sets.insert(operand);
  }
  return success();
}

/// attend-11, attend-12, attend-17: both sides of the set are the same segments, ops say what it
/// holds, and nodes seen through columns are not part of other sets.
static LogicalResult verifySet(AttendOp op) {
  SetType type = cast<SetType>(op.getSet().getType());
  // attend-11
  if (type.getQuery() != type.getKey())
    return op.emitOpError("expected a set whose queries and keys lie in the same segments, got ")
           << type;
  // attend-12
  return verifySetOps(op, op.getSet(), [&](Operation *definition) -> LogicalResult {
    // attend-17
    auto dyadic = dyn_cast<lacuna::sparsity::DyadicOp>(definition);
    if (!dyadic || !dyadic.getColumns() || dyadic == op.getSet().getDefiningOp())
      return success();
    InFlightDiagnostic diagnostic =
        op.emitOpError("expected a hierarchy with columns to be the whole set, got it as an "
                       "operand of other sets");
    diagnostic.attachNote(dyadic.getLoc()) << "the hierarchy is this";
    return diagnostic;
  });
}

/// attend-13: a box per segment of the set's domain, if tiles are given.
static LogicalResult verifyTileShape(AttendOp op, StringRef name,
                                     std::optional<ArrayRef<int64_t>> boxes) {
  if (!boxes)
    return success();
  ArrayRef<int64_t> ranks = cast<SetType>(op.getSet().getType()).getQuery();
  size_t axes = 0;
  for (int64_t rank : ranks)
    axes += rank;
  if (boxes->size() != axes)
    return op.emitOpError("expected ") << name << " to have an extent for each of the " << axes
                                       << " axes, got " << boxes->size();
  size_t axis = 0;
  for (int64_t rank : ranks) {
    int64_t tokens = 1;
    for (int64_t extent : boxes->slice(axis, rank)) {
      if (extent < 1 || extent > maxTileTokens || tokens * extent > maxTileTokens)
        return op.emitOpError("expected ")
               << name << " to have positive extents and at most " << maxTileTokens
               << " tokens per tile, got [" << *boxes << "]";
      tokens *= extent;
    }
    axis += rank;
  }
  return success();
}

/// attend-20: an extent per axis for the blocks of one side.
static LogicalResult verifySkipBlock(AttendOp op, StringRef side, ArrayRef<int64_t> block) {
  if (block.size() == 1 && block.front() >= 1 && block.front() <= maxTileTokens)
    return success();
  return op.emitOpError("expected ") << side << " blocks that are skipped to have one extent from "
                                     << "1 to " << maxTileTokens << ", got [" << block << "]";
}

/// attend-18 to attend-23: which blocks are skipped, and what says which were not.
static LogicalResult verifySkip(AttendOp op) {
  // attend-18
  if (!op.hasSkip()) {
    if (op.getSkipKey() || op.getBelow() || op.getMargin() || op.getTaken())
      return op.emitOpError("expected limits, margins and marks of blocks to come with 'skip'");
    return success();
  }
  if (!op.getSkipKey() || (!op.getBelow() && !op.getMargin()))
    return op.emitOpError("expected 'skip' to say what is skipped: 'below' limits of rows, or a "
                          "'margin' to the largest score");
  // attend-19
  auto type = cast<SetType>(op.getSet().getType());
  if (type != SetType::get(op.getContext(), {1}))
    return op.emitOpError("expected a set of one sequence where blocks are skipped, got ") << type;
  if (auto dyadic = op.getSet().getDefiningOp<lacuna::sparsity::DyadicOp>();
      dyadic && dyadic.getColumns())
    return op.emitOpError("expected no hierarchy with columns where blocks are skipped");
  if (failed(verifySkipBlock(op, "query", *op.getSkipQuery())) ||
      failed(verifySkipBlock(op, "key", *op.getSkipKey())))
    return failure();
  // attend-21
  if (std::optional<APFloat> margin = op.getMargin();
      margin && (!margin->isFinite() || margin->isNegative()))
    return op.emitOpError("expected a finite margin of at least 0, got ")
           << margin->convertToDouble();
  // attend-22
  ArrayRef<int64_t> queries = cast<RankedTensorType>(op.getQuery().getType()).getShape();
  if (op.getBelow()) {
    auto below = cast<RankedTensorType>(op.getBelow().getType());
    for (unsigned axis = 0; axis < 3; ++axis)
      if (differ(below.getDimSize(axis), queries[axis]))
        return op.emitOpError("expected a limit per row of the query, of type ")
               << RankedTensorType::get(queries.drop_back(), below.getElementType()) << ", got "
               << below;
  }
  // attend-23
  if (!op.getTaken())
    return success();
  auto taken = cast<RankedTensorType>(op.getTaken().getType());
  auto count = [](int64_t tokens, int64_t block) {
    return ShapedType::isDynamic(tokens) ? tokens : llvm::divideCeilSigned(tokens, block);
  };
  int64_t keys = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  int64_t expected[] = {queries[0], queries[1], count(queries[2], op.getSkipQuery()->front()),
                        count(keys, op.getSkipKey()->front())};
  for (unsigned axis = 0; axis < 4; ++axis)
    if (differ(taken.getDimSize(axis), expected[axis]))
      return op.emitOpError("expected marks of type ")
             << RankedTensorType::get(expected, taken.getElementType()) << ", got " << taken;
  return success();
}

LogicalResult AttendOp::verify() {
  if (failed(verifyTokens(*this, "query", getQuery().getType())) ||
      failed(verifyTokens(*this, "key", getKey().getType())) ||
      failed(verifyTokens(*this, "value", getValue().getType())) || failed(verifyInputs(*this)) ||
      failed(verifyResults(*this)) || failed(verifyNumbers(*this)) || failed(verifySet(*this)) ||
      failed(verifySkip(*this)))
    return failure();
  return success(succeeded(verifyTileShape(*this, "query_tile", getQueryTile())) &&
                 succeeded(verifyTileShape(*this, "key_tile", getKeyTile())));
}

LogicalResult AttendOp::verifyRegions() {
  if (getScore().empty())
    return success();
  // attend-14
  Builder builder(getContext());
  SmallVector<Type> types(5, builder.getIndexType());
  types.front() = builder.getF32Type();
  if (getScore().getArgumentTypes() != TypeRange(types))
    return emitOpError("expected a score region with arguments of types (")
           << types << "), got (" << getScore().getArgumentTypes() << ")";
  // attend-15
  if (!isa<YieldOp>(getScore().front().getTerminator()))
    return emitOpError("expected the score region to end with attn.yield");
  // attend-16
  for (Operation &inner : getScore().front())
    if (!isMemoryEffectFree(&inner))
      return inner.emitError("expected ops without side effects in a score region, got '")
             << inner.getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// attn.merge
//===----------------------------------------------------------------------===//

LogicalResult MergeOp::verify() {
  // merge-1
  if (getOutputs().empty())
    return emitOpError("expected at least one part");
  auto output = cast<RankedTensorType>(getOutput().getType());
  if (failed(verifyTokens(*this, "output", output)))
    return failure();
  // merge-2
  for (auto [part, lse] : llvm::zip_equal(getOutputs(), getLses()))
    if (part.getType() != getOutput().getType() || lse.getType() != getLse().getType())
      return emitOpError("expected parts of the result's types ")
             << getOutput().getType() << " and " << getLse().getType() << ", got " << part.getType()
             << " and " << lse.getType();
  // merge-3
  auto expected =
      RankedTensorType::get(output.getShape().drop_back(), Float32Type::get(getContext()));
  if (getLse().getType() != expected)
    return emitOpError("expected an lse of type ") << expected << ", got " << getLse().getType();
  return success();
}
