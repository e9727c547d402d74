//===- SelectResults.cpp - what select ops compute, as results -------------===//
#include "compiler/Driver/SelectResults.h"

#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"

using namespace mlir;

namespace lacuna {

bool isSelection(Operation *op) {
  if (!op)
    return false;
  return attn::isLinear(op) ||
         (isa_and_nonnull<select::SelectDialect>(op->getDialect()) && !isa<select::YieldOp>(op));
}

bool hasSelections(func::FuncOp function) {
  return llvm::any_of(function.getOps(), [](Operation &op) { return isSelection(&op); });
}

bool hasChoices(func::FuncOp function) {
  return llvm::any_of(function.getOps(), [](Operation &op) {
    return isa_and_nonnull<select::SelectDialect>(op.getDialect());
  });
}

/// Whether `value` says which blocks an attend did not skip.
static bool isMarks(Value value) {
  auto attend = value.getDefiningOp<attn::AttendOp>();
  return attend && value == attend.getTaken();
}

bool isSelected(Value value) { return isSelection(value.getDefiningOp()) || isMarks(value); }

bool isTakenAsComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return isSelected(value) || (isa_and_nonnull<attn::AttendOp, attn::MergeOp>(op) &&
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

/// Makes attends say which blocks they did not skip.
static void exposeMarks(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  for (attn::AttendOp op : llvm::make_early_inc_range(function.getOps<attn::AttendOp>())) {
    if (!op.hasSkip() || op.getTaken())
      continue;
    attn::AttendOp told = op.withResults(builder, static_cast<bool>(op.getLse()), true);
    op->replaceAllUsesWith(told->getResults().drop_back());
    op->erase();
  }
}

void exposeSelections(func::FuncOp function, Exposed exposed) {
  if (!function.getBody().hasOneBlock())
    return;
  if (exposed == Exposed::All)
    exposeMarks(function);
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
