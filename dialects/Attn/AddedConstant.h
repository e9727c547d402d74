//===- AddedConstant.h - score functions that add a number ----------------===//
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace lacuna::attn {

/// The finite constant that `result` adds to `score`, when it is nothing but that sum.
std::optional<float> getAddedConstant(mlir::Value result, mlir::Value score);

} // namespace lacuna::attn
