//===- SparsityLeaves.td - sets given by positions and sizes --------------===//
#ifndef LACUNA_SPARSITY_LEAVES_TD
#define LACUNA_SPARSITY_LEAVES_TD

//===----------------------------------------------------------------------===//
// Any domain
//===----------------------------------------------------------------------===//

def Sparsity_AllOp : Sparsity_LeafOp<"all"> {
  let summary = "every pair";
  let description = "Live pairs: all (i, j).";
  let arguments = (ins Optional<Sparsity_Domain>:$domain);
  let assemblyFormat = [{
    (`in` $domain^ `:` type($domain))? attr-dict `` custom<SetType>(type($set), ref(type($domain)))
  }];
  let hasVerifier = 1;
}

def Sparsity_NoneOp : Sparsity_LeafOp<"none"> {
  let summary = "no pair";
  let description = "Live pairs: none. A row without keys has output 0 and LSE -inf.";
  let arguments = (ins Optional<Sparsity_Domain>:$domain);
  let assemblyFormat = [{
    (`in` $domain^ `:` type($domain))? attr-dict `` custom<SetType>(type($set), ref(type($domain)))
  }];
  let hasVerifier = 1;
}

def Sparsity_CausalOp : Sparsity_LeafOp<"causal", [], [InferTypeOpAdaptor]> {
  let summary = "keys at or before the query";
  let description = [{
    Live pairs: `j <= p(i)`. On a grid the order is the row-major order of the
    tokens: `j` comes before `p(i)` when it does at the first axis where they
    differ. On a concatenation earlier segments come first.

    ```mlir
    %past = sparsity.causal
    %past3 = sparsity.causal in %video : !sparsity.domain<3>
    ```
  }];
  let arguments = (ins Optional<Sparsity_Domain>:$domain, UnitAttr:$from_start);
  let assemblyFormat = [{
    (`from_start` $from_start^)? (`in` $domain^ `:` type($domain))? attr-dict
  }];
}

