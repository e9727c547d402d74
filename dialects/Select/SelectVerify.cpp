//===- SelectVerify.cpp - the rules of the select dialect -----------------===//
#include "dialects/Select/SelectInternal.h"

#include <cmath>

using namespace mlir;
using namespace lacuna::select;
using lacuna::sparsity::DomainType;
using lacuna::sparsity::SetType;

/// Greatest number of tokens in a block, of rows in a reduction and of folded tokens: products with
/// channels and extents stay small numbers.
static constexpr int64_t maxBlock = 65536;
/// Most channels that a row may have; folded rows are long.
static constexpr int64_t maxChannels = 65536;

/// Whether two extents are both known and differ.
static bool differ(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
}

/// What a / b, rounded up, is when a is known.
static int64_t divideUp(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) ? a : a / b + (a % b != 0);
}

/// shape-1, shape-2: no encodings; rows have a constant number of channels.
static LogicalResult verifyRows(Operation *op, StringRef what, RankedTensorType type) {
  if (type.getEncoding())
    return op->emitOpError("expected ") << what << " without an encoding, got " << type;
  int64_t channels = type.getDimSize(3);
  if (ShapedType::isDynamic(channels) || channels < 1 || channels > maxChannels)
    return op->emitOpError("expected ")
           << what << " to have a constant number of channels from 1 to " << maxChannels << ", got "
           << type;
  return success();
}

LogicalResult lacuna::select::verifyShape(Operation *op, StringRef what, RankedTensorType type,
                                          ArrayRef<int64_t> shape) {
  for (auto [axis, pair] : llvm::enumerate(llvm::zip_equal(type.getShape(), shape)))
    if (auto [found, expected] = pair; differ(found, expected))
      return op->emitOpError("expected ")
             << what << " with extent " << expected << " on axis " << axis << ", got " << type;
  return success();
}

LogicalResult lacuna::select::verifyBlock(Operation *op, StringRef what, int64_t extent) {
  if (extent >= 1 && extent <= maxBlock)
    return success();
  return op->emitOpError("expected ") << what << " from 1 to " << maxBlock << ", got " << extent;
}

