//===- BuildReference.cpp - a spec as a computation of the oracle ----------===//
#include "compiler/Driver/BuildReference.h"

#include "compiler/Driver/SelectResults.h"
#include "compiler/Driver/TranslateSelect.h"
#include "compiler/Driver/TranslateSet.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"
#include "lib/Reference/ParallelFor.h"
#include "lib/Support/Text.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using lacuna::reference::RowIndex;
using lacuna::reference::RowResult;

namespace lacuna {

/// Multiply-adds that the oracle spends on one step of which every row is needed.
static constexpr double wholeBudget = 4e10;

ReferenceProgram::ReferenceProgram(const BoundSpec &spec)
    : scalars(func::FuncOp(spec.function).getArguments(), spec.arguments) {}

std::unique_ptr<ReferenceProgram> ReferenceProgram::build(const BoundSpec &spec) {
  std::unique_ptr<ReferenceProgram> program(new ReferenceProgram(spec));
  func::FuncOp function = spec.function;
  auto computed = computedValues(spec);
  if (hasSelections(function) && computed.empty()) {
    function.emitOpError("expected to have been run, which select ops are compared by");
    return nullptr;
  }
  for (const auto &[value, tensor] : computed)
    if (isTakenAsComputed(value))
      program->scalars.bind(value, tensor);
  for (Operation &op : function.getBody().front()) {
    LogicalResult added = success();
    if (isa<attn::AttendOp>(op))
      added = program->addAttend(&op);
    else if (isa<attn::MergeOp>(op))
      added = program->addMerge(&op);
    else if (lacuna::isSelection(&op))
      added = program->addSelection(&op);
    else if (isa<func::ReturnOp>(op))
      added = program->addReturn(&op);
    if (failed(added))
      return nullptr;
  }
  return program;
}

FailureOr<Tensor> ReferenceProgram::tensorOf(Value value) {
  auto producer = producers.find(value);
  if (producer == producers.end() || scalars.isBound(value))
    return scalars.evaluateTensor(value);
  Step &step = steps[producer->second];
  double rows = static_cast<double>(step.shape[0]) * static_cast<double>(step.shape[1]) *
                static_cast<double>(step.shape[2]);
  if (rows * step.costPerRow > wholeBudget)
    return emitError(value.getLoc(), "expected a result that another attend reads to be small "
                                     "enough for the oracle, got ")
           << shapeText(step.shape);
  if (!step.whole.view().data) {
    int64_t batch = step.shape[0], heads = step.shape[1], queries = step.shape[2];
    step.whole = OwnedTensor(ElementType::F64, step.shape);
    step.wholeLse = OwnedTensor(ElementType::F64, {batch, heads, queries});
    reference::parallelFor(batch * heads * queries, 0, [&](int64_t index) {
      RowIndex row{index / queries / heads, index / queries % heads, index % queries};
      RowResult result = rowOf(step, row);
      for (int64_t channel = 0; channel < step.shape[3]; ++channel)
        step.whole.view().set({row.batch, row.head, row.query, channel},
                              result.output[static_cast<size_t>(channel)]);
      step.wholeLse.view().set({row.batch, row.head, row.query}, result.lse);
    });
  }
  return value == step.op->getResult(0) ? step.whole.view() : step.wholeLse.view();
}

/// Refuses shapes that do not belong together, with the rule and both numbers.
static LogicalResult checkShapes(attn::AttendOp op, const reference::Attend &attend) {
  const auto &query = attend.query.shape, &key = attend.key.shape, &value = attend.value.shape;
  if (key[0] != query[0] || value[0] != query[0])
    return op.emitOpError("expected query, key and value to share the batch, got ")
           << query[0] << ", " << key[0] << " and " << value[0];
  if (value[1] != key[1])
    return op.emitOpError("expected key and value to share the heads, got ")
           << key[1] << " and " << value[1];
  if (key[1] == 0 ? query[1] != 0 : query[1] % key[1] != 0)
    return op.emitOpError("expected the query heads to be a multiple of the key heads, got ")
           << query[1] << " and " << key[1];
  if (key[3] != query[3])
    return op.emitOpError("expected query and key to share the channels, got ")
           << query[3] << " and " << key[3];
  if (value[2] != key[2])
    return op.emitOpError("expected key and value to share the length, got ")
           << key[2] << " and " << value[2];
  return success();
}

/// The shape of the tokens, if the set names one.
static LogicalResult readDomain(attn::AttendOp op, SetTranslator &sets, reference::Attend &attend) {
  Value domain = SetTranslator::findDomain(op.getSet());
  if (!domain) {
    if (cast<sparsity::SetType>(op.getSet().getType()).isSequence())
      return success();
    return op.emitOpError(
        "expected a set that names its domain, which gives the sizes of the axes");
  }
  FailureOr<std::vector<reference::Grid>> grids = sets.translateDomain(domain);
  if (failed(grids))
    return failure();
  int64_t tokens = 0;
  for (const reference::Grid &grid : *grids)
    tokens += grid.tokens();
  if (attend.queries() != tokens || attend.keys() != tokens)
    return op.emitOpError("expected as many queries and keys as the domain has tokens (")
           << tokens << "), got " << attend.queries() << " and " << attend.keys();
  if (grids->size() == 1)
    attend.queryGrid = attend.keyGrid = grids->front();
  return success();
}

/// What is skipped by a look at scores, and which blocks a run took.
LogicalResult ReferenceProgram::readSkip(Operation *operation, reference::Attend &attend) {
  auto op = cast<attn::AttendOp>(operation);
  if (!op.hasSkip())
    return success();
  if (!op.getTaken() || !scalars.isBound(op.getTaken()))
    return op.emitOpError("expected to have been run, with marks of the blocks that it took");
  reference::Skip skip;
  skip.queryBlock = op.getSkipQuery()->front();
  skip.keyBlock = op.getSkipKey()->front();
  if (op.getMargin())
    skip.margin = op.getMargin()->convertToDouble();
  std::vector<int64_t> rows(attend.query.shape.begin(), attend.query.shape.end() - 1);
  if (op.getBelow()) {
    FailureOr<Tensor> below = tensorOf(op.getBelow());
    if (failed(below))
      return failure();
    if (below->shape != rows)
      return op.emitOpError("expected a limit per row of the query, of shape ")
             << shapeText(rows) << ", got " << shapeText(below->shape);
    skip.below = *below;
  }
  FailureOr<Tensor> taken = tensorOf(op.getTaken());
  if (failed(taken))
    return failure();
  std::vector<int64_t> blocks = {rows[0], rows[1], llvm::divideCeilSigned(rows[2], skip.queryBlock),
                                 llvm::divideCeilSigned(attend.keys(), skip.keyBlock)};
  if (taken->shape != blocks)
    return op.emitOpError("expected marks of shape ")
           << shapeText(blocks) << ", got " << shapeText(taken->shape);
  skip.taken = *taken;
  attend.skip = std::move(skip);
  return success();
}

LogicalResult ReferenceProgram::addAttend(Operation *operation) {
  auto op = cast<attn::AttendOp>(operation);
  reference::Attend attend;
  for (auto [value, tensor] : {std::pair(op.getQuery(), &attend.query),
                               {op.getKey(), &attend.key},
                               {op.getValue(), &attend.value}}) {
    FailureOr<Tensor> found = tensorOf(value);
    if (failed(found))
      return failure();
    *tensor = *found;
  }
  if (failed(checkShapes(op, attend)))
    return failure();
  int64_t heads = attend.query.shape[1], queries = attend.query.shape[2];
  int64_t keys = attend.key.shape[2], channels = attend.query.shape[3];
  SetTranslator sets(scalars, heads);
  FailureOr<reference::Set> set = sets.translate(op.getSet());
  if (failed(set) || failed(readDomain(op, sets, attend)))
    return failure();
  attend.set = *set;
  FailureOr<reference::Columns> columns = sets.translateHierarchy(op.getSet());
  if (failed(columns))
    return failure();
  attend.columns = std::move(*columns);
  attend.scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(static_cast<double>(channels));
  attend.positionFromStart = op.getFromStart();
  if (!op.getScore().empty()) {
    FailureOr<reference::ScalarProgram> score = scalars.translateRegion(op.getScore());
    if (failed(score))
      return failure();
    attend.score = *score;
  }
  if (op.getSinks()) {
    FailureOr<Tensor> sinks = tensorOf(op.getSinks());
    if (failed(sinks))
      return failure();
    if (sinks->shape[0] != heads)
      return op.emitOpError("expected one sink per query head (")
             << heads << "), got " << sinks->shape[0];
    for (int64_t head = 0; head < heads; ++head)
      attend.sinks.push_back(sinks->at({head}));
  }
  if (failed(readSkip(operation, attend)))
    return failure();
  Step step{operation, attend, {}, {}, {}, {}};
  step.shape = {attend.query.shape[0], heads, queries, attend.value.shape[3]};
  // A pair test costs about as much as a dozen multiply-adds.
  step.costPerRow =
      static_cast<double>(keys) * static_cast<double>(channels + attend.value.shape[3] + 12);
  step.keyChannels = channels;
  for (Value result : op->getResults())
    producers[result] = static_cast<unsigned>(steps.size());
  steps.push_back(std::move(step));
  return success();
}

LogicalResult ReferenceProgram::addMerge(Operation *operation) {
  auto op = cast<attn::MergeOp>(operation);
  Step step{operation, std::nullopt, {}, {}, {}, {}};
  for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses())) {
    Part part{output, lse, {}, {}};
    std::vector<int64_t> shape;
    if (auto producer = producers.find(output);
        producer != producers.end() && !scalars.isBound(output)) {
      const Step &earlier = steps[producer->second];
      step.costPerRow += earlier.costPerRow;
      step.keyChannels = std::max(step.keyChannels, earlier.keyChannels);
      shape = earlier.shape;
    } else {
      FailureOr<Tensor> given = tensorOf(output);
      if (failed(given))
        return failure();
      part.givenOutput = *given;
      shape = given->shape;
    }
    if (!producers.contains(lse) || scalars.isBound(lse)) {
      FailureOr<Tensor> given = tensorOf(lse);
      if (failed(given))
        return failure();
      part.givenLse = *given;
    }
    if (!step.shape.empty() && shape != step.shape)
      return op.emitOpError("expected all parts to have one shape, got ")
             << shapeText(step.shape) << " and " << shapeText(shape);
    if (part.givenLse &&
        part.givenLse->shape != std::vector<int64_t>(shape.begin(), shape.begin() + 3))
      return op.emitOpError("expected an lse of shape ")
             << shapeText({shape[0], shape[1], shape[2]}) << ", got "
             << shapeText(part.givenLse->shape);
    step.parts.push_back(part);
    step.shape = std::move(shape);
  }
  for (Value result : op->getResults())
    producers[result] = static_cast<unsigned>(steps.size());
  steps.push_back(std::move(step));
  return success();
}

