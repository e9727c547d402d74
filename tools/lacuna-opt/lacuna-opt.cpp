//===- lacuna-opt.cpp - runs single passes, for tests and debugging -------===//
#include "compiler/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::math::MathDialect, lacuna::attn::AttnDialect,
                  lacuna::sparsity::SparsityDialect, lacuna::tile::TileDialect>();
  lacuna::registerLacunaPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "runs Lacuna's passes on MLIR\n", registry));
}
