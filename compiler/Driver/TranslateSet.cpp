//===- TranslateSet.cpp - set ops to the oracle's sets ---------------------===//
#include "compiler/Driver/TranslateSet.h"

#include "dialects/Sparsity/Sparsity.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using lacuna::reference::Number;
using lacuna::reference::Set;

namespace lacuna {

FailureOr<std::optional<Number>> SetTranslator::optionalNumber(Value operand,
                                                               std::optional<int64_t> constant) {
  if (constant)
    return std::optional<Number>(*constant);
  if (!operand)
    return std::optional<Number>();
  if (!isa<RankedTensorType>(operand.getType())) {
    FailureOr<int64_t> value = scalars.evaluateInteger(operand);
    if (failed(value))
      return failure();
    return std::optional<Number>(*value);
  }
  FailureOr<std::vector<int64_t>> values = scalars.evaluateIntegers(operand);
  if (failed(values))
    return failure();
  if (static_cast<int64_t>(values->size()) != heads)
    return emitError(operand.getLoc(), "expected one number per query head (")
           << heads << "), got " << values->size();
  return std::optional<Number>(Number(std::move(*values)));
}

FailureOr<Number> SetTranslator::number(Value operand, std::optional<int64_t> constant) {
  FailureOr<std::optional<Number>> found = optionalNumber(operand, constant);
  if (failed(found))
    return failure();
  return **found;
}

FailureOr<std::vector<Set>> SetTranslator::translateAll(ValueRange values) {
  std::vector<Set> sets;
  for (Value value : values) {
    FailureOr<Set> set = translate(value);
    if (failed(set))
      return failure();
    sets.push_back(*set);
  }
  return sets;
}

FailureOr<Set> SetTranslator::translate(Value value) {
  if (auto found = translated.find(value); found != translated.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc(), "expected a set that is built in this function");
  FailureOr<Set> set = translateOp(op);
  if (succeeded(set))
    translated[value] = *set;
  return set;
}

FailureOr<Set> SetTranslator::translateOp(Operation *operation) {
  return llvm::TypeSwitch<Operation *, FailureOr<Set>>(operation)
      .Case([&](sparsity::AllOp) { return reference::allPairs(); })
      .Case([&](sparsity::NoneOp) { return reference::noPairs(); })
      .Default([](Operation *op) -> FailureOr<Set> {
        return op->emitError("expected a set that the oracle knows, got '") << op->getName() << "'";
      });
}

} // namespace lacuna
