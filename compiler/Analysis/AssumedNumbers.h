//===- AssumedNumbers.h - what the planner takes run-time numbers for -----===//
//
// Kernels serve every value of a run-time number, but their tile shapes are
// chosen once. They are chosen for the declared default of an argument, or for
// a typical value where there is none.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace lacuna {

/// Values of integers in IR, evaluated from constants and defaults.
class AssumedNumbers {
public:
  /// Widths and radii without a default.
  static constexpr int64_t typicalReach = 8;
  /// Tokens along an axis without a default.
  static constexpr int64_t typicalSize = 64;

  /// Fixes a value, or forgets what it was with nullopt.
  void set(mlir::Value value, int64_t number) {
    known[value] = number;
    computed.clear();
  }
  /// The integer that `value` has when arguments have their defaults; null when that takes memory,
  /// control flow or an argument without a default.
  std::optional<int64_t> evaluate(mlir::Value value) const;
  std::optional<int64_t> evaluate(mlir::OpFoldResult number) const;
  /// The same, with `typical` for what cannot be known.
  int64_t assume(mlir::OpFoldResult number, int64_t typical) const;

private:
  std::optional<int64_t> compute(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, int64_t> known;
  /// Results since the last `set`: expressions share parts, and without them each part would be
  /// evaluated once for each way to it.
  mutable llvm::DenseMap<mlir::Value, std::optional<int64_t>> computed;
};

} // namespace lacuna
