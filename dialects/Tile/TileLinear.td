//===- TileLinear.td - programs of linear attention -----------------------===//
//
// As in TileSelect.td, one op is the whole body of a kernel.
//
//===----------------------------------------------------------------------===//
#ifndef LACUNA_TILE_LINEAR_TD
#define LACUNA_TILE_LINEAR_TD

include "dialects/Attn/AttnEnums.td"

def Tile_LinearStateOp : Tile_MemoryOp<"linear_state"> {
  let summary = "the state of one block of keys, for some value channels";
  let description = [{
    Writes the value channels `[column, column + width)` of `states[b, h, block]`, as `attn.linear_state`
    defines it for blocks of `size` keys; the program of column 0 also writes `norms[b, h, block]`.

    ```mlir
    tile.linear_state softmax %k, %v[%b, %h, %block] size 128 at %column width 64 into %s, %n
        : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32>, memref<?x2x?x64x64xf32>, memref<?x2x?x64xf32>
    ```
  }];
  let arguments = (ins Attn_FeatureAttr:$feature, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       Index:$batch, Index:$head, Index:$block, I64Attr:$size, Index:$column,
                       I64Attr:$width, AnyMemRef:$states, AnyMemRef:$norms);
  let assemblyFormat = [{
    $feature $key `,` $value `[` $batch `,` $head `,` $block `]` `size` $size `at` $column `width` $width
    `into` $states `,` $norms attr-dict
    `:` type($key) `,` type($value) `,` type($states) `,` type($norms)
  }];
  let hasVerifier = 1;
}

def Tile_LinearPrefixOp : Tile_MemoryOp<"linear_prefix"> {
  let summary = "running sums of one row of all states of a head";
  let description = [{
    Writes `sums[b, h, c, row]` for each c, as `attn.linear_prefix` defines it; the row behind the last
    stands for the norms.
  }];
  let arguments = (ins AnyRankedTensor:$states, AnyRankedTensor:$norms, Index:$batch, Index:$head,
                       Index:$row, AnyMemRef:$sums, AnyMemRef:$norm_sums);
  let assemblyFormat = [{
    $states `,` $norms `[` $batch `,` $head `,` $row `]` `into` $sums `,` $norm_sums attr-dict
    `:` type($states) `,` type($norms) `,` type($sums) `,` type($norm_sums)
  }];
  let hasVerifier = 1;
}

def Tile_LinearFoldOp : Tile_MemoryOp<"linear_fold"> {
  let summary = "the sum of some neighbouring states";
  let description = "Writes `sums[b, h, c]` as `attn.linear_fold` defines it, and norms alike.";
  let arguments = (ins AnyRankedTensor:$states, AnyRankedTensor:$norms, Index:$batch, Index:$head,
                       Index:$c, I64Attr:$by, AnyMemRef:$sums, AnyMemRef:$norm_sums);
  let assemblyFormat = [{
    $states `,` $norms `[` $batch `,` $head `,` $c `]` `by` $by `into` $sums `,` $norm_sums attr-dict
    `:` type($states) `,` type($norms) `,` type($sums) `,` type($norm_sums)
  }];
  let hasVerifier = 1;
}

def Tile_LinearReadOp : Tile_MemoryOp<"linear_read"> {
  let summary = "linear attention of some rows, for some value channels";
  let description = [{
    Writes the rows `[row, row + tile[0])` and the value channels `[column, column + tile[1])` of
    `output`, as `attn.linear_read` defines it, and in the program of column 0 the rows of `lse`. All of the
    rows read the states c from `from` up to `to` for which `member` yields true, given `first` and c.

    ```mlir
    tile.linear_read softmax %q, %s, %n[%b, %h] at (%row, %column) tile [128, 64] first %i
        from %c0 to %c into %o, %l member {...} : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>,
          memref<?x8x?x64xf32>, memref<?x8x?xf32>
    ```
  }];
  let arguments = (ins Attn_FeatureAttr:$feature, AnyRankedTensor:$query, AnyRankedTensor:$states,
                       AnyRankedTensor:$norms, Index:$batch, Index:$head, Index:$row, Index:$column,
                       DenseI64ArrayAttr:$tile, Index:$first, Index:$from, Index:$to,
                       UnitAttr:$undivided,
                       AnyMemRef:$output, AnyMemRef:$lse);
  let regions = (region SizedRegion<1>:$member);
  let assemblyFormat = [{
    $feature $query `,` $states `,` $norms `[` $batch `,` $head `]` `at` `(` $row `,` $column `)`
    `tile` $tile `first` $first `from` $from `to` $to (`undivided` $undivided^)?
    `into` $output `,` $lse `member` $member attr-dict
    `:` type($query) `,` type($states) `,` type($norms) `,` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_GatedMergeOp : Tile_MemoryOp<"gated_merge", [AttrSizedOperandSegments]> {
  let summary = "some rows of a sum of results with gates";
  let description = [{
    Writes the rows `[row, row + rows)` of `target` as `attn.gated_merge` defines them.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$outputs, Variadic<AnyRankedTensor>:$gates,
                       Index:$batch, Index:$head, Index:$row, I64Attr:$rows, AnyMemRef:$target);
  let assemblyFormat = [{
    `(` $outputs `:` type($outputs) `)` `,` `(` $gates `:` type($gates) `)`
    `[` $batch `,` $head `]` `at` $row `rows` $rows `into` $target attr-dict `:` type($target)
  }];
  let hasVerifier = 1;
}

#endif
