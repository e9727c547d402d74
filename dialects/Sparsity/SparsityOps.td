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
/// first key instead of aligning the last query with the last key.
class Sparsity_LeafOp<string opMnemonic, list<Trait> traits = []>
    : Sparsity_Op<opMnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<SetOpInterface, ["buildFormula"]>])>;

/// A set over a sequence: its type needs no spelling.
class Sparsity_SequenceOp<string opMnemonic, list<Trait> traits = []>
    : Sparsity_LeafOp<opMnemonic, !listconcat(traits, [InferTypeOpAdaptor])> {
  let results = (outs Sparsity_Set:$set);
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
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

def Sparsity_AllOp : Sparsity_LeafOp<"all"> {
  let summary = "every pair";
  let description = "Live pairs: all (i, j).";
  let arguments = (ins Optional<Sparsity_Domain>:$domain);
  let results = (outs Sparsity_Set:$set);
  let assemblyFormat = "(`in` $domain^ `:` type($domain))? attr-dict custom<SetType>(type($set), ref(type($domain)))";
}

def Sparsity_NoneOp : Sparsity_LeafOp<"none"> {
  let summary = "no pair";
  let description = "Live pairs: none. A row without keys has output 0 and LSE -inf.";
  let arguments = (ins Optional<Sparsity_Domain>:$domain);
  let results = (outs Sparsity_Set:$set);
  let assemblyFormat = "(`in` $domain^ `:` type($domain))? attr-dict custom<SetType>(type($set), ref(type($domain)))";
}

def Sparsity_WindowOp : Sparsity_SequenceOp<"window", [AttrSizedOperandSegments]> {
  let summary = "keys at most `left` before and `right` after the query";
  let description = [{
    Live pairs: `-right <= p(i) - j <= left`, both ends inclusive, where `p(i)`
    is the query's position on the key axis. A side that is left out is
    unbounded; 0 is a real value; ends may be negative.

    ```mlir
    %w = sparsity.window left(%left) right(0)
    ```
  }];
  let arguments = (ins Optional<Sparsity_Number>:$left, OptionalAttr<I64Attr>:$left_value,
                       Optional<Sparsity_Number>:$right, OptionalAttr<I64Attr>:$right_value,
                       UnitAttr:$from_start);
  let assemblyFormat = [{
    (`left` custom<Number>($left, type($left), $left_value)^)?
    (`right` custom<Number>($right, type($right), $right_value)^)?
    (`from_start` $from_start^)? attr-dict
  }];
}

def Sparsity_UnionOp : Sparsity_Op<"union",
    [Commutative, SameOperandsAndResultType, DeclareOpInterfaceMethods<SetOpInterface, ["buildFormula"]>]> {
  let summary = "pairs live in at least one operand";
  let arguments = (ins Variadic<Sparsity_Set>:$sets);
  let results = (outs Sparsity_Set:$set);
  let assemblyFormat = "$sets attr-dict custom<AlgebraType>(type($set))";
}

#endif
