//===- SparsityVerify.cpp - the labelled rules of sets and domains --------===//
#include "dialects/Sparsity/SparsityInternal.h"

#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace lacuna;
using namespace lacuna::sparsity;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// number-2: constants lie between `least` and 2^48.
static LogicalResult verifyConstant(Operation *op, StringRef name, int64_t value, int64_t least) {
  if (value < least)
    return op->emitOpError("expected ") << name << " of at least " << least << ", got " << value;
  if (value > maxConstant)
    return op->emitOpError("expected ")
           << name << " of at most " << maxConstant << ", got " << value;
  return success();
}

/// number-1: a number is a constant or an operand, not both.
static LogicalResult verifyNumber(Operation *op, StringRef name, Value operand,
                                  IntegerAttr constant, int64_t least, bool required = true) {
  if (operand && constant)
    return op->emitOpError("expected ") << name << " to be a constant or an operand, got both";
  if (!operand && !constant && required)
    return op->emitOpError("expected ") << name << " as a constant or an operand, got neither";
  return constant ? verifyConstant(op, name, constant.getInt(), least) : success();
}

/// number-3: a list of numbers has an operand for each that is not constant.
static LogicalResult verifyNumbers(Operation *op, StringRef name, OperandRange operands,
                                   ArrayRef<int64_t> constants, int64_t least) {
  size_t dynamic = llvm::count_if(constants, ShapedType::isDynamic);
  if (dynamic != operands.size())
    return op->emitOpError("expected ")
           << dynamic << " operands for " << name << ", got " << operands.size();
  for (int64_t constant : constants)
    if (!ShapedType::isDynamic(constant) && failed(verifyConstant(op, name, constant, least)))
      return failure();
  return success();
}

