//===- SetRequirements.cpp - what the arguments of sets must satisfy ------===//
#include "compiler/Passes/SetRequirements.h"

#include "compiler/Passes/Lists.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lacuna;
using lacuna::sparsity::FormulaSpace;
using lacuna::sparsity::SetType;
using lacuna::sparsity::Symbol;

/// Tensors of numbers per head have one for each query head.
static LogicalResult requirePerHead(KernelBuilder &kernel, ValueRange sets, Value heads) {
  llvm::SetVector<Value> tensors;
  for (Value set : sets) {
    auto type = cast<SetType>(set.getType());
    FormulaSpace space(set.getContext(), type.getQueryRank(), type.getKeyRank());
    if (failed(sparsity::buildFormula(set, space)))
      return failure();
    for (const Symbol &symbol : space.getSymbols())
      if (symbol.kind == Symbol::Kind::PerHead)
        tensors.insert(symbol.value);
  }
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  for (Value tensor : tensors) {
    Value length = getExtent(plan, loc, kernel.inPlan(tensor), 0);
    Value enough = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, length, heads);
    if (failed(kernel.require(enough,
                              "expected a value for each query head, got {0} values and {1} heads",
                              {length, heads})))
      return failure();
  }
  return success();
}

/// Both lists of offsets name the same documents.
static LogicalResult requireDocuments(KernelBuilder &kernel, ValueRange sets) {
  OpBuilder &plan = kernel.plan;
  Location loc = kernel.getLoc();
  Value one = makeIndex(plan, loc, 1);
  for (Operation *definition : findSetOps(sets)) {
    auto documents = dyn_cast<sparsity::DocumentsOp>(definition);
    if (!documents)
      continue;
    Value queries = getExtent(plan, loc, kernel.inPlan(documents.getQueryOffsets()), 0);
    Value keys = getExtent(plan, loc, kernel.inPlan(documents.getKeyOffsets()), 0);
    Value equal = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, queries, keys);
    Value some = plan.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, queries, one);
    if (failed(kernel.require(equal,
                              "expected as many query offsets as key offsets, got {0} and {1}",
                              {queries, keys})) ||
        failed(kernel.require(
            some, "expected one document offset more than documents, got {0} offsets", {queries})))
      return failure();
  }
  return success();
}

LogicalResult lacuna::requireSets(KernelBuilder &kernel, ValueRange sets, Value queries,
                                  ValueRange querySizes) {
  Value heads = getExtent(kernel.plan, kernel.getLoc(), queries, 1);
  if (failed(requirePerHead(kernel, sets, heads)) || failed(requireDocuments(kernel, sets)))
    return failure();
  return success(llvm::all_of(
      sets, [&](Value set) { return succeeded(requireLists(kernel, set, queries, querySizes)); }));
}

LogicalResult lacuna::requireSequenceSets(KernelBuilder &kernel, ValueRange sets, Value queries,
                                          Value rows, Value columns) {
  return success(succeeded(requireSets(kernel, sets, queries, rows)) &&
                 llvm::all_of(sets, [&](Value set) {
                   return succeeded(requireBitmaps(kernel, set, queries, rows, columns));
                 }));
}
