//===- Hopper.h - the one header of the hopper dialect --------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Hopper/HopperDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Hopper/HopperOps.h.inc"

#include "llvm/ADT/SmallPtrSet.h"

namespace lacuna::hopper {

/// Which values of an element function depend on neither the key's coordinates nor the score.
class RowValues {
public:
  RowValues(mlir::Block &block, size_t queryAxes);

  /// Whether an op of the function does.
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// Whether a value that the function uses does.
  bool contains(mlir::Value value) const;

private:
  mlir::Block &block;
  size_t queryAxes;
  llvm::SmallPtrSet<mlir::Operation *, 16> ops;
};

} // namespace lacuna::hopper