LogicalResult ReferenceProgram::addSelection(Operation *op) {
  for (Value result : op->getResults()) {
    if (!scalars.isBound(result))
      return op->emitOpError("expected all results of select ops to be known");
    producers[result] = static_cast<unsigned>(selections.size());
  }
  FailureOr<std::unique_ptr<reference::SelectOracle>> oracle =
      attn::isLinear(op) ? translateLinear(op, scalars) : translateSelect(op, scalars);
  if (failed(oracle))
    return failure();
  selections.push_back({op, std::move(*oracle)});
  return success();
}

LogicalResult ReferenceProgram::addReturn(Operation *op) {
  std::vector<std::string> names = namesOfResults(op->getParentOfType<func::FuncOp>());
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto producer = producers.find(operand);
    if (producer == producers.end())
      return op->emitOpError(
          "expected every result to come from attn.attend, attn.merge or a select op");
    auto result = cast<OpResult>(operand);
    bool isSelection = lacuna::isSelection(result.getOwner());
    auto attend = dyn_cast<attn::AttendOp>(result.getOwner());
    bool isMarks = attend && operand == attend.getTaken();
    bool isLse = !isSelection && !isMarks && result.getResultNumber() == 1;
    results.push_back({producer->second, isLse, operand.getLoc(), isSelection,
                       result.getResultNumber(), names[index], isMarks});
  }
  return success();
}

