//===- lacuna-lsp-server.cpp - completion and diagnostics in editors ------===//
#include "compiler/Driver/InitDialects.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry = lacuna::lacunaDialects();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
