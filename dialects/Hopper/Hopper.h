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
