//===- TranslateSelect.cpp - select ops to the oracle's --------------------===//
#include "compiler/Driver/TranslateSelect.h"

#include "compiler/Emit/ElementTypes.h"
#include "dialects/Select/Select.h"
#include "lib/Reference/ListFormats.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace lacuna {

using Oracle = std::unique_ptr<reference::SelectOracle>;

namespace {
/// Reads the operands of one op; what is not known ends with a diagnostic.
class Reader {
public:
  explicit Reader(ScalarTranslator &scalars) : scalars(scalars) {}

  FailureOr<Oracle> read(select::SummarizeOp op);
  FailureOr<Oracle> read(select::FoldOp op);
  FailureOr<Oracle> read(select::ProjectOp op);
  FailureOr<Oracle> read(select::ScoreOp op);
  FailureOr<Oracle> read(select::LogSumExpOp op);
  FailureOr<Oracle> read(select::RestrictOp op);
  FailureOr<Oracle> read(select::ChooseOp op);
  FailureOr<Oracle> read(select::SampleOp op);
  FailureOr<Oracle> read(select::MarginOp op);
  FailureOr<Oracle> read(select::GateOp op);
  FailureOr<Oracle> read(select::ListOfMaskOp op);
  FailureOr<Oracle> read(select::MaskOfListOp op);
  FailureOr<Oracle> read(select::ListOfCsrOp op);
  FailureOr<Oracle> read(select::CsrOfListOp op);
  FailureOr<Oracle> read(select::TransposeOp op);
  FailureOr<Oracle> read(select::ChildrenOp op);
  FailureOr<Oracle> read(select::ScoreListOp op);
  FailureOr<Oracle> read(select::PickOp op);
  FailureOr<Oracle> read(select::WithoutOp op);

private:
  /// A constant or a value; nothing without either.
  FailureOr<std::optional<int64_t>> readNumber(Value value, std::optional<uint64_t> constant);
  LogicalResult readTensor(Value value, Tensor &tensor);
  LogicalResult readOptional(Value value, std::optional<Tensor> &tensor);
  LogicalResult readSet(Value value, int64_t heads, reference::Set &set);
  /// What scores and log-sum-exps have in common.
  template <typename Op> LogicalResult readProduct(Op op, reference::BlockScores &scores);

  ScalarTranslator &scalars;
};
} // namespace

LogicalResult Reader::readTensor(Value value, Tensor &tensor) {
  FailureOr<Tensor> found = scalars.evaluateTensor(value);
  if (failed(found))
    return failure();
  tensor = *found;
  return success();
}

LogicalResult Reader::readOptional(Value value, std::optional<Tensor> &tensor) {
  return value ? readTensor(value, tensor.emplace()) : success();
}

LogicalResult Reader::readSet(Value value, int64_t heads, reference::Set &set) {
  if (!value)
    return success();
  SetTranslator sets(scalars, heads);
  FailureOr<reference::Set> found = sets.translate(value);
  if (failed(found))
    return failure();
  set = *found;
  return success();
}

FailureOr<Oracle> Reader::read(select::SummarizeOp op) {
  auto oracle = std::make_unique<reference::Summary>();
  oracle->kind = static_cast<reference::SummaryKind>(op.getKind());
  if (failed(readTensor(op.getTokens(), oracle->tokens)))
    return failure();
  oracle->grid = {{oracle->tokens.shape[2]}};
  if (Value domain = op.getDomain()) {
    auto grids = SetTranslator(scalars, /*heads=*/0).translateDomain(domain);
    if (failed(grids))
      return failure();
    oracle->grid = grids->front();
  }
  oracle->block = op.getBlock().vec();
  oracle->isWhole = op.getWhole();
  if (op.getFrom()) {
    FailureOr<int64_t> from = scalars.evaluateInteger(op.getFrom());
    if (failed(from))
      return failure();
    oracle->before = *from / oracle->block.front();
  }
  std::tie(oracle->first, oracle->last) = op.getChannelRange();
  oracle->type = *elementTypeOf(op.getResult().getType().getElementType());
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::FoldOp op) {
  auto oracle = std::make_unique<reference::Fold>();
  oracle->by = static_cast<int64_t>(op.getBy());
  oracle->isReversed = op.getReversed();
  if (failed(readTensor(op.getTokens(), oracle->tokens)))
    return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::ProjectOp op) {
  auto oracle = std::make_unique<reference::Projection>();
  if (failed(readTensor(op.getTokens(), oracle->tokens)) ||
      failed(readTensor(op.getWeights(), oracle->weights)))
    return failure();
  oracle->type = *elementTypeOf(op.getResult().getType().getElementType());
  return Oracle(std::move(oracle));
}