/// set-1: the pairs of a score are numbered, not placed on a grid.
static LogicalResult verifySequence(Operation *op, Value set) {
  if (!set || cast<SetType>(set.getType()).isSequence())
    return success();
  return op->emitOpError("expected a set over sequences, got ") << set.getType();
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

/// Whether a summary is one number instead of one per channel.
static bool isOneChannel(Summary kind) {
  return kind == Summary::Radius || kind == Summary::Norm || kind == Summary::Similarity ||
         kind == Summary::Count;
}

LogicalResult SummarizeOp::verify() {
  RankedTensorType tokens = getTokens().getType(), result = getResult().getType();
  if (failed(verifyRows(*this, "tokens", tokens)) || failed(verifyRows(*this, "a result", result)))
    return failure();
  // summarize-1
  size_t axes = 1;
  if (Value domain = getDomain()) {
    ArrayRef<int64_t> segments = cast<DomainType>(domain.getType()).getSegments();
    if (segments.size() != 1)
      return emitOpError("expected a domain of one segment, got ") << domain.getType();
    axes = segments.front();
  }
  // summarize-2
  if (getBlock().size() != axes)
    return emitOpError("expected a block with one extent for each of ")
           << axes << " axes, got " << getBlock().size();
  int64_t size = 1;
  for (int64_t extent : getBlock()) {
    if (failed(verifyBlock(*this, "block extents", extent)))
      return failure();
    size *= extent;
    if (size > maxBlock)
      return emitOpError("expected a block of at most ") << maxBlock << " tokens, got " << size;
  }
  // summarize-3
  if (std::optional<ArrayRef<int64_t>> range = getChannels();
      range && (range->size() != 2 || (*range)[0] < 0 || (*range)[0] >= (*range)[1] ||
                (*range)[1] > tokens.getDimSize(3)))
    return emitOpError("expected channels [first, last] with 0 <= first < last <= ")
           << tokens.getDimSize(3) << ", got [" << *range << "]";
  // summarize-4
  if ((getFrom() || getWhole()) && getDomain())
    return emitOpError("expected tokens of a sequence where blocks are left out, got ")
           << getDomain().getType();
  auto [first, last] = getChannelRange();
  int64_t blocks = ShapedType::kDynamic, length = tokens.getDimSize(2);
  if (axes == 1 && !getFrom() && !ShapedType::isDynamic(length))
    blocks = getWhole() ? length / size : divideUp(length, size);
  return verifyShape(*this, "a result", result,
                     {tokens.getDimSize(0), tokens.getDimSize(1), blocks,
                      isOneChannel(getKind()) ? 1 : last - first});
}

LogicalResult FoldOp::verify() {
  RankedTensorType tokens = getTokens().getType(), result = getResult().getType();
  if (failed(verifyRows(*this, "tokens", tokens)) ||
      failed(verifyRows(*this, "a result", result)) ||
      failed(verifyBlock(*this, "a number of folded tokens", getBy())))
    return failure();
  auto by = static_cast<int64_t>(getBy());
  // fold-1
  if (tokens.getElementType() != result.getElementType())
    return emitOpError("expected the elements unchanged, got ")
           << tokens.getElementType() << " and " << result.getElementType();
  return verifyShape(*this, "a result", result,
                     {tokens.getDimSize(0), tokens.getDimSize(1),
                      divideUp(tokens.getDimSize(2), by), tokens.getDimSize(3) * by});
}

LogicalResult ProjectOp::verify() {
  RankedTensorType tokens = getTokens().getType(), weights = getWeights().getType();
  if (failed(verifyRows(*this, "tokens", tokens)) ||
      failed(verifyRows(*this, "a result", getResult().getType())))
    return failure();
  // shape-1
  if (weights.getEncoding())
    return emitOpError("expected weights without an encoding, got ") << weights;
  // project-1
  if (tokens.getElementType() != weights.getElementType())
    return emitOpError("expected tokens and weights of one element type, got ")
           << tokens.getElementType() << " and " << weights.getElementType();
  // project-2
  int64_t heads = tokens.getDimSize(1), matrices = weights.getDimSize(0);
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(matrices) &&
      (matrices == 0 ? heads != 0 : heads % matrices != 0))
    return emitOpError("expected the number of heads to be a multiple of the number of matrices, "
                       "got ")
           << heads << " and " << matrices;
  // project-3
  int64_t features = getResult().getType().getDimSize(3);
  if (weights.isDynamicDim(1) || weights.isDynamicDim(2))
    return emitOpError("expected weights of a constant number of channels and features, got ")
           << weights;
  if (failed(verifyShape(*this, "weights", weights, {matrices, tokens.getDimSize(3), features})))
    return failure();
  return verifyShape(*this, "a result", getResult().getType(),
                     {tokens.getDimSize(0), heads, tokens.getDimSize(2), features});
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// What `select.score` and `select.log_sum_exp` ask of their inputs.
template <typename Op> static LogicalResult verifyProduct(Op op) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  if (failed(verifyRows(op, "query rows", query)) || failed(verifyRows(op, "key rows", key)) ||
      failed(verifySequence(op, op.getSet())))
    return failure();
  // score-1
  if (query.getElementType() != key.getElementType() || query.getDimSize(3) != key.getDimSize(3) ||
      differ(query.getDimSize(0), key.getDimSize(0)))
    return op.emitOpError("expected query and key rows of one batch, element type and number of "
                          "channels, got ")
           << query << " and " << key;
  // score-2
  int64_t heads = query.getDimSize(1), keyHeads = key.getDimSize(1);
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(keyHeads) &&
      (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0))
    return op.emitOpError("expected the number of query heads to be a multiple of the number of "
                          "key heads, got ")
           << heads << " and " << keyHeads;
  // score-3
  if (std::optional<APFloat> scale = op.getScale(); scale && !scale->isFinite())
    return op.emitOpError("expected a finite scale");
  return success();
}

