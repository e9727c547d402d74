//===- ValueName.h - names that a spec gives to values --------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

#include <string>

namespace lacuna {

/// The name that the spec's text gives to `value`, without `%`; empty if it has none. Parsing keeps
/// it as a NameLoc, and arguments of kernels have those of the values that they stand for.
inline std::string valueName(mlir::Value value) {
  auto name = mlir::dyn_cast<mlir::NameLoc>(value.getLoc());
  if (!name)
    return {};
  if (auto result = mlir::dyn_cast<mlir::OpResult>(value); result && result.getResultNumber() > 0)
    return {};
  return name.getName().str();
}

} // namespace lacuna
