//===- TranslateLinear.cpp - linear attention to the oracle's --------------===//
#include "compiler/Driver/TranslateSelect.h"

#include "dialects/Attn/Attn.h"
#include "lib/Reference/Linear.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace lacuna {

using Oracle = std::unique_ptr<reference::SelectOracle>;

static LogicalResult readTensor(ScalarTranslator &scalars, Value value, Tensor &tensor) {
  FailureOr<Tensor> found = scalars.evaluateTensor(value);
  if (succeeded(found))
    tensor = *found;
  return failure(failed(found));
}

static FailureOr<Oracle> read(attn::LinearStateOp op, ScalarTranslator &scalars) {
  auto oracle = std::make_unique<reference::BlockStates>();
  oracle->kind = static_cast<reference::FeatureKind>(op.getFeature());
  oracle->block = static_cast<int64_t>(op.getBlock());
  if (failed(readTensor(scalars, op.getKey(), oracle->key)) ||
      failed(readTensor(scalars, op.getValue(), oracle->value)))
    return failure();
  return Oracle(std::move(oracle));
}

template <typename Op>
static FailureOr<Oracle> readSums(Op op, ScalarTranslator &scalars, int64_t by) {
  auto oracle = std::make_unique<reference::StateSums>();
  oracle->by = by;
  if (failed(readTensor(scalars, op.getStates(), oracle->states)) ||
      failed(readTensor(scalars, op.getNorms(), oracle->norms)))
    return failure();
  return Oracle(std::move(oracle));
}

static FailureOr<Oracle> read(attn::LinearReadOp op, ScalarTranslator &scalars) {
  auto oracle = std::make_unique<reference::StateReads>();
  oracle->kind = static_cast<reference::FeatureKind>(op.getFeature());
  oracle->queryTile = static_cast<int64_t>(op.getQueryTile());
  oracle->isUndivided = op.getUndivided();
  if (failed(readTensor(scalars, op.getQuery(), oracle->query)) ||
      failed(readTensor(scalars, op.getStates(), oracle->states)) ||
      failed(readTensor(scalars, op.getNorms(), oracle->norms)))
    return failure();
  SetTranslator sets(scalars, oracle->query.shape[1]);
  FailureOr<reference::Set> set = sets.translate(op.getSet());
  if (failed(set))
    return failure();
  oracle->set = *set;
  return Oracle(std::move(oracle));
}

static FailureOr<Oracle> read(attn::GatedMergeOp op, ScalarTranslator &scalars) {
  auto oracle = std::make_unique<reference::GatedSum>();
  for (auto [output, gate] : llvm::zip_equal(op.getOutputs(), op.getGates()))
    if (failed(readTensor(scalars, output, oracle->outputs.emplace_back())) ||
        failed(readTensor(scalars, gate, oracle->gates.emplace_back())))
      return failure();
  return Oracle(std::move(oracle));
}

FailureOr<Oracle> translateLinear(Operation *operation, ScalarTranslator &scalars) {
  return llvm::TypeSwitch<Operation *, FailureOr<Oracle>>(operation)
      .Case<attn::LinearStateOp, attn::LinearReadOp>([&](auto op) { return read(op, scalars); })
      .Case([&](attn::LinearPrefixOp op) { return readSums(op, scalars, 0); })
      .Case([&](attn::LinearFoldOp op) {
        return readSums(op, scalars, static_cast<int64_t>(op.getBy()));
      })
      .Default([&](Operation *op) { return read(cast<attn::GatedMergeOp>(op), scalars); });
}

} // namespace lacuna
