//===- SparsityTypes.td - domains and sets --------------------------------===//
#ifndef LACUNA_SPARSITY_TYPES_TD
#define LACUNA_SPARSITY_TYPES_TD

include "dialects/Sparsity/SparsityBase.td"

class Sparsity_Type<string name, string typeMnemonic> : TypeDef<SparsityDialect, name> {
  let mnemonic = typeMnemonic;
}

def Sparsity_Domain : Sparsity_Type<"Domain", "domain"> {
  let summary = "an index space of tokens";
  let description = [{
    `!sparsity.domain<1>` is a sequence, `!sparsity.domain<3>` a grid of three
    axes whose tokens lie in row-major order, and `!sparsity.domain<1, 3>` a
    sequence followed by a grid.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$segments);
  let assemblyFormat = "`<` $segments `>`";
  let genVerifyDecl = 1;
}

def Sparsity_Set : Sparsity_Type<"Set", "set"> {
  let summary = "a set of (query, key) pairs";
  let description = [{
    The parameter lists the axes of each segment of the domain, as in
    `!sparsity.domain`: `!sparsity.set<1>` relates the tokens of a sequence,
    `!sparsity.set<3>` those of a three-axis grid. `!sparsity.set<1 to 3>` has
    queries from a sequence and keys from a grid; it occurs as one entry of
    `sparsity.segments`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$query, ArrayRefParameter<"int64_t">:$key);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$segments), [{
      return $_get($_ctxt, segments, segments);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Whether queries and keys each have one segment, so that pairs have coordinates.
    bool isSingle() const { return getQuery().size() == 1 && getKey().size() == 1; }
    /// Axes of the only query segment.
    unsigned getQueryRank() const { return getQuery().front(); }
    /// Axes of the only key segment.
    unsigned getKeyRank() const { return getKey().front(); }
    /// Whether both sides are one sequence.
    bool isSequence() const {
      return isSingle() && getQueryRank() == 1 && getKeyRank() == 1;
    }
  }];
}

#endif
