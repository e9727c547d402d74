//===- SelectOps.td - sets made from data ---------------------------------===//
#ifndef LACUNA_SELECT_OPS_TD
#define LACUNA_SELECT_OPS_TD

include "dialects/Select/SelectEnums.td"
include "dialects/Sparsity/SparsityTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SelectDialect : Dialect {
  let name = "select";
  let cppNamespace = "::lacuna::select";
  let summary = "lists of key blocks chosen by what keys and queries hold";
  let description = [{
    Tokens are summarized, summaries are scored against each other, and the best
    pairs become the lists that `sparsity.blocks` takes. Every op works on
    tensors; `docs/dialects/select.md` has every rule by its label.

    Scores are f32, `batch x heads x rows x columns`. A score of -inf says that
    the pair is no candidate, +inf that it is forced: chosen before all others
    and left out of statistics. NaN comes after every other candidate.
  }];
  let dependentDialects = ["::lacuna::sparsity::SparsityDialect"];
}

class Select_Op<string opMnemonic, list<Trait> traits = []>
    : Op<SelectDialect, opMnemonic, !listconcat(traits, [Pure])>;

/// batch x heads x tokens x channels.
def Select_Tokens : 4DTensorOf<[F16, BF16, F32]>;
/// matrices x channels x features.
def Select_Matrices : 3DTensorOf<[F16, BF16, F32]>;
/// batch x heads x rows x columns.
def Select_Scores : 4DTensorOf<[F32]>;
/// One number per row: batch x heads x rows.
def Select_RowValues : 3DTensorOf<[F32]>;
/// batch x heads x rows x capacity.
def Select_Ids : 4DTensorOf<[I32]>;
/// batch x heads x rows.
def Select_Counts : 3DTensorOf<[I32]>;
/// How many entries: the same for all rows, or one number per row.
def Select_Number : AnyTypeOf<[Index, F32, 3DTensorOf<[I32]>]>;

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

