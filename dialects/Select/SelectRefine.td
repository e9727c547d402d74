//===- SelectRefine.td - choices among chosen candidates ------------------===//
#ifndef LACUNA_SELECT_REFINE_TD
#define LACUNA_SELECT_REFINE_TD

def Select_ChildrenOp : Select_Op<"children"> {
  let summary = "the nodes of the next finer level below those that lists name";
  let description = [{
    A node c of a level covers the nodes `by c, .., by c + by - 1` of the next finer one,
    which has `columns` nodes. A list of nodes becomes the list of their children
    that there are, in the order of the nodes; lists are read as by
    `select.mask_of_list`. The capacity is `by` times that of `ids`.

    ```mlir
    %below, %many = select.children %ids, %counts by 4 columns(%n)
        : tensor<?x8x?x?xi32>, tensor<?x8x?xi32> -> tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Ids:$ids, Select_Counts:$counts, I64Attr:$by,
                       Optional<Index>:$columns, OptionalAttr<I64Attr>:$columns_value);
  let results = (outs Select_Ids:$child_ids, Select_Counts:$child_counts);
  let assemblyFormat = [{
    $ids `,` $counts `by` $by
    `columns` `` custom<Number>($columns, type($columns), $columns_value) attr-dict
    `:` type($ids) `,` type($counts) `->` type($child_ids) `,` type($child_counts)
  }];
  let hasVerifier = 1;
}

def Select_ScoreListOp : Select_Op<"score_list", [AttrSizedOperandSegments]> {
  let summary = "products of query rows with the key rows that lists name";
  let description = [{
    Entry e of row i is `scale q_i . k_j` with `j = ids[b, h, i, e]` and the key head
    `h div (hq / hkv)`; of pairs (i, j) in `force` it is +inf. It is -inf from the count on,
    where j is no key row, and where (i, j) is not in `set`, forced or not. `scale` is
    `1 / sqrt(d)` unless given. There is one list for each query row and head, and work for
    what lists name only.

    ```mlir
    %s = select.score_list dot %q, %nodes at %ids, %counts over %past force %own
        : tensor<?x8x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
        -> tensor<?x8x?x?xf32>
    ```
  }];
  let arguments = (ins Select_Tokens:$query, Select_Tokens:$key, Select_Ids:$ids,
                       Select_Counts:$counts, Optional<Sparsity_Set>:$set,
                       Optional<Sparsity_Set>:$force, OptionalAttr<F32Attr>:$scale);
  let results = (outs Select_Scores:$scores);
  let assemblyFormat = [{
    `dot` $query `,` $key `at` $ids `,` $counts (`over` $set^ `` custom<PairsType>(type($set)))?
    (`force` $force^ `` custom<PairsType>(type($force)))? `` custom<Scale>($scale) attr-dict
    `:` type($query) `,` type($key) `,` type($ids) `,` type($counts) `->` type($scores)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Select_PickOp : Select_Op<"pick"> {
  let summary = "entries of lists by their places";
  let description = [{
    `result[b, l, r, e] = ids[b, l, r, places[b, l, r, e]]`, and -1 where the place is no
    entry of the list: what a choice among candidates says about them. Counts
    of the places are counts of the result.

    ```mlir
    %at, %kept_counts = select.choose top_k(8) %s : ...
    %kept = select.pick %below, %many at %at
        : tensor<?x8x?x?xi32>, tensor<?x8x?xi32>, tensor<?x8x?x?xi32> -> tensor<?x8x?x?xi32>
    ```
  }];
  let arguments = (ins Select_Ids:$ids, Select_Counts:$counts, Select_Ids:$places);
  let results = (outs Select_Ids:$result);
  let assemblyFormat = [{
    $ids `,` $counts `at` $places attr-dict
    `:` type($ids) `,` type($counts) `,` type($places) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Select_WithoutOp : Select_Op<"without", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores with what lists name shut out";
  let description = [{
    Columns that the row's list names get -inf, the others keep their score: the
    candidates that a choice left over. Lists are read as by `select.mask_of_list`.

    ```mlir
    %rest = select.without %s, %at, %kept_counts
        : tensor<?x8x?x?xf32>, tensor<?x8x?x?xi32>, tensor<?x8x?xi32>
    ```
  }];
  let arguments = (ins Select_Scores:$scores, Select_Ids:$ids, Select_Counts:$counts);
  let results = (outs Select_Scores:$result);
  let assemblyFormat = [{
    $scores `,` $ids `,` $counts attr-dict `:` type($scores) `,` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
}

#endif
