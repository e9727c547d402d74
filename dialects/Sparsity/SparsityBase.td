//===- SparsityBase.td - the dialect of sets of pairs ---------------------===//
#ifndef LACUNA_SPARSITY_BASE_TD
#define LACUNA_SPARSITY_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def SparsityDialect : Dialect {
  let name = "sparsity";
  let cppNamespace = "::lacuna::sparsity";
  let summary = "sets of (query, key) pairs, written as formulas";
  let description = [{
    A set says which keys each query attends to. Sets are SSA values; nothing
    is stored for them at run time. `docs/dialects/sparsity.md` has every rule
    by its label.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif
