//===- SetRequirements.h - what the arguments of sets must satisfy --------===//
#pragma once

#include "compiler/Passes/KernelBuilder.h"

namespace lacuna {

/// Requires, in the plan, that the tensors which `sets` name fit the heads of the tensor `queries`
/// (batch x heads x ...) and `querySizes` tokens per axis; both are values of the plan.
mlir::LogicalResult requireSets(KernelBuilder &kernel, mlir::ValueRange sets, mlir::Value queries,
                                mlir::ValueRange querySizes);
/// The same for sets over sequences, of `rows` queries and `columns` keys.
mlir::LogicalResult requireSequenceSets(KernelBuilder &kernel, mlir::ValueRange sets,
                                        mlir::Value queries, mlir::Value rows, mlir::Value columns);

} // namespace lacuna