RowResult ReferenceProgram::partOf(const Part &part, const RowIndex &row) const {
  RowResult result;
  if (part.givenOutput) {
    for (int64_t channel = 0; channel < part.givenOutput->shape[3]; ++channel) {
      result.output.push_back(part.givenOutput->at({row.batch, row.head, row.query, channel}));
      result.magnitude.push_back(std::fabs(result.output.back()));
    }
  } else {
    result = rowOf(steps[producers.lookup(part.output)], row);
  }
  if (part.givenLse)
    result.lse = part.givenLse->at({row.batch, row.head, row.query});
  else if (part.givenOutput || producers.lookup(part.lse) != producers.lookup(part.output))
    result.lse = rowOf(steps[producers.lookup(part.lse)], row).lse;
  return result;
}

RowResult ReferenceProgram::rowOf(const Step &step, const RowIndex &row) const {
  if (step.attend)
    return step.attend->row(row);
  std::vector<RowResult> parts;
  for (const Part &part : step.parts)
    parts.push_back(partOf(part, row));
  return reference::mergeRows(parts);
}

std::vector<RowResult> ReferenceProgram::evaluate(unsigned step, ArrayRef<RowIndex> rows,
                                                  unsigned threads) const {
  std::vector<RowResult> exact(rows.size());
  reference::parallelFor(static_cast<int64_t>(rows.size()), threads, [&](int64_t index) {
    exact[static_cast<size_t>(index)] = rowOf(steps[step], rows[static_cast<size_t>(index)]);
  });
  return exact;
}

std::optional<int64_t> ReferenceProgram::countLivePairs(int64_t limit, unsigned threads) const {
  double tests = 0;
  for (const Step &step : steps)
    if (step.attend)
      tests += static_cast<double>(step.shape[0]) * static_cast<double>(step.shape[1]) *
               static_cast<double>(step.shape[2]) * static_cast<double>(step.attend->key.shape[2]);
  if (tests > static_cast<double>(limit))
    return std::nullopt;
  std::atomic<int64_t> live{0};
  for (const Step &step : steps) {
    if (!step.attend)
      continue;
    int64_t heads = step.shape[1], queries = step.shape[2];
    reference::parallelFor(step.shape[0] * heads * queries, threads, [&](int64_t index) {
      live += step.attend->liveKeys(
          {index / queries / heads, index / queries % heads, index % queries});
    });
  }
  return live.load();
}

} // namespace lacuna