/// score-4: the second key tensor is there where the kind asks for it.
static LogicalResult verifyCompanion(ScoreOp op) {
  bool needed = op.getKind() != ScoreKind::Dot;
  if (needed != static_cast<bool>(op.getCompanion()))
    return op.emitOpError(
               "expected a companion tensor for kinds other than dot and for these only, "
               "got kind ")
           << stringifyScoreKind(op.getKind());
  if (!needed)
    return success();
  RankedTensorType key = op.getKey().getType();
  auto companion = cast<RankedTensorType>(op.getCompanion().getType());
  int64_t channels = op.getKind() == ScoreKind::Ball ? 1 : key.getDimSize(3);
  return verifyShape(op, "a companion", companion,
                     {key.getDimSize(0), key.getDimSize(1), key.getDimSize(2), channels});
}

LogicalResult ScoreOp::verify() {
  if (failed(verifyProduct(*this)) || failed(verifyCompanion(*this)))
    return failure();
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  for (auto [what, rows] : {std::pair<StringRef, Value>("an lse", getLse()),
                            std::pair<StringRef, Value>("weights", getWeights())})
    if (rows && failed(verifyShape(*this, what, cast<RankedTensorType>(rows.getType()),
                                   query.getShape().drop_back())))
      return failure();
  if (failed(verifyBlock(*this, "a block of rows", static_cast<int64_t>(getRows()))) ||
      failed(verifyBlock(*this, "a block of columns", static_cast<int64_t>(getColumns()))) ||
      failed(verifyBlock(*this, "a group of heads", static_cast<int64_t>(getGroup()))))
    return failure();
  // score-5
  int64_t heads = query.getDimSize(1), group = static_cast<int64_t>(getGroup());
  if (!ShapedType::isDynamic(heads) && heads % group != 0)
    return emitOpError("expected groups that divide the query heads, got ")
           << heads << " heads in groups of " << group;
  return verifyShape(*this, "scores", getScores().getType(),
                     {query.getDimSize(0), ShapedType::isDynamic(heads) ? heads : heads / group,
                      divideUp(query.getDimSize(2), static_cast<int64_t>(getRows())),
                      divideUp(key.getDimSize(2), static_cast<int64_t>(getColumns()))});
}

LogicalResult ScoreOp::verifyRegions() {
  Region &region = getFunction();
  if (region.empty())
    return success();
  Builder builder(getContext());
  Type index = builder.getIndexType();
  // score-6
  SmallVector<Type> arguments{builder.getF32Type(), index, index, index, index};
  if (region.getArgumentTypes() != TypeRange(arguments))
    return emitOpError("expected a function of (score, batch, head, query position, key position) "
                       "with types (")
           << arguments << "), got (" << region.getArgumentTypes() << ")";
  // score-7
  if (region.front().empty() || !isa<YieldOp>(region.front().back()))
    return emitOpError("expected the function to end with select.yield");
  // score-8
  for (Operation &inner : region.front().without_terminator())
    if (!isMemoryEffectFree(&inner))
      return inner.emitOpError("expected no side effects in a function of scores");
  return success();
}

LogicalResult LogSumExpOp::verify() {
  if (failed(verifyProduct(*this)))
    return failure();
  return verifyShape(*this, "an lse", getLse().getType(),
                     getQuery().getType().getShape().drop_back());
}

LogicalResult ScoreListOp::verify() {
  if (failed(verifyProduct(*this)) || failed(verifySequence(*this, getForce())))
    return failure();
  RankedTensorType query = getQuery().getType(), ids = getIds().getType();
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = ids.getDimSize(3);
  if (failed(verifyShape(*this, "ids", ids, shape)) ||
      failed(verifyShape(*this, "counts", getCounts().getType(), query.getShape().drop_back())))
    return failure();
  return verifyShape(*this, "scores", getScores().getType(), shape);
}

