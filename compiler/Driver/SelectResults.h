//===- SelectResults.h - what select ops compute, as results ---------------===//
#pragma once

#include "compiler/Driver/SpecInterface.h"

namespace lacuna {

/// Whether `op` is compared by itself, given the tensors that a run had it read: an op of the
/// select dialect or of linear attention.
bool isSelection(mlir::Operation *op);

/// Whether a function has such ops.
bool hasSelections(mlir::func::FuncOp function);

/// Whether a function has ops of the select dialect: then which pairs are live depends on data.
bool hasChoices(mlir::func::FuncOp function);

/// Whether a select op computes `value`, or an attend that skips blocks says with it which it took.
bool isSelected(mlir::Value value);

/// Whether a check takes `value` as a run computed it: select ops' results and what attention hands
/// to them. Choices jump where scores are nearly equal, so what follows one must start from it.
bool isTakenAsComputed(mlir::Value value);

/// What leaves the select ops for sets and attention, in the order of the function.
llvm::SmallVector<mlir::Value> findHandedOver(mlir::func::FuncOp function);

/// Which values a function returns behind its own results.
enum class Exposed {
  /// Those that a check takes as computed.
  All,
  /// Those that decide which pairs are live.
  HandedOver,
};
void exposeSelections(mlir::func::FuncOp function, Exposed exposed = Exposed::All);

/// The values that `function` returns, with the tensors of a run; empty before a run.
std::vector<std::pair<mlir::Value, Tensor>> computedValues(const BoundSpec &spec);

} // namespace lacuna