def Sparsity_AffineOp : Sparsity_LeafOp<"affine", [], [AttrSizedOperandSegments]> {
  let summary = "an integer set that the user writes";
  let description = [{
    Live pairs: those that satisfy every constraint. The dimensions of the
    integer set are the query's position on each axis, then the key's
    coordinates; its symbols are the numbers in brackets. Positions are aligned
    as in the other sets; between domains of different rank they are the
    query's own coordinates. `floordiv`, `ceildiv` and `mod` by positive
    constants are allowed. `within_keys` promises that no pair beyond the last key
    satisfies the constraints, so that tiles of such a set need no test for it.

    ```mlir
    %band = sparsity.affine affine_set<(i, j)[w] : (i - j >= 0, w - i + j >= 0)> [%w]
    ```
  }];
  let arguments = (ins IntegerSetAttr:$constraints, Variadic<Sparsity_Number>:$numbers,
                       DenseI64ArrayAttr:$static_numbers, Optional<Sparsity_Domain>:$domain,
                       UnitAttr:$from_start, UnitAttr:$within_keys);
  let assemblyFormat = [{
    $constraints `` custom<SymbolList>($numbers, type($numbers), $static_numbers)
    (`from_start` $from_start^)? (`within_keys` $within_keys^)? (`in` $domain^ `:` type($domain))? attr-dict
    `` custom<SetType>(type($set), ref(type($domain)))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_WhereOp : Sparsity_LeafOp<"where", ["emitTerm"]> {
  let summary = "any predicate on indices and captured values";
  let description = [{
    Live pairs: those for which the region yields true. Its arguments, all of
    type index, are the batch entry, the query head, the query's position on
    each axis and the key's coordinates; captured values are allowed. The body
    has no side effects. Nothing about such a set is known before it runs, so
    its tiles are classified by a generated kernel; intersect it with a set that
    bounds it where there is one.

    ```mlir
    %set = sparsity.where (%b, %h, %i, %j) {
      %color_i = tensor.extract %color[%i] : tensor<?xi32>
      %color_j = tensor.extract %color[%j] : tensor<?xi32>
      %same = arith.cmpi eq, %color_i, %color_j : i32
      sparsity.yield %same : i1
    }
    ```
  }];
  let arguments = (ins Optional<Sparsity_Domain>:$domain, UnitAttr:$from_start);
  let regions = (region AnyRegion:$predicate);
  let assemblyFormat = [{
    (`from_start` $from_start^)? (`in` $domain^ `:` type($domain))?
    custom<Predicate>($predicate) attr-dict `` custom<SetType>(type($set), ref(type($domain)))
  }];
  let hasVerifier = 1;
}

def Sparsity_YieldOp : Sparsity_Op<"yield", [Terminator, HasParent<"WhereOp">]> {
  let summary = "the value of a predicate";
  let arguments = (ins I1:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

def Sparsity_WindowOp : Sparsity_SequenceOp<"window", [], [AttrSizedOperandSegments]> {
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
    (`left` `` custom<Number>($left, type($left), $left_value)^)?
    (`right` `` custom<Number>($right, type($right), $right_value)^)?
    (`from_start` $from_start^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

class Sparsity_CountOp<string opMnemonic>
    : Sparsity_SequenceOp<opMnemonic> {
  let arguments = (ins Optional<Sparsity_Number>:$count, OptionalAttr<I64Attr>:$count_value);
  let assemblyFormat = "custom<Count>($count, type($count), $count_value) attr-dict";
  let hasVerifier = 1;
}

def Sparsity_PrefixOp : Sparsity_CountOp<"prefix"> {
  let summary = "the first keys, for every query";
  let description = "Live pairs: `j < count`. `sparsity.prefix 4`, `sparsity.prefix %sinks`.";
  let hasCanonicalizer = 1;
}

def Sparsity_SuffixOp : Sparsity_CountOp<"suffix"> {
  let summary = "the last keys, for every query";
  let description = "Live pairs: `j >= nk - count`.";
  let hasCanonicalizer = 1;
}

class Sparsity_ListOp<string opMnemonic>
    : Sparsity_SequenceOp<opMnemonic> {
  let arguments = (ins Optional<Sparsity_Number>:$count, OptionalAttr<I64Attr>:$count_value,
                       OptionalAttr<DenseI64ArrayAttr>:$list, UnitAttr:$from_start);
  let assemblyFormat = [{
    custom<CountOrList>($count, type($count), $count_value, $list)
    (`from_start` $from_start^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Sparsity_RowsOp : Sparsity_ListOp<"rows"> {
  let summary = "global queries: they see every key";
  let description = [{
    Live pairs: `p(i) < count`, or `p(i)` is in the list. Positions are negative
    for the first queries when there are more queries than keys.

    ```mlir
    %first = sparsity.rows 4
    %some = sparsity.rows [0, 5]
    ```
  }];
  let hasCanonicalizer = 1;
}

def Sparsity_ColumnsOp : Sparsity_ListOp<"columns"> {
  let summary = "global keys: every query sees them";
  let description = [{
    Live pairs: `j < count`, or `j` is in the list (vertical lines).

    ```mlir
    %vertical = sparsity.columns [3, 17]
    ```
  }];
  let hasCanonicalizer = 1;
}

def Sparsity_SlashesOp : Sparsity_SequenceOp<"slashes"> {
  let summary = "keys at given distances before the query";
  let description = [{
    Live pairs: `p(i) - j` is in the list (lines parallel to the diagonal).

    ```mlir
    %slash = sparsity.slashes [0, 64]
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$list, UnitAttr:$from_start);
  let assemblyFormat = "$list (`from_start` $from_start^)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_StrideOp : Sparsity_SequenceOp<"stride", ["emitTerm"]> {
  let summary = "keys at a distance that the step divides";
  let description = [{
    Live pairs: `(p(i) - j) mod step == 0`. A run-time step below 1 counts as 1.
    A residue of a run-time step is beyond affine sets: such a set is evaluated
    pair by pair.

    ```mlir
    %s = sparsity.stride 8
    ```
  }];
  let arguments = (ins Optional<Sparsity_Number>:$step, OptionalAttr<I64Attr>:$step_value,
                       UnitAttr:$from_start);
  let assemblyFormat = [{
    custom<Count>($step, type($step), $step_value) (`from_start` $from_start^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_DilatedOp : Sparsity_SequenceOp<"dilated", ["emitTerm"], [AttrSizedOperandSegments]> {
  let summary = "a window over every step-th key";
  let description = [{
    Live pairs: `p(i) - j == step * c` with `-right <= c <= left`: `left` and
    `right` count keys, so that the window reaches `step` times as far. A side
    that is left out is unbounded. A run-time step below 1 counts as 1.

    ```mlir
    %d = sparsity.dilated left(16) right(0) step(4)
    ```
  }];
  let arguments = (ins Optional<Sparsity_Number>:$left, OptionalAttr<I64Attr>:$left_value,
                       Optional<Sparsity_Number>:$right, OptionalAttr<I64Attr>:$right_value,
                       Optional<Sparsity_Number>:$step, OptionalAttr<I64Attr>:$step_value,
                       UnitAttr:$from_start);
  let assemblyFormat = [{
    (`left` `` custom<Number>($left, type($left), $left_value)^)?
    (`right` `` custom<Number>($right, type($right), $right_value)^)?
    `step` `` custom<Number>($step, type($step), $step_value)
    (`from_start` $from_start^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Hierarchies and packed sequences
//===----------------------------------------------------------------------===//

def Sparsity_Partition : I32EnumAttr<"Partition", "how a hierarchy cuts the keys", [
    I32EnumAttrCase<"Fenwick", 0, "fenwick">, I32EnumAttrCase<"Distance", 1, "distance">]> {
  let cppNamespace = "::lacuna::sparsity";
}

def Sparsity_DyadicOp : Sparsity_SequenceOp<"dyadic"> {
  let summary = "a hierarchy of key nodes that grow with distance";
  let description = [{
    Keys are cut into blocks of `base`; a node of level l holds `base * fanout^l`
    keys. Write `B_l` for that number, `a_l = p(i) div B_l`, `c_l = j div B_l`.

    The *exact* part of a query: its own block (`c_0 == a_0`), with `distance`
    also the neighbours (`|c_0 - a_0| <= 1`), and keys at a distance of at most
    `near` (when given).

    Level l, without the exact part:
    * `fenwick`: `B_(l+1) * a_(l+1) <= j < B_l * a_l`;
    * `distance`: `|c_l - a_l| >= 2` and `|c_(l+1) - a_(l+1)| <= 1`.
    The top level, `levels - 1`, has the first condition of `distance` and the
    second of `fenwick` only; without `levels` there is no top. `fenwick` and
    `causal` keep keys at or before the query only.

    The set holds the exact part and every level, each pair once: with no
    `levels` or any it is what `sparsity.causal` or `sparsity.all` is. `only
    [first, last]` keeps levels first to last, -1 being the exact part.
    `columns` is the resolution at which a node is seen.

    ```mlir
    %past = sparsity.dyadic fenwick base 64
    %far = sparsity.dyadic distance base 64 fanout 4 near(256) only [0, 8] causal
    ```
  }];
  let arguments = (ins Sparsity_Partition:$partition, I64Attr:$base,
                       DefaultValuedAttr<I64Attr, "2">:$fanout,
                       Optional<Sparsity_Number>:$near, OptionalAttr<I64Attr>:$near_value,
                       OptionalAttr<I64Attr>:$levels, OptionalAttr<DenseI64ArrayAttr>:$only,
                       OptionalAttr<I64Attr>:$columns, UnitAttr:$causal, UnitAttr:$from_start);
  let assemblyFormat = [{
    $partition `base` $base (`fanout` $fanout^)?
    (`near` `` custom<Number>($near, type($near), $near_value)^)?
    (`levels` $levels^)? (`only` $only^)? (`columns` $columns^)? (`causal` $causal^)?
    (`from_start` $from_start^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sparsity_DocumentsOp : Sparsity_SequenceOp<"documents", ["emitTerm"]> {
  let summary = "pairs inside the same packed document";
  let description = [{
    Queries `[cu_q[d], cu_q[d+1])` and keys `[cu_k[d], cu_k[d+1])` form document
    d. Live pairs: those of one document; with `causal` those with
    `j - cu_k[d] <= i - cu_q[d] + nk_d - nq_d` (the ends of the document's
    queries and keys aligned) or, with `from_start`, `j - cu_k[d] <= i - cu_q[d]`.
    Here `i` is the query's own number. Offsets never decrease; there is one
    more than there are documents. Tokens outside the offsets belong to no
    document.

    ```mlir
    %doc = sparsity.documents %cu_q, %cu_k causal : tensor<?xi32>, tensor<?xi32>
    ```
  }];
  let arguments = (ins Sparsity_PerHead:$query_offsets, Sparsity_PerHead:$key_offsets,
                       UnitAttr:$causal, UnitAttr:$from_start);
  let assemblyFormat = [{
    $query_offsets `,` $key_offsets (`causal` $causal^)? (`from_start` $from_start^)? attr-dict
    `:` type($query_offsets) `,` type($key_offsets)
  }];
  let hasVerifier = 1;
}

#endif
