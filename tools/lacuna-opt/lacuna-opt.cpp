//===- lacuna-opt.cpp - runs single passes, for tests and debugging -------===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Passes/Passes.h"
#include "compiler/Pipelines/Pipelines.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry = lacuna::lacunaDialects();
  lacuna::registerLacunaPasses();
  lacuna::registerLacunaPipelines();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "runs Lacuna's passes on MLIR\n", registry));
}