template <typename Op> LogicalResult Reader::readProduct(Op op, reference::BlockScores &oracle) {
  if (failed(readTensor(op.getQuery(), oracle.query)) ||
      failed(readTensor(op.getKey(), oracle.key)) ||
      failed(readSet(op.getSet(), oracle.query.shape[1], oracle.set)))
    return failure();
  oracle.scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(static_cast<double>(oracle.query.shape[3]));
  return success();
}

FailureOr<Oracle> Reader::read(select::ScoreOp op) {
  auto oracle = std::make_unique<reference::BlockScores>();
  oracle->kind = static_cast<reference::PairKind>(op.getKind());
  if (failed(readProduct(op, *oracle)) ||
      failed(readOptional(op.getCompanion(), oracle->companion)) ||
      failed(readOptional(op.getLse(), oracle->lse)) ||
      failed(readOptional(op.getWeights(), oracle->weights)))
    return failure();
  if (!op.getFunction().empty()) {
    FailureOr<reference::ScalarProgram> function = scalars.translateRegion(op.getFunction());
    if (failed(function))
      return failure();
    oracle->function = *function;
  }
  oracle->isFromStart = op.getFromStart();
  oracle->rows = static_cast<int64_t>(op.getRows());
  oracle->columns = static_cast<int64_t>(op.getColumns());
  oracle->group = static_cast<int64_t>(op.getGroup());
  oracle->rowReduction = static_cast<reference::ReductionKind>(op.getRowReduction());
  oracle->columnReduction = static_cast<reference::ReductionKind>(op.getColumnReduction());
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::LogSumExpOp op) {
  auto oracle = std::make_unique<reference::BlockScores>();
  oracle->columns = 0;
  if (failed(readProduct(op, *oracle)))
    return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::RestrictOp op) {
  auto oracle = std::make_unique<reference::Restriction>();
  if (failed(readTensor(op.getScores(), oracle->scores)) ||
      failed(readSet(op.getWithin(), oracle->scores.shape[1], oracle->within)) ||
      failed(readSet(op.getForce(), oracle->scores.shape[1], oracle->force)))
    return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::ChooseOp op) {
  auto oracle = std::make_unique<reference::Choice>();
  oracle->rule = static_cast<reference::ChoiceRule>(op.getRule());
  oracle->scope = static_cast<reference::ChoiceScope>(op.getScope());
  oracle->floor = static_cast<int64_t>(op.getFloor().value_or(0));
  oracle->cap = static_cast<int64_t>(op.getCap().value_or(INT32_MAX));
  if (failed(readTensor(op.getScores(), oracle->scores)))
    return failure();
  if (op.getConstant()) {
    oracle->number = op.getConstant()->convertToDouble();
  } else if (isa<RankedTensorType>(op.getNumber().getType())) {
    if (failed(readOptional(op.getNumber(), oracle->numbers)))
      return failure();
  } else if (op.getNumber().getType().isIndex()) {
    FailureOr<int64_t> number = scalars.evaluateInteger(op.getNumber());
    if (failed(number))
      return failure();
    oracle->number = static_cast<double>(*number);
  } else {
    FailureOr<double> number = scalars.evaluateFloat(op.getNumber());
    if (failed(number))
      return failure();
    oracle->number = static_cast<float>(*number);
  }
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::SampleOp op) {
  auto oracle = std::make_unique<reference::Sample>();
  oracle->number = op.getNumber().convertToDouble();
  FailureOr<int64_t> seed = scalars.evaluateInteger(op.getSeed());
  if (failed(seed) || failed(readTensor(op.getScores(), oracle->scores)))
    return failure();
  oracle->seed = *seed;
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::MarginOp op) {
  auto oracle = std::make_unique<reference::Margin>();
  oracle->number = static_cast<int64_t>(op.getNumber());
  if (failed(readTensor(op.getScores(), oracle->scores)))
    return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::GateOp op) {
  auto oracle = std::make_unique<reference::Gate>();
  oracle->share = op.getShare().convertToDouble();
  oracle->low = static_cast<int64_t>(op.getLow());
  oracle->high = static_cast<int64_t>(op.getHigh());
  if (failed(readTensor(op.getValues(), oracle->values)))
    return failure();
  return Oracle(std::move(oracle));
}

//===----------------------------------------------------------------------===//
// Formats of lists
//===----------------------------------------------------------------------===//

FailureOr<std::optional<int64_t>> Reader::readNumber(Value value,
                                                     std::optional<uint64_t> constant) {
  if (constant)
    return std::optional(static_cast<int64_t>(*constant));
  if (!value)
    return std::optional<int64_t>();
  FailureOr<int64_t> number = scalars.evaluateInteger(value);
  if (failed(number))
    return failure();
  return std::optional(*number);
}

template <typename Results> static Oracle known(Results results) {
  return std::make_unique<reference::KnownResults>(std::move(results));
}