def Select_SummarizeOp : Select_Op<"summarize", [AttrSizedOperandSegments]> {
  let summary = "one row for each block of tokens";
  let description = [{
    Tokens are cut into blocks as those of `sparsity.blocks`: boxes of `block`
    tokens on a grid, numbered in row-major order, the last of an axis perhaps
    shorter. With the n tokens x_t that the block really has, per channel
    unless said:

    | kind | value |
    |---|---|
    | `mean` | `m = sum_t x_t / n` |
    | `sum` | `sum_t x_t` |
    | `min`, `max` | the least, the greatest |
    | `variance` | `sum_t (x_t - m)^2 / n` |
    | `first` | `x_0` |
    | `radius` | `max_t |x_t - m|`, one channel |
    | `norm` | `sqrt(sum_t |x_t|^2)`, one channel |
    | `similarity` | `|sum_t x_t / |x_t||^2 / n^2`, one channel: the mean cosine of all pairs |
    | `count` | `n`, one channel |

    A token of zeros has no direction: it adds nothing to `similarity`, and counts
    in n. `channels [a, b]` looks at the channels from a up to b alone. Sums are f32;
    the result is rounded to its own element type.

    `from(s)` is for tokens that were appended to a sequence whose first s ones have
    been summarized before: row r is that of block `s div block + r`, and blocks
    before, which the new tokens do not touch, are neither read nor written. `whole`
    leaves out a last block that is shorter. Both are for sequences.

    ```mlir
    %means = select.summarize mean %k block [128] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
    %cubes = select.summarize mean %k block [4, 4, 4] in %video
        : tensor<?x8x?x128xbf16>, !sparsity.domain<3> -> tensor<?x8x?x128xbf16>
    %new = select.summarize mean %k block [128] from(%old) whole : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
    ```
  }];
  let arguments = (ins Select_SummaryAttr:$kind, Select_Tokens:$tokens,
                       DenseI64ArrayAttr:$block, OptionalAttr<DenseI64ArrayAttr>:$channels,
                       Optional<Index>:$from, UnitAttr:$whole, Optional<Sparsity_Domain>:$domain);
  let results = (outs Select_Tokens:$result);
  let assemblyFormat = [{
    $kind $tokens `block` $block (`channels` $channels^)? (`from` `(` $from^ `)`)?
    (`whole` $whole^)? (`in` $domain^)? attr-dict
    `:` type($tokens) (`,` type($domain)^)? `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The channels that it looks at: from the first up to the second.
    std::pair<int64_t, int64_t> getChannelRange();
  }];
}

def Select_FoldOp : Select_Op<"fold"> {
  let summary = "neighbouring tokens side by side in one row";
  let description = [{
    Row r holds the channels of the tokens `n r, n r + 1, .. n r + n - 1` after
    each other, `reversed` in the opposite order; tokens behind the last are 0.
    A product of folded queries with keys folded in reverse sums an
    antidiagonal of the scores.

    ```mlir
    %f = select.fold %k by 16 reversed : tensor<?x8x?x128xbf16> -> tensor<?x8x?x2048xbf16>
    ```
  }];
  let arguments = (ins Select_Tokens:$tokens, I64Attr:$by, UnitAttr:$reversed);
  let results = (outs Select_Tokens:$result);
  let assemblyFormat = [{
    $tokens `by` $by (`reversed` $reversed^)? attr-dict `:` type($tokens) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Select_ProjectOp : Select_Op<"project"> {
  let summary = "features of tokens: products with a matrix";
  let description = [{
    `f[b, h, t, e] = sum_d x[b, h, t, d] w[h div (H / G), d, e]` for H heads of tokens and G
    matrices: G is 1 for one matrix in all heads, H for one in each. G divides H. Sums are f32
    and are rounded once, to the result's elements. Rows may be summaries as well as tokens.

    ```mlir
    %f = select.project %x, %w : tensor<?x8x?x128xbf16>, tensor<2x128x64xbf16> -> tensor<?x8x?x64xbf16>
    ```
  }];
  let arguments = (ins Select_Tokens:$tokens, Select_Matrices:$weights);
  let results = (outs Select_Tokens:$result);
  let assemblyFormat = [{
    $tokens `,` $weights attr-dict `:` type($tokens) `,` type($weights) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

def Select_ScoreOp : Select_Op<"score", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "products of query rows with key rows, reduced over blocks";
  let description = [{
    For query row i of head h and key row j of head `h div (hq / hkv)`:

    | kind | `s(i, j)` | `companion` |
    |---|---|---|
    | `dot` | `scale q_i . k_j` | none |
    | `box` | `scale sum_d max(q_id k_jd, q_id c_jd)` | the other end of each channel's range |
    | `ball` | `scale (q_i . k_j + |q_i| c_j)` | radius, one channel |
    | `quadratic` | `scale q_i . k_j + scale^2 / 2 sum_d q_id^2 c_jd` | variance per channel |

    `scale` is `1 / sqrt(d)` unless given. Then, in this order: the region's
    function, as in `attn.attend` (its positions are row numbers, the query's is aligned to
    the end unless `from_start`); with `lse`, `exp(s - lse_i)`, the share of the key in an
    attention with that log-sum-exp, 0 where `lse_i` is -inf; with `weights`, `w_i s`. Pairs outside
    `set` are left out.

    Rows are reduced in blocks of `columns n`, then of `rows n` together with
    `group g` heads, `by` sum, mean, max or log_sum_exp over what is not left
    out. A block of which every pair is left out has the score -inf. NaN among
    what is reduced makes the result NaN.

    ```mlir
    %s = select.score dot %q, %means over %past rows 128 by log_sum_exp group 4
        : tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16> -> tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins Select_ScoreKindAttr:$kind, Select_Tokens:$query, Select_Tokens:$key,
                       Optional<Select_Tokens>:$companion, Optional<Sparsity_Set>:$set,
                       Optional<Select_RowValues>:$lse, Optional<Select_RowValues>:$weights,
                       OptionalAttr<F32Attr>:$scale,
                       DefaultValuedAttr<I64Attr, "1">:$rows,
                       DefaultValuedAttr<Select_ReductionAttr, "Reduction::Sum">:$row_reduction,
                       DefaultValuedAttr<I64Attr, "1">:$columns,
                       DefaultValuedAttr<Select_ReductionAttr, "Reduction::Sum">:$column_reduction,
                       DefaultValuedAttr<I64Attr, "1">:$group, UnitAttr:$from_start);
  let results = (outs Select_Scores:$scores);
  let regions = (region MaxSizedRegion<1>:$function);
  let assemblyFormat = [{
    $kind $query `,` $key (`with` $companion^ `:` type($companion))?
    (`over` $set^ `` custom<PairsType>(type($set)))? `` custom<Scale>($scale)
    (`lse` $lse^ `:` type($lse))? (`weights` $weights^ `:` type($weights))?
    `` custom<RowBlock>($rows, $row_reduction) `` custom<ColumnBlock>($columns, $column_reduction)
    (`group` $group^)? (`from_start` $from_start^)? `` custom<Function>($function) attr-dict
    `:` type($query) `,` type($key) `->` type($scores)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Select_LogSumExpOp : Select_Op<"log_sum_exp"> {
  let summary = "the log-sum-exp of each row's scores";
  let description = [{
    `lse_i = log(sum_j exp(scale q_i . k_j))` over the keys j with (i, j) in
    `set`; -inf for a row without one. What `attn.attend` returns beside its
    output, for rows of any number of channels.
  }];
  let arguments = (ins Select_Tokens:$query, Select_Tokens:$key, Optional<Sparsity_Set>:$set,
                       OptionalAttr<F32Attr>:$scale);
  let results = (outs Select_RowValues:$lse);
  let assemblyFormat = [{
    $query `,` $key (`over` $set^ `` custom<PairsType>(type($set)))? `` custom<Scale>($scale) attr-dict
    `:` type($query) `,` type($key) `->` type($lse)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Select_YieldOp : Select_Op<"yield", [Terminator, HasParent<"ScoreOp">]> {
  let summary = "the score that a function returns";
  let arguments = (ins F32:$score);
  let assemblyFormat = "$score attr-dict `:` type($score)";
}

def Select_RestrictOp : Select_Op<"restrict", [AttrSizedOperandSegments,
                                               AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores with pairs shut out or forced in";
  let description = [{
    Pairs (row, column) outside `within` get -inf, then pairs in `force` that
    are in `within` get +inf. The sets are over sequences, of rows and of
    columns.

    ```mlir
    %sink = sparsity.prefix 1
    %past = sparsity.causal
    %t = select.restrict %s within %past force %sink : tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins Select_Scores:$scores, Optional<Sparsity_Set>:$within,
                       Optional<Sparsity_Set>:$force);
  let results = (outs Select_Scores:$result);
  let assemblyFormat = [{
    $scores (`within` $within^ `` custom<PairsType>(type($within)))?
    (`force` $force^ `` custom<PairsType>(type($force)))? attr-dict `:` type($scores)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

def Select_ChooseOp : Select_Op<"choose"> {
  let summary = "the best columns of each row, as lists";
  let description = [{
    The candidates of a row are its columns whose score is not -inf, in falling
    order of the score; of equal scores the lower column comes first, NaN
    comes last. The first c of them are chosen, in rising order of the column
    in `ids`; the rest of the list is -1. With f forced columns (+inf), m the
    greatest of the other scores that are no NaN and `p_n = exp(s_n - m) / sum exp(s - m)`:

    | rule | c |
    |---|---|
    | `top_k` | the number |
    | `share` | `ceil(number * candidates)`, the number cut to a multiple of 2^-32 |
    | `top_p` | f, and as many as are needed for a sum of p of at least the number |
    | `above` | f, and as many as have `s >= number` |
    | `near_max` | f, and as many as have `s >= m + number` |
    | `deviation` | f, and as many as have `s >= mean + number * sqrt(variance)` of the finite scores |

    then at least `floor` and at most `cap`, and never more than there are
    candidates. `scope head` orders the candidates of all rows of a head
    together (rows before columns among equal scores), `scope batch` those of all
    heads of a batch entry: the number, floor and cap then mean all of them
    together; only `top_k` and `share` have a scope. The capacity of `ids` is
    `min(columns, max(number, floor), cap)` for `top_k` with a number, `min(columns,
    max(ceil(share * columns), floor), cap)` for `share`, else `min(columns, cap)`; columns in a
    scope other than `row`.

    ```mlir
    %ids, %counts = select.choose top_k(16) %s : tensor<?x8x?x?xf32> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
    %ids, %counts = select.choose top_p(0.9) %s floor 4 cap 256 : ...
    ```
  }];
  let arguments = (ins Select_RuleAttr:$rule, Select_Scores:$scores, Optional<Select_Number>:$number,
                       OptionalAttr<F64Attr>:$constant, OptionalAttr<I64Attr>:$floor,
                       OptionalAttr<I64Attr>:$cap,
                       DefaultValuedAttr<Select_ScopeAttr, "Scope::Row">:$scope);
  let results = (outs Select_Ids:$ids, Select_Counts:$counts);
  let assemblyFormat = [{
    $rule `(` custom<RuleNumber>($number, type($number), $constant) `)` $scores
    (`floor` $floor^)? (`cap` $cap^)? (`scope` $scope^)? attr-dict
    `:` type($scores) `->` type($ids) `,` type($counts)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Select_SampleOp : Select_Op<"sample"> {
  let summary = "columns drawn with a chance that grows with their score, and their weights";
  let description = [{
    A candidate n (a score above -inf that is no NaN) is chosen with the chance
    `p_n = min(1, number * exp(s_n - m) / sum exp(s - m))`, each by itself; forced columns
    with 1. `weights` holds `1 / p_n` for each id, 0 behind the count. The draw depends on
    `seed`, batch entry, head, row and column alone: `u < p_n` with u from the
    counter-based generator Philox4x32-10.

    ```mlir
    %ids, %counts, %weights = select.sample(16) %s seed %seed
        : tensor<?x8x?x?xf32> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>, tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins F64Attr:$number, Select_Scores:$scores, Index:$seed);
  let results = (outs Select_Ids:$ids, Select_Counts:$counts, Select_Scores:$weights);
  let assemblyFormat = [{
    `(` custom<Constant>($number) `)` $scores `seed` $seed attr-dict
    `:` type($scores) `->` type($ids) `,` type($counts) `,` type($weights)
  }];
  let hasVerifier = 1;
}

def Select_MarginOp : Select_Op<"margin"> {
  let summary = "how clear a choice of k columns is";
  let description = [{
    `(s_k - s_(k+1)) / (s_1 - s_(k+1))` of the row's candidates in their order,
    forced ones and NaN left out; 1 where there are at most k of them, 0 where all are
    equal.

    ```mlir
    %margin = select.margin(32) %s : tensor<?x8x?x?xf32> -> tensor<?x8x?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$number, Select_Scores:$scores);
  let results = (outs Select_RowValues:$margin);
  let assemblyFormat = [{
    `(` $number `)` $scores attr-dict `:` type($scores) `->` type($margin)
  }];
  let hasVerifier = 1;
}

def Select_GateOp : Select_Op<"gate"> {
  let summary = "one of two numbers per row, by the rank of a value";
  let description = [{
    Of the R rows of a batch entry (`heads x rows`) those whose value is among the `ceil(share R)` least get
    `low`, the others `high`, with the share cut to a multiple of 2^-32; of equal values the lower row comes first, NaN
    comes last.

    ```mlir
    %k = select.gate(0.4) %margin low 64 high 32 : tensor<?x8x?xf32> -> tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins F64Attr:$share, Select_RowValues:$values, I64Attr:$low, I64Attr:$high);
  let results = (outs Select_Counts:$numbers);
  let assemblyFormat = [{
    `(` custom<Constant>($share) `)` $values `low` $low `high` $high attr-dict `:` type($values) `->` type($numbers)
  }];
  let hasVerifier = 1;
}

include "dialects/Select/SelectFormats.td"
include "dialects/Select/SelectRefine.td"

#endif
