//===- AssumedNumbers.cpp - what the planner takes run-time numbers for ---===//
#include "compiler/Analysis/AssumedNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace lacuna;
using namespace mlir;

/// The declared default of an argument of a spec.
static std::optional<int64_t> defaultOf(BlockArgument argument) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return std::nullopt;
  auto value = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "lacuna.default");
  if (!value || value.getValue().getSignificantBits() > 62)
    return std::nullopt;
  return value.getValue().getSExtValue();
}

std::optional<int64_t> AssumedNumbers::evaluate(Value value) const {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (auto found = computed.find(value); found != computed.end())
    return found->second;
  std::optional<int64_t> result = compute(value);
  computed[value] = result;
  return result;
}

std::optional<int64_t> AssumedNumbers::compute(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return defaultOf(argument);
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits() <= 62 ? std::optional(constant.getSExtValue())
                                               : std::nullopt;
  if (!isPure(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<int64_t> condition = evaluate(select.getCondition());
    if (!condition)
      return std::nullopt;
    return evaluate(*condition != 0 ? select.getTrueValue() : select.getFalseValue());
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = evaluate(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  return evaluate(results.front());
}

std::optional<int64_t> AssumedNumbers::evaluate(OpFoldResult number) const {
  if (auto value = dyn_cast<Value>(number))
    return evaluate(value);
  return getConstantIntValue(number);
}

int64_t AssumedNumbers::assume(OpFoldResult number, int64_t typical) const {
  return evaluate(number).value_or(typical);
}
