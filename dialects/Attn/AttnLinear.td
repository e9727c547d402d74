//===- AttnLinear.td - linear attention over states of blocks -------------===//
#ifndef LACUNA_ATTN_LINEAR_TD
#define LACUNA_ATTN_LINEAR_TD

include "dialects/Attn/AttnEnums.td"

/// batch x heads x states x key channels x value channels.
def Attn_States : TensorRankOf<[F32], [5]>;
/// batch x heads x states x key channels.
def Attn_Norms : 4DTensorOf<[F32]>;
/// One number per row, or one per head.
def Attn_Gates : AnyTypeOf<[3DTensorOf<[F32]>, 1DTensorOf<[F32]>]>;

def Attn_LinearStateOp : Attn_Op<"linear_state", [Pure]> {
  let summary = "what linear attention needs to know of each block of keys";
  let description = [{
    For block c of `block` neighbouring keys, the last perhaps shorter,

        states_c = sum_j phi(k_j)^T v_j        norms_c = sum_j phi(k_j)

    | `phi` | channel d of `phi(x)` |
    |---|---|
    | `softmax` | `exp(x_d) / sum_e exp(x_e)` |
    | `relu` | `max(x_d, 0)` |
    | `elu` | `x_d + 1` above 0, else `exp(x_d)` |
    | `exp` | `exp(x_d)` |
    | `identity` | `x_d`: the keys are features already |

    computed in f32 and rounded to the keys' element type, in `states` and `norms` alike. Sums
    are f32. The rules are in `docs/dialects/attn.md`.

    ```mlir
    %h, %z = attn.linear_state softmax %k, %v block [128]
        : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16> -> tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
    ```
  }];
  let arguments = (ins Attn_FeatureAttr:$feature, Attn_Tokens:$key, Attn_Tokens:$value,
                       I64Attr:$block);
  let results = (outs Attn_States:$states, Attn_Norms:$norms);
  let assemblyFormat = [{
    $feature $key `,` $value `block` ` ` `[` $block `]` attr-dict
    `:` type($key) `,` type($value) `->` type($states) `,` type($norms)
  }];
  let hasVerifier = 1;
}

def Attn_LinearPrefixOp : Attn_Op<"linear_prefix", [Pure]> {
  let summary = "sums of all states before each";
  let description = [{
    `prefixes_c = sum_{a < c} states_a`, and norms alike, for c from 0 to the number of states:
    one more than there are, so that the first is 0 and the last is the sum of them all. Sums
    are made in rising order.

    ```mlir
    %p, %pz = attn.linear_prefix %h, %z : tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
        -> tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
    ```
  }];
  let arguments = (ins Attn_States:$states, Attn_Norms:$norms);
  let results = (outs Attn_States:$sums, Attn_Norms:$norm_sums);
  let assemblyFormat = [{
    $states `,` $norms attr-dict
    `:` type($states) `,` type($norms) `->` type($sums) `,` type($norm_sums)
  }];
  let hasVerifier = 1;
}

def Attn_LinearFoldOp : Attn_Op<"linear_fold", [Pure]> {
  let summary = "sums of neighbouring states: the next level of a hierarchy";
  let description = [{
    `sums_c = sum_{f c <= a < f c + f} states_a`, and norms alike; the last may have fewer terms.

    ```mlir
    %h1, %z1 = attn.linear_fold %h, %z by 2 : tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
        -> tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
    ```
  }];
  let arguments = (ins Attn_States:$states, Attn_Norms:$norms, I64Attr:$by);
  let results = (outs Attn_States:$sums, Attn_Norms:$norm_sums);
  let assemblyFormat = [{
    $states `,` $norms `by` $by attr-dict
    `:` type($states) `,` type($norms) `->` type($sums) `,` type($norm_sums)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Attn_LinearReadOp : Attn_Op<"linear_read", [Pure]> {
  let summary = "linear attention of every query over the states that it reads";
  let description = [{
    Rows are taken in tiles of `query` neighbouring ones (1 unless given); all rows of a tile
    read what its first row r does. With `C = {c : (r, c) in set}`, H and z the sums of the states
    and norms of C, and phi as in `attn.linear_state`,

        w_i = phi(q_i) . z      o_i = phi(q_i) H / w_i      lse_i = log w_i

    that is, softmax attention with the weight `phi(q_i) . phi(k_j)` in the place of
    `exp(s(i, j))`, so that `attn.merge` gives exact and linear parts one common normaliser. A row
    whose w is not above 0 (nothing is read, or no feature meets another) has output 0 and lse -inf.
    `undivided` leaves the division out: `o_i = phi(q_i) H`.

    The set is over rows (i) and numbers of states (c). Nothing else is known of causality: a
    query must not read a state that holds keys of its future, and that is the set's business.
    Query head h reads states of head `h div (hq / hs)`.

    ```mlir
    // The sum of all blocks of 128 keys before the query's own.
    %own = sparsity.affine affine_set<(i, c) : (i - c * 128 >= 0, c * 128 + 127 - i >= 0)> from_start
    %o, %lse = attn.linear_read softmax %q, %p, %pz over %own query [128]
        : tensor<?x8x?x64xbf16>, tensor<?x8x?x64x64xf32>, tensor<?x8x?x64xf32>
        -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>
    ```
  }];
  let arguments = (ins Attn_FeatureAttr:$feature, Attn_Tokens:$query, Attn_States:$states,
                       Attn_Norms:$norms, Sparsity_Set:$set,
                       DefaultValuedAttr<I64Attr, "1">:$query_tile, UnitAttr:$undivided);
  let results = (outs Attn_Tokens:$output, Attn_RowValues:$lse);
  let assemblyFormat = [{
    $feature $query `,` $states `,` $norms `over` $set `` custom<PairsType>(type($set))
    (`query` ` ` `[` $query_tile^ `]`)? (`undivided` $undivided^)? attr-dict
    `:` type($query) `,` type($states) `,` type($norms) `->` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
}

def Attn_GatedMergeOp : Attn_Op<"gated_merge", [Pure, SameVariadicOperandSize]> {
  let summary = "one result from results that have weights of their own";
  let description = [{
    `o = sum_p g_p o_p`, with a gate per row (`b x h x n`) or per head (`h`) for each part: parts keep
    the normalisers that they have. A part whose gate is 0 adds nothing, whatever it holds. There
    is no lse: what would come out is no attention over one set of keys.

    ```mlir
    %o = attn.gated_merge (%o0, %g0), (%o1, %g1) : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
    ```
  }];
  let arguments = (ins Variadic<Attn_Tokens>:$outputs, Variadic<Attn_Gates>:$gates);
  let results = (outs Attn_Tokens:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
