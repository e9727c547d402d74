//===- SparsityInterfaces.td - what every set can say about itself --------===//
#ifndef LACUNA_SPARSITY_INTERFACES_TD
#define LACUNA_SPARSITY_INTERFACES_TD

include "mlir/IR/OpBase.td"

def SetOpInterface : OpInterface<"SetOpInterface"> {
  let cppNamespace = "::lacuna::sparsity";
  let description = [{
    A set given by a formula over one query segment and one key segment. Hull,
    core and element predicate all follow from the formula: its affine atoms
    are exact, its monotone terms exact at rows and bounded over tiles, and an
    opaque term is bounded by everything from above and nothing from below.
  }];
  let methods = [
    InterfaceMethod<[{
      The exact set as a formula. Every symbol it needs is added to `space`.
    }], "::lacuna::sparsity::Formula", "buildFormula",
      (ins "::lacuna::sparsity::FormulaSpace &":$space)>,
    InterfaceMethod<[{
      The value of one of the op's own terms at a pair: an `index` for a
      monotone symbol (only the query coordinates may be read), an `i1` for an
      opaque atom. Ops without such terms are never asked.
    }], "::mlir::Value", "emitTerm",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "unsigned":$term,
           "const ::lacuna::sparsity::PairContext &":$pair),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        llvm_unreachable("this set has no terms of its own");
      }]>,
    InterfaceMethod<[{
      A formula that contains the set and has neither monotone nor opaque
      negation gaps: what tiling may visit.
    }], "::lacuna::sparsity::Formula", "getHull",
      (ins "::lacuna::sparsity::FormulaSpace &":$space),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op.buildFormula(space).withoutOpaque(/*value=*/true);
      }]>,
    InterfaceMethod<[{
      A formula inside the set: pairs that are surely live.
    }], "::lacuna::sparsity::Formula", "getCore",
      (ins "::lacuna::sparsity::FormulaSpace &":$space),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op.buildFormula(space).withoutOpaque(/*value=*/false);
      }]>,
  ];
}

#endif
