//===- Passes.h - every pass of the compiler ------------------------------===//
#pragma once

#include "dialects/Attn/Attn.h"
#include "dialects/Hopper/Hopper.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace lacuna {
#define GEN_PASS_DECL
#include "compiler/Passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Passes/Passes.h.inc"
} // namespace lacuna