FailureOr<Oracle> Reader::read(select::ListOfMaskOp op) {
  Tensor mask;
  auto capacity = readNumber(op.getCapacity(), op.getCapacityValue());
  if (failed(capacity) || failed(readTensor(op.getMask(), mask)))
    return failure();
  return known(reference::listOfMask(mask, *capacity, op.getCut(), op.getTransposed()));
}

FailureOr<Oracle> Reader::read(select::MaskOfListOp op) {
  Tensor ids, counts;
  auto columns = readNumber(op.getColumns(), op.getColumnsValue());
  if (failed(columns) || failed(readTensor(op.getIds(), ids)) ||
      failed(readTensor(op.getCounts(), counts)))
    return failure();
  return known(reference::maskOfList(ids, counts, **columns));
}

FailureOr<Oracle> Reader::read(select::ListOfCsrOp op) {
  Tensor rowPointers, columns;
  auto capacity = readNumber(op.getCapacity(), op.getCapacityValue());
  if (failed(capacity) || failed(readTensor(op.getRowPtr(), rowPointers)) ||
      failed(readTensor(op.getColumns(), columns)))
    return failure();
  return known(reference::listOfCsr(rowPointers, columns, **capacity, op.getCut()));
}

FailureOr<Oracle> Reader::read(select::CsrOfListOp op) {
  Tensor ids, counts;
  if (failed(readTensor(op.getIds(), ids)) || failed(readTensor(op.getCounts(), counts)))
    return failure();
  return known(reference::csrOfList(ids, counts));
}

FailureOr<Oracle> Reader::read(select::TransposeOp op) {
  Tensor ids, counts;
  auto columns = readNumber(op.getColumns(), op.getColumnsValue());
  auto capacity = readNumber(op.getCapacity(), op.getCapacityValue());
  if (failed(columns) || failed(capacity) || failed(readTensor(op.getIds(), ids)) ||
      failed(readTensor(op.getCounts(), counts)))
    return failure();
  OwnedTensor mask = reference::maskOfList(ids, counts, **columns);
  return known(reference::listOfMask(mask.view(), *capacity, op.getCut(), /*transposed=*/true));
}

//===----------------------------------------------------------------------===//
// Choices among candidates
//===----------------------------------------------------------------------===//

FailureOr<Oracle> Reader::read(select::ChildrenOp op) {
  Tensor ids, counts;
  auto columns = readNumber(op.getColumns(), op.getColumnsValue());
  if (failed(columns) || failed(readTensor(op.getIds(), ids)) ||
      failed(readTensor(op.getCounts(), counts)))
    return failure();
  return known(reference::childrenOf(ids, counts, static_cast<int64_t>(op.getBy()), **columns));
}

FailureOr<Oracle> Reader::read(select::ScoreListOp op) {
  auto oracle = std::make_unique<reference::ListScores>();
  if (failed(readTensor(op.getQuery(), oracle->query)) ||
      failed(readTensor(op.getKey(), oracle->key)) ||
      failed(readTensor(op.getIds(), oracle->ids)) ||
      failed(readTensor(op.getCounts(), oracle->counts)) ||
      failed(readSet(op.getSet(), oracle->query.shape[1], oracle->within)) ||
      failed(readSet(op.getForce(), oracle->query.shape[1], oracle->force)))
    return failure();
  oracle->scale = op.getScale() ? op.getScale()->convertToDouble()
                                : 1 / std::sqrt(static_cast<double>(oracle->query.shape[3]));
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> Reader::read(select::PickOp op) {
  Tensor ids, counts, places;
  if (failed(readTensor(op.getIds(), ids)) || failed(readTensor(op.getCounts(), counts)) ||
      failed(readTensor(op.getPlaces(), places)))
    return failure();
  return known(reference::pickOf(ids, counts, places));
}

FailureOr<Oracle> Reader::read(select::WithoutOp op) {
  auto oracle = std::make_unique<reference::Remainder>();
  if (failed(readTensor(op.getScores(), oracle->scores)) ||
      failed(readTensor(op.getIds(), oracle->ids)) ||
      failed(readTensor(op.getCounts(), oracle->counts)))
    return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> translateSelect(Operation *operation, ScalarTranslator &scalars) {
  Reader reader(scalars);
  return llvm::TypeSwitch<Operation *, FailureOr<Oracle>>(operation)
      .Case<select::SummarizeOp, select::FoldOp, select::ProjectOp, select::ScoreOp,
            select::LogSumExpOp, select::RestrictOp, select::ChooseOp, select::SampleOp,
            select::MarginOp, select::ListOfMaskOp, select::MaskOfListOp, select::ListOfCsrOp,
            select::CsrOfListOp, select::TransposeOp, select::ChildrenOp, select::ScoreListOp,
            select::PickOp, select::WithoutOp>([&](auto op) { return reader.read(op); })
      .Default([&](Operation *op) { return reader.read(cast<select::GateOp>(op)); });
}

} // namespace lacuna
