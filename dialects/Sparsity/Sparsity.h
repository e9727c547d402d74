//===- Sparsity.h - the one header of the sparsity dialect ----------------===//
#pragma once

#include "dialects/Sparsity/Formula.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Sparsity/SparsityDialect.h.inc"
#include "dialects/Sparsity/SparsityEnums.h.inc"

#include "dialects/Sparsity/SparsityInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Sparsity/SparsityTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Sparsity/SparsityOps.h.inc"

namespace lacuna::sparsity {

/// A domain that the expression below `set` names, or null. All that it names are the same.
mlir::Value findDomain(mlir::Value set);

} // namespace lacuna::sparsity
