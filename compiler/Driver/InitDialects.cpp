//===- InitDialects.cpp - the dialects that a spec may use ----------------===//
#include "compiler/Driver/InitDialects.h"

#include "dialects/Attn/Attn.h"
#include "dialects/Hopper/Hopper.h"
#include "dialects/Select/Select.h"
#include "dialects/Sparsity/Sparsity.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace lacuna {

mlir::DialectRegistry lacunaDialects() {
  mlir::DialectRegistry registry;
  registry.insert<attn::AttnDialect, hopper::HopperDialect, select::SelectDialect,
                  sparsity::SparsityDialect, tile::TileDialect>();
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  return registry;
}

} // namespace lacuna
