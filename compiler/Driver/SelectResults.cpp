//===- SelectResults.cpp - what select ops compute, as results -------------===//
#include "compiler/Driver/SelectResults.h"

#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"

using namespace mlir;

namespace lacuna {

static bool isSelection(Operation *op) {
  return op && isa<select::SelectDialect>(op->getDialect()) && !isa<select::YieldOp>(op);
}

bool hasSelections(func::FuncOp function) {
  return llvm::any_of(function.getOps(), [](Operation &op) { return isSelection(&op); });
}

bool isSelected(Value value) { return isSelection(value.getDefiningOp()); }

bool isTakenAsComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return isSelection(op) || (isa_and_nonnull<attn::AttendOp, attn::MergeOp>(op) &&
                             llvm::any_of(value.getUsers(), isSelection));
}

SmallVector<Value> findHandedOver(func::FuncOp function) {
  SmallVector<Value> values;
  for (Operation &op : function.getBody().front())
    for (Value result : op.getResults())
      if (isSelected(result) && llvm::any_of(result.getUsers(), [](Operation *user) {
            return !isa<func::ReturnOp>(user) && !isSelection(user);
          }))
        values.push_back(result);
  return values;
}

void exposeSelections(func::FuncOp function, Exposed exposed) {
  if (!function.getBody().hasOneBlock())
    return;
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> values(end->getOperands());
  SmallVector<Value> more;
  if (exposed == Exposed::HandedOver)
    more = findHandedOver(function);
  else
    for (Operation &op : function.getBody().front())
      llvm::copy_if(op.getResults(), std::back_inserter(more), isTakenAsComputed);
  for (Value value : more)
    if (!llvm::is_contained(values, value))
      values.push_back(value);
  end->setOperands(values);
  auto type = FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                llvm::to_vector(ValueRange(values).getTypes()));
  // Attributes of the results that were there stay with them.
  SmallVector<Attribute> attributes;
  if (ArrayAttr known = function.getAllResultAttrs())
    attributes.assign(known.begin(), known.end());
  function.removeResAttrsAttr();
  function.setFunctionType(type);
  if (attributes.empty())
    return;
  attributes.resize(values.size(), DictionaryAttr::get(function.getContext()));
  function.setAllResultAttrs(attributes);
}

std::vector<std::pair<Value, Tensor>> computedValues(const BoundSpec &spec) {
  std::vector<std::pair<Value, Tensor>> values;
  func::FuncOp function = spec.function;
  Operation *end = function.getBody().back().getTerminator();
  if (end->getNumOperands() == spec.results.size())
    for (auto [value, tensor] : llvm::zip_equal(end->getOperands(), spec.results))
      values.emplace_back(value, tensor);
  return values;
}

} // namespace lacuna
