//===- AttnOps.td - what is computed over a set ---------------------------===//
#ifndef LACUNA_ATTN_OPS_TD
#define LACUNA_ATTN_OPS_TD

include "dialects/Sparsity/SparsityTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AttnDialect : Dialect {
  let name = "attn";
  let cppNamespace = "::lacuna::attn";
  let summary = "attention over sets of pairs";
  let dependentDialects = ["::lacuna::sparsity::SparsityDialect"];
  let extraClassDeclaration = [{
    /// Of an attend: a launch refuses more queries than keys.
    static constexpr ::llvm::StringLiteral queriesWithinKeys = "attn.queries_within_keys";
  }];
}

class Attn_Op<string opMnemonic, list<Trait> traits = []> : Op<AttnDialect, opMnemonic, traits>;

def Attn_Tokens : 4DTensorOf<[F16, BF16, F32]>;
def Attn_RowValues : 3DTensorOf<[F32]>;
def Attn_Marks : 4DTensorOf<[I8]>;

def Attn_AttendOp : Attn_Op<"attend", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "softmax attention of every query over its live keys";
  let description = [{
    Shapes: query `b x hq x nq x d`, key `b x hkv x nk x d`, value
    `b x hkv x nk x dv`, output `b x hq x nq x dv`, lse `b x hq x nq` (f32).
    Query head `h` reads key head `h div (hq / hkv)`. With `L(i)` the live keys
    of row `i` and `s(i, j) = f(scale * q_i . k_j)`,

        lse_i = log(sum_{j in L(i)} exp(s(i, j)) + exp(sink_h))
        o_i   = sum_{j in L(i)} exp(s(i, j) - lse_i) v_j

    where `f` is the score region (the identity if absent) and the sink term is
    there only when `sinks` is given. Scores, sums and lse are f32. A row with
    no live key has output 0 and lse -inf (or `sink_h`). `scale` defaults to
    `1 / sqrt(d)`. A NaN or infinity in a key or value reaches only the rows
    that attend to it.

    The region gets the scaled score (f32) and batch, query head, query
    position and key position (index). Positions are token numbers; the query's
    is aligned to the end of the keys (`i + nk - nq`) unless `from_start` is
    set. Captured values are allowed; ops in the region have no side effects.

    Element types of query, key, value and output are equal; head dimensions
    are constants from 1 to 512 and may differ between key and value.

    With `skip`, blocks of `query` x `key` pairs are left out by a look at their
    scores, in the same pass. Block `(I, J)` holds the queries and the keys whose
    number divided by the block's extents is `I` and `J`; `m_i(J)` is the largest
    score of row `i` in it, -inf without a live key. Key blocks are visited in
    ascending order, and block `(I, J)` is skipped when each row `i` of `I` has

        m_i(J) = -inf,  or  m_i(J) < below_i,  or  m_i(J) < M_i - margin

    where `M_i` is the largest score of row `i` in the blocks before that were
    not skipped. NaN is below nothing. Keys of skipped blocks are not live.
    `margin` makes the result *order-dependent*. `taken` (i8, `b x hq x query
    blocks x key blocks`) says which blocks with a live pair were not skipped.

    `query_tile` and `key_tile` hold the tile shapes once
    `lacuna-assign-tiles` has chosen them. The rules `attend-1` to `attend-23`
    are in `docs/dialects/attn.md`.

    ```mlir
    %o, %lse = attn.attend %q, %k, %v over %set scale 0.125
        score (%s, %b, %h, %i, %j) {
      %t = math.tanh %s : f32
      attn.yield %t : f32
    } : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>
        -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
    %r, %taken = attn.attend %q, %k, %v over %set
        skip query [64] key [128] below %least : tensor<?x8x?xf32> margin 12.0
        : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>
        -> tensor<?x8x?x64xf32>, tensor<?x8x?x?xi8>
    ```
  }];
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value,
                       Sparsity_Set:$set, Optional<1DTensorOf<[F32]>>:$sinks,
                       Optional<Attn_RowValues>:$below,
                       OptionalAttr<F32Attr>:$scale, UnitAttr:$from_start,
                       OptionalAttr<DenseI64ArrayAttr>:$skip_query,
                       OptionalAttr<DenseI64ArrayAttr>:$skip_key,
                       OptionalAttr<F32Attr>:$margin,
                       OptionalAttr<DenseI64ArrayAttr>:$query_tile,
                       OptionalAttr<DenseI64ArrayAttr>:$key_tile);
  let results = (outs Attn_Tokens:$output, Optional<Attn_RowValues>:$lse,
                      Optional<Attn_Marks>:$taken);
  let regions = (region MaxSizedRegion<1>:$score);
  let extraClassDeclaration = [{
    /// Whether blocks are skipped by a look at their scores.
    bool hasSkip() { return getSkipQuery().has_value(); }
    /// Whether what is skipped depends on the order in which key blocks are visited.
    bool isOrdered() { return getMargin().has_value(); }
    /// The same op before this one with results as they are asked for; its score region moves.
    AttendOp withResults(::mlir::OpBuilder &builder, bool hasLse, bool hasTaken);
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_MergeOp : Attn_Op<"merge", [Pure, SameVariadicOperandSize]> {
  let summary = "one attention result from results over disjoint key sets";
  let description = [{
    With `w_p = exp(lse_p - lse)` and `lse = log(sum_p exp(lse_p))`, the output
    is `sum_p w_p o_p`: exactly what one `attend` over the union would give.
    Parts that are empty (`lse_p = -inf`) have weight 0; if all are, the result
    is empty too: output 0, lse -inf. The rules `merge-1` to `merge-3` are in
    `docs/dialects/attn.md`.

    ```mlir
    %o, %lse = attn.merge (%o0, %lse0), (%o1, %lse1)
        : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
    ```
  }];
  let arguments = (ins Variadic<Attn_Tokens>:$outputs, Variadic<Attn_RowValues>:$lses);
  let results = (outs Attn_Tokens:$output, Attn_RowValues:$lse);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

include "dialects/Attn/AttnLinear.td"

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, HasParent<"AttendOp">]> {
  let summary = "the score that a score region returns";
  let arguments = (ins F32:$score);
  let assemblyFormat = "$score attr-dict `:` type($score)";
}

#endif