LogicalResult RestrictOp::verify() {
  // restrict-1
  if (!getWithin() && !getForce())
    return emitOpError("expected a set to restrict to or a set to force");
  if (failed(verifySequence(*this, getWithin())))
    return failure();
  return verifySequence(*this, getForce());
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// choose-1: ids and counts belong to the rows of the scores.
static LogicalResult verifyLists(Operation *op, RankedTensorType scores, RankedTensorType ids,
                                 RankedTensorType counts) {
  if (failed(verifyShape(op, "counts", counts, scores.getShape().drop_back())))
    return failure();
  SmallVector<int64_t> shape(scores.getShape());
  shape.back() = ids.getDimSize(3);
  return verifyShape(op, "ids", ids, shape);
}

/// choose-2 to choose-5: what the number of a rule may be.
static LogicalResult verifyNumber(ChooseOp op) {
  bool isConstant = op.getConstant().has_value();
  // choose-2
  if (isConstant == static_cast<bool>(op.getNumber()))
    return op.emitOpError("expected either a constant or a value as the rule's number");
  Rule rule = op.getRule();
  if (op.getNumber()) {
    // choose-3
    Type type = op.getNumber().getType();
    bool isFloat = type.isF32();
    if (isFloat == (rule == Rule::TopK))
      return op.emitOpError("expected ")
             << (rule == Rule::TopK ? "an index or a tensor of i32" : "an f32") << " for rule "
             << stringifyRule(rule) << ", got " << type;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    if (op.getScope() != Scope::Row)
      return op.emitOpError("expected one number for a scope other than row");
    return verifyShape(op, "a number per row", tensor,
                       op.getScores().getType().getShape().drop_back());
  }
  // choose-4
  double number = op.getConstant()->convertToDouble();
  bool fits = std::isfinite(number);
  if (rule == Rule::TopK)
    fits = number >= 0 && number <= INT32_MAX && number == std::floor(number);
  else if (rule == Rule::Share || rule == Rule::TopP)
    fits = number >= 0 && number <= 1;
  if (!fits)
    return op.emitOpError("expected a whole number from 0 for top_k, a number from 0 to 1 for "
                          "share and top_p, else a finite one, got ")
           << number << " for " << stringifyRule(rule);
  return success();
}

LogicalResult ChooseOp::verify() {
  if (failed(
          verifyLists(*this, getScores().getType(), getIds().getType(), getCounts().getType())) ||
      failed(verifyNumber(*this)))
    return failure();
  // choose-5
  int64_t floor = getFloor().value_or(0), cap = getCap().value_or(INT32_MAX);
  if (floor < 0 || cap < floor || cap > INT32_MAX)
    return emitOpError("expected 0 <= floor <= cap <= 2147483647, got floor ")
           << floor << " and cap " << cap;
  // choose-6
  if (getScope() != Scope::Row && getRule() != Rule::TopK && getRule() != Rule::Share)
    return emitOpError("expected scope row for rule ") << stringifyRule(getRule());
  return success();
}

LogicalResult SampleOp::verify() {
  // sample-1
  if (!getNumber().isFinite() || getNumber().convertToDouble() < 0)
    return emitOpError("expected a finite number of at least 0");
  if (failed(verifyLists(*this, getScores().getType(), getIds().getType(), getCounts().getType())))
    return failure();
  return verifyShape(*this, "weights", getWeights().getType(), getIds().getType().getShape());
}

LogicalResult MarginOp::verify() {
  // margin-1
  if (getNumber() < 1 || getNumber() > INT32_MAX)
    return emitOpError("expected a number from 1 to 2147483647, got ") << getNumber();
  return verifyShape(*this, "a margin", getMargin().getType(),
                     getScores().getType().getShape().drop_back());
}

LogicalResult GateOp::verify() {
  // gate-1
  double share = getShare().convertToDouble();
  if (!(share >= 0 && share <= 1))
    return emitOpError("expected a share from 0 to 1");
  // gate-2
  for (int64_t number : {static_cast<int64_t>(getLow()), static_cast<int64_t>(getHigh())})
    if (number < 0 || number > INT32_MAX)
      return emitOpError("expected numbers from 0 to 2147483647, got ") << number;
  return verifyShape(*this, "numbers", getNumbers().getType(), getValues().getType().getShape());
}
