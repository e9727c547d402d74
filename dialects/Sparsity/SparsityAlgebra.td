//===- SparsityAlgebra.td - sets made of sets -----------------------------===//
#ifndef LACUNA_SPARSITY_ALGEBRA_TD
#define LACUNA_SPARSITY_ALGEBRA_TD

def Sparsity_UnionOp : Sparsity_AlgebraOp<"union", [], [Commutative, SameOperandsAndResultType]> {
  let summary = "pairs live in at least one operand";
  let description = [{
    ```mlir
    %s = sparsity.union %near, %sinks
    ```
  }];
  let arguments = (ins Variadic<Sparsity_Set>:$sets);
  let assemblyFormat = "$sets attr-dict `` custom<AlgebraType>(type($set))";
  let hasCanonicalizer = 1;
}

def Sparsity_IntersectOp
    : Sparsity_AlgebraOp<"intersect", [], [Commutative, SameOperandsAndResultType]> {
  let summary = "pairs live in every operand";
  let description = [{
    ```mlir
    %s = sparsity.intersect %near, %past : !sparsity.set<3>
    ```
  }];
  let arguments = (ins Variadic<Sparsity_Set>:$sets);
  let assemblyFormat = "$sets attr-dict `` custom<AlgebraType>(type($set))";
  let hasCanonicalizer = 1;
}

def Sparsity_SubtractOp : Sparsity_AlgebraOp<"subtract", [], [SameOperandsAndResultType]> {
  let summary = "pairs live in the first operand and not in the second";
  let description = [{
    ```mlir
    %far = sparsity.subtract %past, %near
    ```
  }];
  let arguments = (ins Sparsity_Set:$from, Sparsity_Set:$removed);
  let assemblyFormat = "$from `,` $removed attr-dict `` custom<AlgebraType>(type($set))";
  let hasCanonicalizer = 1;
}

def Sparsity_ComplementOp : Sparsity_AlgebraOp<"complement", [], [SameOperandsAndResultType]> {
  let summary = "pairs not live in the operand";
  let description = [{
    ```mlir
    %future = sparsity.complement %past
    ```
  }];
  let arguments = (ins Sparsity_Set:$removed);
  let assemblyFormat = "$removed attr-dict `` custom<AlgebraType>(type($set))";
  let hasCanonicalizer = 1;
}

def Sparsity_PerHeadOp
    : Sparsity_AlgebraOp<"per_head", ["emitTerm"], [AttrSizedOperandSegments]> {
  let summary = "a set for each class of query heads";
  let description = [{
    Live pairs of head h: those of operand `class[h]`, none if there is no such
    operand. The classes are a tensor with one element per query head, or a
    constant list.

    ```mlir
    %s = sparsity.per_head %class [%near, %sinks]
    %t = sparsity.per_head [0, 0, 1, 1] [%near, %sinks]
    ```
  }];
  let arguments = (ins Optional<Sparsity_PerHead>:$classes,
                       OptionalAttr<DenseI64ArrayAttr>:$class_values,
                       Variadic<Sparsity_Set>:$sets);
  let assemblyFormat = [{
    custom<Classes>($classes, type($classes), $class_values) ` ` `[` $sets `]` attr-dict
    `` custom<AlgebraTypes>(type($set), ref($sets), type($sets))
  }];
  let hasCanonicalizer = 1;
}

def Sparsity_SegmentsOp : Sparsity_Op<"segments", [InferTypeOpAdaptor]> {
  let summary = "a set over a concatenation, one set per pair of segments";
  let description = [{
    Row s, column t is the set between the queries of segment s and the keys of
    segment t; its coordinates and alignment are those of these two segments.
    Sets between segments of different rank have types such as
    `!sparsity.set<1 to 3>`.

    ```mlir
    %s = sparsity.segments %tokens [[%text, %none], [%every, %near]] : !sparsity.domain<1, 3>
    ```
  }];
  let arguments = (ins Sparsity_Domain:$domain, Variadic<Sparsity_Set>:$sets);
  let results = (outs Sparsity_Set:$set);
  let assemblyFormat = [{
    $domain custom<SetRows>($sets) attr-dict `:` qualified(type($domain))
    `` custom<SegmentTypes>(ref(type($domain)), ref($sets), type($sets))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The set between query segment `query` and key segment `key`.
    ::mlir::Value getEntry(unsigned query, unsigned key);
  }];
}

#endif
