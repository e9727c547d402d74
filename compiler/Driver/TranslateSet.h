//===- TranslateSet.h - set ops to the oracle's sets -----------------------===//
#pragma once

#include "compiler/Driver/TranslateScalar.h"
#include "lib/Reference/SetExpression.h"

namespace lacuna {

/// Translates the sets of one attend, op by op. Nothing is simplified: what the oracle evaluates is
/// what the spec says.
class SetTranslator {
public:
  SetTranslator(ScalarTranslator &scalars, int64_t heads) : scalars(scalars), heads(heads) {}

  mlir::FailureOr<reference::Set> translate(mlir::Value set);

private:
  mlir::FailureOr<reference::Set> translateOp(mlir::Operation *op);
  mlir::FailureOr<std::vector<reference::Set>> translateAll(mlir::ValueRange sets);
  /// A number given as an operand or as a constant; nothing when neither is there.
  mlir::FailureOr<std::optional<reference::Number>> optionalNumber(mlir::Value operand,
                                                                   std::optional<int64_t> constant);
  mlir::FailureOr<reference::Number> number(mlir::Value operand, std::optional<int64_t> constant);

  ScalarTranslator &scalars;
  int64_t heads;
  llvm::DenseMap<mlir::Value, reference::Set> translated;
};

} // namespace lacuna
