//===- Attn.h - the one header of the attn dialect ------------------------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "dialects/Attn/AttnDialect.h.inc"
#include "dialects/Attn/AttnEnums.h.inc"

#define GET_OP_CLASSES
#include "dialects/Attn/AttnOps.h.inc"

namespace lacuna::attn {
/// Whether `op` is one of those about states of blocks and gates, which are kernels of their own.
bool isLinear(mlir::Operation *op);
} // namespace lacuna::attn
