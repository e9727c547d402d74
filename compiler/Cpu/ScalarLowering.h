//===- ScalarLowering.h - what stands between tile ops --------------------===//
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace lacuna {

/// The type by which a kernel sees an input: tensors become memrefs with any strides.
mlir::Type convertInputType(mlir::Type type);

/// Clones `op`, and what is in its regions, with tensors as memrefs. Tile ops inside are refused
/// with a diagnostic, and so are ops with other uses of tensors.
mlir::LogicalResult cloneScalarOp(mlir::OpBuilder &builder, mlir::Operation &op,
                                  mlir::IRMapping &mapping);

/// What the block of a region yields for these arguments; null where there is no region.
mlir::FailureOr<mlir::Value> emitPredicate(mlir::OpBuilder &builder, mlir::Region &region,
                                           mlir::IRMapping mapping, mlir::ValueRange arguments);

} // namespace lacuna
