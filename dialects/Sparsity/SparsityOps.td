//===- SparsityOps.td - sets of pairs, and their algebra ------------------===//
#ifndef LACUNA_SPARSITY_OPS_TD
#define LACUNA_SPARSITY_OPS_TD

include "dialects/Sparsity/SparsityTypes.td"
include "dialects/Sparsity/SparsityInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Sparsity_Op<string opMnemonic, list<Trait> traits = []>
    : Op<SparsityDialect, opMnemonic, !listconcat(traits, [Pure])>;

/// A number that differs per head: tensor<?xindex> or tensor<?xi32>, one element a query head.
def Sparsity_PerHead : 1DTensorOf<[Index, I32, I64]>;

/// A number given at run time: the same for all heads, or one per head.
def Sparsity_Number : AnyTypeOf<[Index, Sparsity_PerHead]>;

/// A set op whose operands do not include other sets. `from_start` counts query positions from the
/// first key instead of aligning the last query with the last key. `terms` is ["emitTerm"] for ops
/// whose formula has terms of their own.
class Sparsity_LeafOp<string opMnemonic, list<string> terms = [], list<Trait> traits = []>
    : Sparsity_Op<opMnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<SetOpInterface, !listconcat(["buildFormula"], terms)>])> {
  let results = (outs Sparsity_Set:$set);
}

/// A set over a sequence: its type needs no spelling.
class Sparsity_SequenceOp<string opMnemonic, list<string> terms = [], list<Trait> traits = []>
    : Sparsity_LeafOp<opMnemonic, terms, !listconcat(traits, [InferTypeOpAdaptor])>;

/// A set whose operands are sets over one domain.
class Sparsity_AlgebraOp<string opMnemonic, list<string> terms = [], list<Trait> traits = []>
    : Sparsity_Op<opMnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<SetOpInterface, !listconcat(["buildFormula"], terms)>])> {
  let results = (outs Sparsity_Set:$set);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

def Sparsity_SequenceDomainOp : Sparsity_Op<"sequence", [InferTypeOpAdaptor]> {
  let summary = "a run of tokens, as one segment of a concatenation";
  let description = [{
    A sequence on its own needs no domain: sets over sequences take their
    lengths from the tensors they are applied to. Inside `sparsity.concat` each
    segment must say how long it is.

    ```mlir
    %text = sparsity.sequence [%n]
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Sparsity_Domain:$domain);
  let assemblyFormat = "custom<DynamicIndexList>($sizes, $static_sizes) attr-dict";
  let hasVerifier = 1;
}

def Sparsity_GridOp : Sparsity_Op<"grid", [InferTypeOpAdaptor]> {
  let summary = "tokens on a grid of two to four axes, in row-major order";
  let description = [{
    Token `t` of a grid `[s0, s1, s2]` has the coordinates `(t div (s1*s2),
    t div s2 mod s1, t mod s2)`. Queries and keys share the sizes.

    ```mlir
    %video = sparsity.grid [%frames, 32, 64]
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Sparsity_Domain:$domain);
  let assemblyFormat = "custom<DynamicIndexList>($sizes, $static_sizes) attr-dict";
  let hasVerifier = 1;
}

def Sparsity_ConcatOp : Sparsity_Op<"concat", [InferTypeOpAdaptor]> {
  let summary = "domains one after the other in the tokens";
  let description = [{
    The tokens of the first domain, then those of the next. Concatenations
    inside a concatenation are flattened. A set over it is built by
    `sparsity.segments`.

    ```mlir
    %tokens = sparsity.concat %text, %video : !sparsity.domain<1>, !sparsity.domain<3>
    ```
  }];
  let arguments = (ins Variadic<Sparsity_Domain>:$domains);
  let results = (outs Sparsity_Domain:$domain);
  let assemblyFormat = "$domains attr-dict `:` type($domains)";
  let hasVerifier = 1;
}

include "dialects/Sparsity/SparsityLeaves.td"
include "dialects/Sparsity/SparsityGridSets.td"
include "dialects/Sparsity/SparsityLists.td"
include "dialects/Sparsity/SparsityAlgebra.td"

#endif
