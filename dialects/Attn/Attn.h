//===- Attn.h - the one header of the attn dialect ------------------------===//
#pragma once

#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "dialects/Attn/AttnDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/Attn/AttnOps.h.inc"
