//===- Tile.h - the one header of the tile dialect ------------------------===//
#pragma once

#include "dialects/Attn/Attn.h"
#include "dialects/Select/Select.h"
#include "dialects/Sparsity/Sparsity.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"
