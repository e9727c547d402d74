//===- TranslateSelect.h - select ops to the oracle's ----------------------===//
#pragma once

#include "compiler/Driver/TranslateSet.h"
#include "lib/Reference/Select.h"

namespace lacuna {

/// What the results of one select op should be, given what it reads: `scalars` knows those tensors.
mlir::FailureOr<std::unique_ptr<reference::SelectOracle>>
translateSelect(mlir::Operation *op, ScalarTranslator &scalars);

/// The same for ops of linear attention.
mlir::FailureOr<std::unique_ptr<reference::SelectOracle>>
translateLinear(mlir::Operation *op, ScalarTranslator &scalars);

} // namespace lacuna