/// list-1: a list is not empty, and its numbers are constants that verifyConstant accepts.
static LogicalResult verifyList(Operation *op, StringRef name, ArrayRef<int64_t> list,
                                int64_t least) {
  if (list.empty())
    return op->emitOpError("expected ") << name << " to have at least one entry";
  for (int64_t value : list)
    if (failed(verifyConstant(op, name, value, least)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// domain-3: constant sizes are not negative.
template <typename OpT> static LogicalResult verifyDomain(OpT op) {
  return verifyNumbers(op, "sizes", op.getSizes(), op.getStaticSizes(), 0);
}

LogicalResult SequenceDomainOp::verify() { return verifyDomain(*this); }
LogicalResult GridOp::verify() { return verifyDomain(*this); }

LogicalResult ConcatOp::verify() {
  return success(); // domain-4 is checked where the type is inferred.
}

/// set-1: a set in a domain has the domain's segments.
static LogicalResult verifySetType(Operation *op, Value domain, SetType set) {
  if (!domain)
    return success();
  auto implied = SetType::get(op->getContext(), cast<DomainType>(domain.getType()).getSegments());
  if (set != implied)
    return op->emitOpError("expected a set of type ") << implied << " in this domain, got " << set;
  return success();
}

/// set-2: pairs have coordinates, so queries and keys have one segment each.
static LogicalResult verifySingle(Operation *op, SetType set) {
  if (!set.isSingle())
    return op->emitOpError("expected one segment of queries and one of keys, got ") << set;
  return success();
}

/// The only segment's axes, after set-2.
static FailureOr<unsigned> verifyRank(Operation *op, SetType set, unsigned least, unsigned most) {
  if (failed(verifySingle(op, set)))
    return failure();
  unsigned rank = set.getQueryRank();
  if (rank < least || rank > most) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected a domain of ") << least;
    if (least != most)
      diagnostic << " to " << most;
    return diagnostic << " axes, got " << rank;
  }
  return rank;
}

//===----------------------------------------------------------------------===//
// Any domain
//===----------------------------------------------------------------------===//

LogicalResult AllOp::verify() { return verifySetType(*this, getDomain(), getSet().getType()); }
LogicalResult NoneOp::verify() { return verifySetType(*this, getDomain(), getSet().getType()); }

static std::string toText(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

/// affine-2: divisors are positive constants, and symbols do not multiply.
static LogicalResult verifyAffine(Operation *op, AffineExpr expr) {
  if (!expr.isPureAffine())
    return op->emitOpError("expected affine constraints, got ") << toText(expr);
  WalkResult result = expr.walk([](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary || binary.getKind() == AffineExprKind::Add ||
        binary.getKind() == AffineExprKind::Mul)
      return WalkResult::advance();
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return WalkResult(success(divisor && divisor.getValue() > 0));
  });
  if (result.wasInterrupted())
    return op->emitOpError("expected positive constant divisors, got ") << toText(expr);
  return success();
}

LogicalResult AffineOp::verify() {
  SetType set = getSet().getType();
  if (failed(verifySetType(*this, getDomain(), set)) || failed(verifySingle(*this, set)))
    return failure();
  // affine-1
  unsigned dims = set.getQueryRank() + set.getKeyRank();
  if (getConstraints().getNumDims() != dims)
    return emitOpError("expected ") << dims << " dimensions, one per query and key axis, got "
                                    << getConstraints().getNumDims();
  if (getConstraints().getNumSymbols() != getStaticNumbers().size())
    return emitOpError("expected a number for each of ")
           << getConstraints().getNumSymbols() << " symbols, got " << getStaticNumbers().size();
  for (AffineExpr expr : getConstraints().getConstraints())
    if (failed(verifyAffine(*this, expr)))
      return failure();
  return verifyNumbers(*this, "numbers", getNumbers(), getStaticNumbers(), -maxConstant);
}

LogicalResult WhereOp::verify() {
  SetType set = getSet().getType();
  if (failed(verifySetType(*this, getDomain(), set)) || failed(verifySingle(*this, set)))
    return failure();
  // where-1
  Region &region = getPredicate();
  if (!region.hasOneBlock())
    return emitOpError("expected a predicate of one block, got ") << region.getBlocks().size();
  Block &body = region.front();
  unsigned count = 2 + set.getQueryRank() + set.getKeyRank();
  if (body.getNumArguments() != count)
    return emitOpError("expected ")
           << count << " arguments (batch, head, query axes, key axes), got "
           << body.getNumArguments();
  for (Type type : body.getArgumentTypes())
    if (!type.isIndex())
      return emitOpError("expected arguments of type index, got ") << type;
  // where-2
  if (body.empty() || !isa<YieldOp>(body.back()))
    return emitOpError("expected the predicate to end with 'sparsity.yield'");
  // where-3
  for (Operation &op : body.without_terminator())
    if (!isMemoryEffectFree(&op))
      return emitOpError("expected a predicate without side effects, got '") << op.getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::verify() {
  // window-1
  if (failed(verifyNumber(*this, "left", getLeft(), getLeftValueAttr(), -maxConstant, false)))
    return failure();
  return verifyNumber(*this, "right", getRight(), getRightValueAttr(), -maxConstant, false);
}

// count-1
LogicalResult PrefixOp::verify() {
  return verifyNumber(*this, "count", getCount(), getCountValueAttr(), 0);
}
LogicalResult SuffixOp::verify() {
  return verifyNumber(*this, "count", getCount(), getCountValueAttr(), 0);
}

/// list-2: rows and columns are a count or a list.
template <typename OpT> static LogicalResult verifyCountOrList(OpT op, int64_t least) {
  if (!op.getList())
    return verifyNumber(op, "count", op.getCount(), op.getCountValueAttr(), 0);
  if (op.getCount() || op.getCountValueAttr())
    return op.emitOpError("expected a count or a list, got both");
  return verifyList(op, "list", *op.getList(), least);
}

LogicalResult RowsOp::verify() { return verifyCountOrList(*this, -maxConstant); }
LogicalResult ColumnsOp::verify() { return verifyCountOrList(*this, 0); }
LogicalResult SlashesOp::verify() { return verifyList(*this, "list", getList(), -maxConstant); }

// stride-1
LogicalResult StrideOp::verify() {
  return verifyNumber(*this, "step", getStep(), getStepValueAttr(), 1);
}

LogicalResult DilatedOp::verify() {
  // dilated-1
  if (failed(verifyNumber(*this, "left", getLeft(), getLeftValueAttr(), -maxConstant, false)) ||
      failed(verifyNumber(*this, "right", getRight(), getRightValueAttr(), -maxConstant, false)) ||
      failed(verifyNumber(*this, "step", getStep(), getStepValueAttr(), 1)))
    return failure();
  // dilated-2: the reach of constants is a constant too.
  for (IntegerAttr side : {getLeftValueAttr(), getRightValueAttr()}) {
    int64_t reach;
    if (side && getStepValueAttr() &&
        (llvm::MulOverflow(side.getInt(), getStepValueAttr().getInt(), reach) ||
         std::abs(reach) > maxConstant))
      return emitOpError("expected a reach of at most ")
             << maxConstant << ", got " << side.getInt() << " steps of "
             << getStepValueAttr().getInt();
  }
  return success();
}

LogicalResult DyadicOp::verify() {
  // dyadic-1
  if (failed(verifyConstant(*this, "base", getBase(), 1)) ||
      failed(verifyConstant(*this, "fanout", getFanout(), 2)) ||
      failed(verifyNumber(*this, "near", getNear(), getNearValueAttr(), 0, false)) ||
      failed(verifyConstant(*this, "levels", getLevels().value_or(1), 1)) ||
      failed(verifyConstant(*this, "columns", getColumns().value_or(1), 1)))
    return failure();
  int64_t top = getLevels() ? *getLevels() - 1 : 0;
  if (std::optional<ArrayRef<int64_t>> only = getOnly()) {
    // dyadic-2
    if (only->size() != 2)
      return emitOpError("expected the first and the last level, got ")
             << only->size() << " numbers";
    if ((*only)[0] < -1 || (*only)[0] > (*only)[1])
      return emitOpError("expected levels from -1 on in rising order, got ")
             << (*only)[0] << " to " << (*only)[1];
    if (getLevels() && (*only)[1] > top)
      return emitOpError("expected levels up to the top level ") << top << ", got " << (*only)[1];
    top = std::max(top, (*only)[1]);
  }
  // dyadic-3: nodes of the level above the top still have a size.
  int64_t size = getBase();
  for (int64_t level = 0; level <= top; ++level)
    if (llvm::MulOverflow(size, static_cast<int64_t>(getFanout()), size) || size > maxConstant)
      return emitOpError("expected base * fanout^") << top + 1 << " to be at most " << maxConstant;
  return success();
}

// documents-1
LogicalResult DocumentsOp::verify() {
  auto query = cast<RankedTensorType>(getQueryOffsets().getType());
  auto key = cast<RankedTensorType>(getKeyOffsets().getType());
  if (!query.isDynamicDim(0) && !key.isDynamicDim(0) && query.getDimSize(0) != key.getDimSize(0))
    return emitOpError("expected as many key offsets as query offsets, got ")
           << key.getDimSize(0) << " and " << query.getDimSize(0);
  return success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// blocks-2, key-block-1: a block has a positive extent for each axis.
static LogicalResult verifyBlock(Operation *op, StringRef name, ArrayRef<int64_t> block,
                                 unsigned rank) {
  if (block.size() != rank)
    return op->emitOpError("expected a ")
           << name << " block with an extent for each of " << rank << " axes, got " << block.size();
  return verifyList(op, name, block, 1);
}

/// blocks-1 to blocks-3: what says which blocks there are and who shares what is known of them.
template <typename Op> static LogicalResult verifyBlocks(Op op) {
  FailureOr<unsigned> rank = verifyRank(op, op.getSet().getType(), 1, 4);
  if (failed(rank) || failed(verifyBlock(op, "query", op.getQuery(), *rank)) ||
      failed(verifyBlock(op, "key", op.getKey(), *rank)))
    return failure();
  constexpr int64_t mostHeads = int64_t{1} << 20;
  if (auto group = static_cast<int64_t>(op.getGroup()); group < 1 || group > mostHeads)
    return op.emitOpError("expected a group of 1 to ")
           << mostHeads << " query heads, got " << group;
  return success();
}

LogicalResult BitmapOp::verify() { return verifyBlocks(*this); }

LogicalResult BlocksOp::verify() {
  if (failed(verifyBlocks(*this)))
    return failure();
  // blocks-4
  for (auto [axis, ids, counts] :
       llvm::enumerate(getIds().getType().getShape().drop_back(), getCounts().getType().getShape()))
    if (ids != counts)
      return emitOpError("expected ids and counts of the same lists, got ")
             << getIds().getType() << " and " << getCounts().getType();
  return success();
}

LogicalResult KeyBlockOp::verify() {
  SetType type = getSet().getType();
  // key-block-2
  if (!type.isSingle())
    return emitOpError("expected a set between one segment of queries and one of keys, got ")
           << type;
  if (failed(verifyBlock(*this, "key", getSizes(), type.getKeyRank())))
    return failure();
  // key-block-3
  if (getAt().size() != getSizes().size())
    return emitOpError("expected a coordinate for each of ")
           << getSizes().size() << " axes, got " << getAt().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

LogicalResult BlockDiagonalOp::verify() {
  FailureOr<unsigned> rank = verifyRank(*this, getSet().getType(), 1, 4);
  if (failed(rank))
    return failure();
  // block-diagonal-1
  if (getStaticSizes().size() != *rank)
    return emitOpError("expected a size for each of ")
           << *rank << " axes, got " << getStaticSizes().size();
  return verifyNumbers(*this, "sizes", getSizes(), getStaticSizes(), 1);
}

/// radius-3: a list of one number per axis, each at least 1.
static LogicalResult verifyPerAxis(Operation *op, StringRef name,
                                   std::optional<ArrayRef<int64_t>> list, unsigned rank) {
  if (!list)
    return success();
  if (list->size() != rank)
    return op->emitOpError("expected ")
           << name << " for each of " << rank << " axes, got " << list->size();
  return verifyList(op, name, *list, 1);
}

/// radius-4: causal axes exist and are named once.
static LogicalResult verifyAxes(Operation *op, std::optional<ArrayRef<int64_t>> axes,
                                unsigned rank) {
  if (!axes)
    return success();
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    if (axis < 0 || axis >= rank)
      return op->emitOpError("expected causal axes below ") << rank << ", got " << axis;
    if (llvm::is_contained(axes->take_front(index), axis))
      return op->emitOpError("expected each causal axis once, got ") << axis << " twice";
  }
  return success();
}

LogicalResult RadiusOp::verify() {
  // radius-1: a sequence has windows.
  FailureOr<unsigned> rank = verifyRank(*this, getSet().getType(), 2, 4);
  if (failed(rank))
    return failure();
  // radius-2
  unsigned count = getNorm() == Norm::Box ? *rank : 1;
  if (getStaticRadii().size() != count)
    return emitOpError("expected ")
           << count << (count == 1 ? " radius" : " radii") << " for norm "
           << stringifyNorm(getNorm()) << ", got " << getStaticRadii().size();
  if (failed(verifyNumbers(*this, "radii", getRadii(), getStaticRadii(), 0)) ||
      failed(verifyPerAxis(*this, "dilation", getDilation(), *rank)) ||
      failed(verifyPerAxis(*this, "unit", getUnit(), *rank)) ||
      failed(verifyAxes(*this, getCausal(), *rank)))
    return failure();
  // radius-5
  if (getNorm() != Norm::Box && (getBorder() == Border::Shift || getDilation()))
    return emitOpError("expected norm box with border shift and with dilation, got norm ")
           << stringifyNorm(getNorm());
  // radius-6: products of a radius, a dilation and a unit stay small.
  for (auto [axis, radius] : llvm::enumerate(getStaticRadii())) {
    int64_t reach = ShapedType::isDynamic(radius) ? 1 : radius;
    int64_t dilation = getDilation() ? (*getDilation())[axis] : 1;
    int64_t unit = getUnit() ? (*getUnit())[axis] : 1;
    if (llvm::MulOverflow(reach, dilation, reach) || llvm::MulOverflow(reach, unit, reach) ||
        reach > maxConstant)
      return emitOpError("expected a reach of at most ") << maxConstant << " on axis " << axis;
  }
  return success();
}

LogicalResult BandsOp::verify() {
  // bands-1
  if (failed(verifyRank(*this, getSet().getType(), 2, 2)))
    return failure();
  // bands-2
  if (failed(verifyNumber(*this, "width", getWidth(), getWidthValueAttr(), 0)) ||
      failed(verifyConstant(*this, "near", getNear(), 1)) ||
      failed(verifyConstant(*this, "levels", getLevels(), 1)))
    return failure();
  if (getLevels() > 32)
    return emitOpError("expected at most 32 levels, got ") << getLevels();
  return verifyConstant(*this, "near * 2^levels",
                        getNear() > uint64_t(maxConstant) >> getLevels()
                            ? maxConstant + 1
                            : int64_t(getNear() << getLevels()),
                        1);
}
