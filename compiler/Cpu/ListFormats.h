//===- ListFormats.h - conversions of lists as loops ----------------------===//
#pragma once

#include "dialects/Tile/Tile.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace lacuna {

/// Writes what `op` does at its grid point when it converts lists, and says whether it does;
/// `values` has the memory behind tensors.
bool emitListFormat(mlir::ImplicitLocOpBuilder &builder, mlir::Operation &op,
                    const mlir::IRMapping &values);

} // namespace lacuna
