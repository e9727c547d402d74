//===- RunSelections.cpp - what a spec chooses, for tools that count -------===//
#include "compiler/Driver/RunSelections.h"

#include "compiler/Driver/CpuProgram.h"
#include "compiler/Driver/SelectResults.h"
#include "compiler/Passes/KernelBuilder.h"
#include "compiler/Pipelines/Pipelines.h"
#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace lacuna {

/// Makes a function return other values.
static void setResults(func::FuncOp function, ArrayRef<Value> values) {
  function.getBody().front().getTerminator()->setOperands(values);
  function.removeResAttrsAttr();
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             llvm::to_vector(ValueRange(values).getTypes())));
}

/// Computes what leaves the select ops, and only what that needs.
static FailureOr<std::vector<OwnedTensor>> compute(const BoundSpec &spec, Executor &executor) {
  func::FuncOp original = spec.function;
  OwningOpRef<ModuleOp> module = original->getParentOfType<ModuleOp>().clone();
  auto function = module->lookupSymbol<func::FuncOp>(original.getSymName());
  SmallVector<Value> values = findHandedOver(function);
  setResults(function, values);
  eraseDeadOps(function.getBody().front());
  PassManager passes(original.getContext());
  buildSpecToTile(passes, {});
  buildTileToLoops(passes);
  if (failed(passes.run(*module)))
    return failure();
  FailureOr<std::unique_ptr<CpuProgram>> program =
      CpuProgram::compile(module->lookupSymbol<func::FuncOp>(original.getSymName()));
  if (failed(program))
    return failure();
  auto results = (*program)->run(spec.arguments, executor);
  if (!results)
    return original.emitError(results.status().message());
  return std::move(*results);
}

FailureOr<std::vector<OwnedTensor>> takeSelections(const BoundSpec &spec, func::FuncOp function,
                                                   std::vector<Argument> &arguments,
                                                   Executor &executor) {
  std::vector<OwnedTensor> computed;
  SmallVector<Value> values = findHandedOver(function);
  if (values.empty())
    return std::move(computed);
  // The copy's ops stand in the order of the spec's.
  llvm::DenseMap<Value, Tensor> known;
  for (const auto &[value, tensor] : computedValues(spec))
    known[value] = tensor;
  SmallVector<Value> originals = findHandedOver(spec.function);
  std::vector<Tensor> tensors;
  if (llvm::all_of(originals, [&](Value value) { return known.contains(value); })) {
    for (Value value : originals)
      tensors.push_back(known.lookup(value));
  } else {
    auto results = compute(spec, executor);
    if (failed(results))
      return failure();
    computed = std::move(*results);
    for (const OwnedTensor &result : computed)
      tensors.push_back(result.view());
  }
  for (auto [value, tensor] : llvm::zip_equal(values, tensors)) {
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, value.getType(), {}, value.getLoc());
    value.replaceAllUsesWith(function.getArgument(index));
    arguments.emplace_back(tensor);
  }
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> left =
      llvm::filter_to_vector(end->getOperands(), [](Value value) { return !isSelected(value); });
  setResults(function, left);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (op.use_empty() && op.getNumResults() > 0 && isSelected(op.getResult(0)))
      op.erase();
  // Attention that only select ops read is counted too.
  for (Operation &op : function.getBody().front())
    if (isa<attn::AttendOp>(op) && op.use_empty())
      left.push_back(op.getResult(0));
  setResults(function, left);
  return std::move(computed);
}

} // namespace lacuna
