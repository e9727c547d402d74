//===- LinearVerify.cpp - the rules of linear attention -------------------===//
#include "dialects/Attn/AttnInternal.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lacuna::attn;
using lacuna::sparsity::SetType;

/// Most keys of a block, rows of a tile and states of a sum.
static constexpr int64_t mostTogether = int64_t{1} << 30;

/// `count` things in groups of `size`, where the count is known.
static int64_t divideUp(int64_t count, int64_t size) {
  return ShapedType::isDynamic(count) ? count : llvm::divideCeilSigned(count, size);
}

/// linear-1: a number of keys, rows or states that are taken together.
static LogicalResult verifyNumber(Operation *op, StringRef what, int64_t number) {
  if (number >= 1 && number <= mostTogether)
    return success();
  return op->emitOpError("expected ")
         << what << " from 1 to " << mostTogether << ", got " << number;
}

/// linear-2: extents are those of `shape`, as far as both are known.
static LogicalResult verifyShape(Operation *op, StringRef what, Type found,
                                 ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(found);
  bool fits = !type.getEncoding() && type.getRank() == static_cast<int64_t>(shape.size());
  for (size_t axis = 0; fits && axis < shape.size(); ++axis)
    fits = !differ(type.getDimSize(axis), shape[axis]);
  if (fits)
    return success();
  return op->emitOpError("expected ")
         << what << " of type " << RankedTensorType::get(shape, type.getElementType()) << ", got "
         << type;
}

/// linear-3: channels of states are known, and norms are those of the states.
static LogicalResult verifyStates(Operation *op, StringRef what, RankedTensorType states,
                                  RankedTensorType norms) {
  for (unsigned axis : {3, 4})
    if (int64_t channels = states.getDimSize(axis);
        states.getEncoding() || ShapedType::isDynamic(channels) || channels < 1 || channels > 512)
      return op->emitOpError("expected ")
             << what << " to have a constant number of channels from 1 to 512 on both sides, got "
             << states;
  ArrayRef<int64_t> shape = states.getShape();
  return verifyShape(op, "norms", norms, shape.drop_back());
}

LogicalResult LinearStateOp::verify() {
  RankedTensorType key = getKey().getType(), value = getValue().getType();
  if (failed(verifyTokens(*this, "key", key)) || failed(verifyTokens(*this, "value", value)) ||
      failed(verifyNumber(*this, "a block of keys", static_cast<int64_t>(getBlock()))))
    return failure();
  // linear-4
  for (unsigned axis = 0; axis < 3; ++axis)
    if (differ(key.getDimSize(axis), value.getDimSize(axis)))
      return emitOpError("expected key and value to share batch, heads and length, got ")
             << key << " and " << value;
  if (key.getElementType() != value.getElementType())
    return emitOpError("expected key and value of one element type, got ")
           << key.getElementType() << " and " << value.getElementType();
  int64_t states = divideUp(key.getDimSize(2), static_cast<int64_t>(getBlock()));
  if (failed(verifyStates(*this, "states", getStates().getType(), getNorms().getType())))
    return failure();
  return verifyShape(
      *this, "states", getStates().getType(),
      {key.getDimSize(0), key.getDimSize(1), states, key.getDimSize(3), value.getDimSize(3)});
}

/// Sums of states: all but the number of states is as it was.
template <typename Op> static LogicalResult verifySums(Op op, int64_t count) {
  RankedTensorType states = op.getStates().getType(), sums = op.getSums().getType();
  if (failed(verifyStates(op, "states", states, op.getNorms().getType())) ||
      failed(verifyStates(op, "sums", sums, op.getNormSums().getType())))
    return failure();
  SmallVector<int64_t> shape(states.getShape());
  shape[2] = count;
  return verifyShape(op, "sums", sums, shape);
}

LogicalResult LinearPrefixOp::verify() {
  int64_t count = getStates().getType().getDimSize(2);
  return verifySums(*this, ShapedType::isDynamic(count) ? count : count + 1);
}

LogicalResult LinearFoldOp::verify() {
  auto by = static_cast<int64_t>(getBy());
  if (failed(verifyNumber(*this, "a number of summed states", by)))
    return failure();
  return verifySums(*this, divideUp(getStates().getType().getDimSize(2), by));
}

/// linear-6, linear-7: the set is over one sequence of rows and one of states, and ops say what it
/// holds.
static LogicalResult verifySet(LinearReadOp op) {
  // linear-6
  auto type = cast<SetType>(op.getSet().getType());
  if (type != SetType::get(op.getContext(), {1}))
    return op.emitOpError("expected a set over a sequence of rows and one of states, got ") << type;
  // linear-7
  return verifySetOps(op, op.getSet(), [&](Operation *definition) -> LogicalResult {
    // linear-8
    if (auto dyadic = dyn_cast<lacuna::sparsity::DyadicOp>(definition);
        dyadic && dyadic.getColumns())
      return op.emitOpError("expected a set of states without columns of a hierarchy");
    return success();
  });
}

LogicalResult LinearReadOp::verify() {
  RankedTensorType query = getQuery().getType(), states = getStates().getType();
  if (failed(verifyTokens(*this, "query", query)) ||
      failed(verifyStates(*this, "states", states, getNorms().getType())) ||
      failed(verifyNumber(*this, "a tile of rows", static_cast<int64_t>(getQueryTile()))) ||
      failed(verifySet(*this)))
    return failure();
  // linear-5
  if (differ(query.getDimSize(0), states.getDimSize(0)) ||
      query.getDimSize(3) != states.getDimSize(3))
    return emitOpError("expected query and states to share the batch and the key channels, got ")
           << query << " and " << states;
  int64_t heads = query.getDimSize(1), stateHeads = states.getDimSize(1);
  bool areKnown = !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(stateHeads);
  if (areKnown && (stateHeads == 0 ? heads != 0 : heads % stateHeads != 0))
    return emitOpError("expected the number of query heads to be a multiple of the number of "
                       "heads of states, got ")
           << heads << " and " << stateHeads;
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = states.getDimSize(4);
  if (getOutput().getType().getElementType() != query.getElementType())
    return emitOpError("expected query and output of one element type, got ")
           << query.getElementType() << " and " << getOutput().getType().getElementType();
  if (failed(verifyShape(*this, "an output", getOutput().getType(), shape)))
    return failure();
  shape.pop_back();
  return verifyShape(*this, "an lse", getLse().getType(), shape);
}

LogicalResult GatedMergeOp::verify() {
  // gate-1
  if (getOutputs().empty())
    return emitOpError("expected at least one part");
  RankedTensorType output = getOutput().getType();
  if (failed(verifyTokens(*this, "output", output)))
    return failure();
  // gate-2
  for (auto [part, gate] : llvm::zip_equal(getOutputs(), getGates()))
    if (part.getType() != output || gate.getType() != getGates().front().getType())
      return emitOpError("expected parts of the result's type and gates of one type, got ")
             << part.getType() << " and " << gate.getType();
  // gate-3
  auto gates = cast<RankedTensorType>(getGates().front().getType());
  ArrayRef<int64_t> rows = output.getShape().drop_back();
  if (gates.getRank() == 1)
    rows = rows.slice(1, 1);
  if (gates.getEncoding() || gates.getShape() != rows)
    return emitOpError("expected a gate per row or per head, of type ")
           << RankedTensorType::get(rows, gates.getElementType()) << ", got " << gates;
  return success();
}
