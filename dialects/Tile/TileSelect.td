//===- TileSelect.td - programs that summarize, score and choose ----------===//
//
// One op is the whole body of a kernel: it reads tensors and writes the part of
// the outputs that belongs to its grid point.
//
//===----------------------------------------------------------------------===//
#ifndef LACUNA_TILE_SELECT_TD
#define LACUNA_TILE_SELECT_TD

include "dialects/Select/SelectEnums.td"

class Tile_MemoryOp<string opMnemonic, list<Trait> traits = []>
    : Tile_Op<opMnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

def Tile_SummarizeOp : Tile_MemoryOp<"summarize", [AttrSizedOperandSegments]> {
  let summary = "one summary row of one block of tokens";
  let description = [{
    Writes `into[b, h, block]` the summary (as `select.summarize` defines it) of
    the tokens of the box at `at` that lie inside the grid of `sizes`, over the
    channels `[first, last)`.

    ```mlir
    tile.summarize mean %k[%b, %h] at (%i) of (%n) box [128] channels [0, 64] into %m[%block]
        : tensor<?x2x?x64xf32>, memref<?x2x?x64xf32>
    ```

    `mean`, `sum`, `min` and `max` of a sequence may go on where others left off
    (`lacuna-share-summaries`). `partial[b, h, block]` gets what the block's tokens add up
    to, or the least or greatest of them, in f32. With `unit u of (n)` the rows of the
    source are such partials, of u tokens each, the last of what is left of n.
  }];
  let arguments = (ins Select_SummaryAttr:$kind, AnyRankedTensor:$source, Index:$batch, Index:$head,
                       Variadic<Index>:$at, Variadic<Index>:$sizes, DenseI64ArrayAttr:$box,
                       DenseI64ArrayAttr:$channels, AnyMemRef:$target, Index:$block,
                       OptionalAttr<I64Attr>:$unit, Optional<Index>:$tokens,
                       Optional<AnyMemRef>:$partial);
  let assemblyFormat = [{
    $kind $source `[` $batch `,` $head `]` `at` `(` $at `)` `of` `(` $sizes `)` `box` $box
    `channels` $channels (`unit` $unit^ `of` `(` $tokens `)`)? `into` $target `[` $block `]`
    (`partial` $partial^ `:` type($partial))? attr-dict `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_FoldOp : Tile_MemoryOp<"fold"> {
  let summary = "one row of tokens side by side";
  let description = "Writes row `row` of one head as `select.fold` defines it.";
  let arguments = (ins AnyRankedTensor:$source, Index:$batch, Index:$head, Index:$row, I64Attr:$by,
                       UnitAttr:$reversed, AnyMemRef:$target);
  let assemblyFormat = [{
    $source `[` $batch `,` $head `,` $row `]` `by` $by (`reversed` $reversed^)? `into` $target
    attr-dict `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_ProjectOp : Tile_MemoryOp<"project"> {
  let summary = "some features of some rows of tokens";
  let description = [{
    Writes the rows `[row, row + tile[0])` and the features `[column, column + tile[1])` of one head, as
    `select.project` defines them; of both only those that there are.

    ```mlir
    tile.project %x, %w[%b, %h] at (%row, %column) tile [128, 64] into %f
        : tensor<?x4x?x128xbf16>, tensor<2x128x64xbf16>, memref<?x4x?x64xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$weights, Index:$batch, Index:$head,
                       Index:$row, Index:$column, DenseI64ArrayAttr:$tile, AnyMemRef:$target);
  let assemblyFormat = [{
    $source `,` $weights `[` $batch `,` $head `]` `at` `(` $row `,` $column `)` `tile` $tile
    `into` $target attr-dict `:` type($source) `,` type($weights) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_ScoreBlocksOp : Tile_MemoryOp<"score_blocks", [AttrSizedOperandSegments]> {
  let summary = "one tile of block scores";
  let description = [{
    Writes the scores, as `select.score` defines them, of the query rows
    `[row_at, row_at + tile[0])` and the key rows `[column_at, column_at + tile[1])`
    of the heads `group h .. group h + group - 1`: `into[b, h, r, c]` for the blocks r of
    `rows` and c of `columns` rows in them. With `columns` 0 all key rows are one block,
    `column_at` and `tile[1]` only say how to step, and `into` has no last axis.

    `live` holds the pairs that count: its block has head, query row and key row
    and yields an i1; without it all do. `function` has score, batch, head, query
    row and key row. Both see rows that exist: those behind the end are not asked for.

    ```mlir
    tile.score_blocks dot %q, %k[%b, %h] at (%i, %j) tile [128, 128] rows 128 by max
        columns 1 by sum group 4 scale 0.125 into %s live {...} function {...}
        : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, memref<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Select_ScoreKindAttr:$kind, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       Optional<AnyRankedTensor>:$companion, Optional<AnyRankedTensor>:$lse,
                       Optional<AnyRankedTensor>:$weights, Index:$batch, Index:$head,
                       Index:$row_at, Index:$column_at, DenseI64ArrayAttr:$tile,
                       I64Attr:$rows, Select_ReductionAttr:$row_reduction, I64Attr:$columns,
                       Select_ReductionAttr:$column_reduction, I64Attr:$group, F32Attr:$scale,
                       AnyMemRef:$target);
  let regions = (region MaxSizedRegion<1>:$live, MaxSizedRegion<1>:$function);
  let assemblyFormat = [{
    $kind $query `,` $key (`with` $companion^ `:` type($companion))? `[` $batch `,` $head `]`
    `at` `(` $row_at `,` $column_at `)` `tile` $tile
    `rows` $rows `by` $row_reduction `columns` $columns `by` $column_reduction `group` $group
    `scale` $scale (`lse` $lse^ `:` type($lse))? (`weights` $weights^ `:` type($weights))?
    `into` $target (`live` $live^)? (`function` $function^)?
    attr-dict `:` type($query) `,` type($key) `,` type($target)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_RestrictOp : Tile_MemoryOp<"restrict"> {
  let summary = "one row of scores with pairs shut out or forced in";
  let description = [{
    `into[b, h, row, j]` is -inf where `within` yields false, else +inf where
    `force` yields true, else `source[b, h, row, j]`. The regions' blocks have row
    and column.
  }];
  let arguments = (ins AnyRankedTensor:$source, Index:$batch, Index:$head, Index:$row,
                       AnyMemRef:$target);
  let regions = (region MaxSizedRegion<1>:$within, MaxSizedRegion<1>:$force);
  let assemblyFormat = [{
    $source `[` $batch `,` $head `,` $row `]` `into` $target (`within` $within^)?
    (`force` $force^)? attr-dict `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ChooseOp : Tile_MemoryOp<"choose", [AttrSizedOperandSegments]> {
  let summary = "the lists of one scope";
  let description = [{
    Writes ids and counts of the rows at the grid point: of the row `at = (b, h, row)` with scope
    `row`, of all rows of `(b, h)` with `head`, of all rows of all heads of `(b)` with `batch`.
    Meaning as in `select.choose`. `number` is a value or, per row, a tensor;
    `constant` stands for it where it is known.

    With scope `row` scores may be restricted first, as by `tile.restrict`, by the regions
    `within` and `force`; `restricted` gets them.
  }];
  let arguments = (ins Select_RuleAttr:$rule, AnyRankedTensor:$scores, Variadic<Index>:$at,
                       Optional<AnyType>:$number, OptionalAttr<F64Attr>:$constant,
                       OptionalAttr<I64Attr>:$floor, OptionalAttr<I64Attr>:$cap,
                       Select_ScopeAttr:$scope, AnyMemRef:$ids, AnyMemRef:$counts,
                       Optional<AnyMemRef>:$restricted);
  let regions = (region MaxSizedRegion<1>:$within, MaxSizedRegion<1>:$force);
  let assemblyFormat = [{
    $rule `(` custom<RuleNumber>($number, type($number), $constant) `)` $scores `at` `(` $at `)` `scope` $scope
    (`floor` $floor^)? (`cap` $cap^)? `into` $ids `,` $counts
    (`restricted` $restricted^ `:` type($restricted))? (`within` $within^)? (`force` $force^)?
    attr-dict `:` type($scores) `,` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_SampleOp : Tile_MemoryOp<"sample"> {
  let summary = "one row's drawn list and its weights";
  let description = "Meaning as in `select.sample`.";
  let arguments = (ins F64Attr:$number, AnyRankedTensor:$scores, Index:$batch, Index:$head,
                       Index:$row, Index:$seed, AnyMemRef:$ids, AnyMemRef:$counts,
                       AnyMemRef:$weights);
  let assemblyFormat = [{
    `(` custom<Constant>($number) `)` $scores `[` $batch `,` $head `,` $row `]` `seed` $seed
    `into` $ids `,` $counts `,` $weights attr-dict
    `:` type($scores) `,` type($ids) `,` type($counts) `,` type($weights)
  }];
  let hasVerifier = 1;
}

def Tile_MarginOp : Tile_MemoryOp<"margin"> {
  let summary = "how clear one row's choice is";
  let description = "Meaning as in `select.margin`.";
  let arguments = (ins I64Attr:$number, AnyRankedTensor:$scores, Index:$batch, Index:$head,
                       Index:$row, AnyMemRef:$target);
  let assemblyFormat = [{
    `(` $number `)` $scores `[` $batch `,` $head `,` $row `]` `into` $target attr-dict
    `:` type($scores) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_GateOp : Tile_MemoryOp<"gate"> {
  let summary = "one of two numbers for each row of a batch entry";
  let description = "Meaning as in `select.gate`.";
  let arguments = (ins F64Attr:$share, AnyRankedTensor:$values, Index:$batch, I64Attr:$low,
                       I64Attr:$high, AnyMemRef:$target);
  let assemblyFormat = [{
    `(` custom<Constant>($share) `)` $values `[` $batch `]` `low` $low `high` $high `into` $target attr-dict
    `:` type($values) `,` type($target)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Formats of lists
//===----------------------------------------------------------------------===//

def Tile_ListOfMaskOp : Tile_MemoryOp<"list_of_mask"> {
  let summary = "one row's list of what a map marks";
  let description = "Writes ids and count of row `row`. Meaning as in `select.list_of_mask`.";
  let arguments = (ins AnyRankedTensor:$mask, Index:$batch, Index:$head, Index:$row, UnitAttr:$cut,
                       UnitAttr:$transposed, AnyMemRef:$ids, AnyMemRef:$counts);
  let assemblyFormat = [{
    $mask `[` $batch `,` $head `,` $row `]` (`cut` $cut^)? (`transposed` $transposed^)?
    `into` $ids `,` $counts attr-dict `:` type($mask) `,` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
}

def Tile_MaskOfListOp : Tile_MemoryOp<"mask_of_list"> {
  let summary = "one row of a map that marks what a list names";
  let description = "Meaning as in `select.mask_of_list`.";
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$counts, Index:$batch, Index:$head,
                       Index:$row, AnyMemRef:$target);
  let assemblyFormat = [{
    $ids `,` $counts `[` $batch `,` $head `,` $row `]` `into` $target attr-dict
    `:` type($ids) `,` type($counts) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_ListOfCsrOp : Tile_MemoryOp<"list_of_csr"> {
  let summary = "one row's list from row pointers and column ids";
  let description = "Meaning as in `select.list_of_csr`.";
  let arguments = (ins AnyRankedTensor:$row_ptr, AnyRankedTensor:$columns, Index:$batch,
                       Index:$head, Index:$row, UnitAttr:$cut, AnyMemRef:$ids, AnyMemRef:$counts);
  let assemblyFormat = [{
    $row_ptr `,` $columns `[` $batch `,` $head `,` $row `]` (`cut` $cut^)? `into` $ids `,` $counts
    attr-dict `:` type($row_ptr) `,` type($columns) `,` type($ids) `,` type($counts)
  }];
  let hasVerifier = 1;
}

def Tile_CsrOfListOp : Tile_MemoryOp<"csr_of_list"> {
  let summary = "row pointers and column ids of one head's lists";
  let description = "Meaning as in `select.csr_of_list`, for all rows of `[batch, head]`.";
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$counts, Index:$batch, Index:$head,
                       AnyMemRef:$row_ptr, AnyMemRef:$columns);
  let assemblyFormat = [{
    $ids `,` $counts `[` $batch `,` $head `]` `into` $row_ptr `,` $columns attr-dict
    `:` type($ids) `,` type($counts) `,` type($row_ptr) `,` type($columns)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Choices among candidates
//===----------------------------------------------------------------------===//

def Tile_ChildrenOp : Tile_MemoryOp<"children"> {
  let summary = "one row's list of the children of what a list names";
  let description = [{
    Writes ids and count of row `row`: of the `columns` nodes of the next finer level those
    below the list's nodes. Meaning as in `select.children`.
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$counts, Index:$batch, Index:$head,
                       Index:$row, I64Attr:$by, Index:$columns, AnyMemRef:$child_ids,
                       AnyMemRef:$child_counts);
  let assemblyFormat = [{
    $ids `,` $counts `[` $batch `,` $head `,` $row `]` `by` $by `columns` $columns `into` $child_ids
    `,` $child_counts attr-dict
    `:` type($ids) `,` type($counts) `,` type($child_ids) `,` type($child_counts)
  }];
  let hasVerifier = 1;
}

def Tile_ScoreListOp : Tile_MemoryOp<"score_list"> {
  let summary = "one row's scores of the key rows that its list names";
  let description = [{
    Meaning as in `select.score_list`. `within` and `force` say whether a pair of a row
    and a column counts, and whether it is forced; their blocks have row and column.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$ids,
                       AnyRankedTensor:$counts, Index:$batch, Index:$head, Index:$row,
                       F32Attr:$scale, AnyMemRef:$target);
  let regions = (region MaxSizedRegion<1>:$within, MaxSizedRegion<1>:$force);
  let assemblyFormat = [{
    $query `,` $key `at` $ids `,` $counts `[` $batch `,` $head `,` $row `]` `scale` $scale
    `into` $target (`within` $within^)? (`force` $force^)? attr-dict
    `:` type($query) `,` type($key) `,` type($ids) `,` type($counts) `,` type($target)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_PickOp : Tile_MemoryOp<"pick"> {
  let summary = "one row's entries of a list by their places";
  let description = "Meaning as in `select.pick`.";
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$counts, AnyRankedTensor:$places,
                       Index:$batch, Index:$head, Index:$row, AnyMemRef:$target);
  let assemblyFormat = [{
    $ids `,` $counts `at` $places `[` $batch `,` $head `,` $row `]` `into` $target attr-dict
    `:` type($ids) `,` type($counts) `,` type($places) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_RefineOp : Tile_MemoryOp<"refine", [AttrSizedOperandSegments]> {
  let summary = "one row's choice among the children of what a list names";
  let description = [{
    `tile.children`, `tile.score_list` of the children, `tile.choose` of their scores with scope
    `row` and `tile.pick` of the children after each other, for lists that have at most `most`
    children. `picked` and `counts` get the chosen nodes; `child_ids` and `child_counts`,
    `scores` and `places` get what lies between, where it is wanted.

    ```mlir
    tile.refine top_k(16) %q, %nodes at %kept, %many[%b, %h, %r] by 4 columns %n most 64
        scale 0.125 into %ids, %counts
        : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32>,
          memref<?x2x?x?xi32>, memref<?x2x?xi32>
    ```
  }];
  let arguments = (ins Select_RuleAttr:$rule, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$ids, AnyRankedTensor:$list_counts, Index:$batch,
                       Index:$head, Index:$row, I64Attr:$by, Index:$columns, I64Attr:$most,
                       F32Attr:$scale, Optional<AnyType>:$number, OptionalAttr<F64Attr>:$constant,
                       OptionalAttr<I64Attr>:$floor, OptionalAttr<I64Attr>:$cap, AnyMemRef:$picked,
                       AnyMemRef:$counts, Optional<AnyMemRef>:$child_ids,
                       Optional<AnyMemRef>:$child_counts, Optional<AnyMemRef>:$scores,
                       Optional<AnyMemRef>:$places);
  let regions = (region MaxSizedRegion<1>:$within, MaxSizedRegion<1>:$force);
  let assemblyFormat = [{
    $rule `(` custom<RuleNumber>($number, type($number), $constant) `)` $query `,` $key
    `at` $ids `,` $list_counts `[` $batch `,` $head `,` $row `]` `by` $by `columns` $columns
    `most` $most `scale` $scale (`floor` $floor^)? (`cap` $cap^)? `into` $picked `,` $counts
    (`children` $child_ids^ `:` type($child_ids))?
    (`child_counts` $child_counts^ `:` type($child_counts))?
    (`scores` $scores^ `:` type($scores))? (`places` $places^ `:` type($places))?
    (`within` $within^)? (`force` $force^)? attr-dict
    `:` type($query) `,` type($key) `,` type($ids) `,` type($list_counts) `,` type($picked) `,`
    type($counts)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_WithoutOp : Tile_MemoryOp<"without"> {
  let summary = "one row of scores with what a list names shut out";
  let description = "Meaning as in `select.without`.";
  let arguments = (ins AnyRankedTensor:$scores, AnyRankedTensor:$ids, AnyRankedTensor:$counts,
                       Index:$batch, Index:$head, Index:$row, AnyMemRef:$target);
  let assemblyFormat = [{
    $scores `,` $ids `,` $counts `[` $batch `,` $head `,` $row `]` `into` $target attr-dict
    `:` type($scores) `,` type($ids) `,` type($counts) `,` type($target)
  }];
  let hasVerifier = 1;
}

#endif
