//===- TileOps.td - what a tile program can say ---------------------------===//
#ifndef LACUNA_TILE_OPS_TD
#define LACUNA_TILE_OPS_TD

include "dialects/Sparsity/SparsityTypes.td"
include "dialects/Tile/TileEnums.td"
include "dialects/Tile/TileTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []> : Op<TileDialect, opMnemonic, traits>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, IsolatedFromAbove]> {
  let summary = "a program that is run once per point of a grid";
  let description = [{
    `plan` runs once per launch on the host. Its block has the inputs as
    arguments; `tile.plan` ends it and gives the extents of the grid and the
    shapes of the outputs. `body` runs once per grid point; its block has the
    inputs, the outputs (memrefs, uninitialised unless the launch passes
    `into`), then one index per grid axis. Inputs are tensors or scalars and
    are never written.

    ```mlir
    tile.kernel @attend_0 plan {
    ^bb0(%q: tensor<?x8x?x64xf32>, %left: index):
      tile.plan grid(%b, %h, %t) shapes(%b, %h, %n, %d)
    } body {
    ^bb0(%q: tensor<?x8x?x64xf32>, %left: index, %o: memref<?x8x?x64xf32>,
         %b: index, %h: index, %t: index):
      ...
      tile.end
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       /// How many of the body's arguments are inputs, outputs.
                       I64Attr:$inputs, I64Attr:$outputs);
  let regions = (region SizedRegion<1>:$plan, SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword `plan` $plan `body` $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getInputArguments() {
      return getBody().getArguments().take_front(getInputs());
    }
    ::mlir::Block::BlockArgListType getOutputArguments() {
      return getBody().getArguments().slice(getInputs(), getOutputs());
    }
    ::mlir::Block::BlockArgListType getGridArguments() {
      return getBody().getArguments().drop_front(getInputs() + getOutputs());
    }
  }];
}

def Tile_PlanOp : Tile_Op<"plan", [Pure, Terminator, AttrSizedOperandSegments, HasParent<"KernelOp">]> {
  let summary = "grid extents and output shapes of one launch";
  let description = [{
    `shapes` lists every extent of every output, in order.
  }];
  let arguments = (ins Variadic<Index>:$grid, Variadic<Index>:$shapes);
  let assemblyFormat = "`grid` `(` $grid `)` `shapes` `(` $shapes `)` attr-dict";
}

def Tile_RequireOp : Tile_Op<"require", [HasParent<"KernelOp">]> {
  let summary = "a condition that a launch checks before it runs";
  let description = [{
    Stands in `plan` only. When the condition is false nothing of the kernel
    runs, and the launch fails with the message, in which `{0}`, `{1}`, ... are
    the values. Requirements are checked in order.

    ```mlir
    tile.require %whole, "expected the key heads to divide the query heads, got {0} and {1}"
        (%hkv, %hq)
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Tile_EndOp : Tile_Op<"end", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the end of a kernel's body";
  let assemblyFormat = "attr-dict";
}

def Tile_LaunchOp : Tile_Op<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel over its grid";
  let description = [{
    The results are the kernel's outputs. With `into`, the outputs start as
    those tensors (one per result) and the kernel overwrites a part of them.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                       Variadic<AnyRankedTensor>:$into);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`into` `(` $into^ `:` type($into) `)`)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Moving tiles
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [Pure, AttrSizedOperandSegments]> {
  let summary = "a box of tokens of one head";
  let description = [{
    Reads the tokens whose coordinates lie in `[at_d, at_d + box_d)` on a grid
    of `sizes`; token `c` of a grid is row `base + row-major(c)` of the source's
    second-to-last axis. Rows of the tile are the box's tokens in row-major
    order. Tokens outside the grid are read as zero and touch no memory. A
    source `b x h x n` gives a tile of row values.

    ```mlir
    %k = tile.load %keys[%b, %h] at (%j) of (%n) base %zero box [64]
        : tensor<?x2x?x64xf32> -> !tile.tile<64x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Index:$batch, Index:$head, Variadic<Index>:$at,
                       Variadic<Index>:$sizes, Index:$base, DenseI64ArrayAttr:$box);
  let results = (outs Tile_Tile:$tile);
  let assemblyFormat = [{
    $source `[` $batch `,` $head `]` `at` `(` $at `)` `of` `(` $sizes `)` `base` $base `box` $box
    attr-dict `:` type($source) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "write a box of rows of one head";
  let description = [{
    The counterpart of `tile.load`; rows outside the grid are not written. The
    target is `b x h x n x d` for a matrix tile, `b x h x n` for a tile of row
    values. Elements are rounded to the target's type.
  }];
  let arguments = (ins Tile_Tile:$tile, AnyMemRef:$target, Index:$batch, Index:$head,
                       Variadic<Index>:$at, Variadic<Index>:$sizes, Index:$base,
                       DenseI64ArrayAttr:$box);
  let assemblyFormat = [{
    $tile `,` $target `[` $batch `,` $head `]` `at` `(` $at `)` `of` `(` $sizes `)` `base` $base
    `box` $box attr-dict `:` type($tile) `,` type($target)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "scaled products of all query rows with all key rows";
  let description = "`s[m, n] = scale * sum_d q[m, d] k[n, d]` in f32.";
  let arguments = (ins Tile_Tile:$query, Tile_Tile:$key, F32Attr:$scale);
  let results = (outs Tile_Tile:$scores);
  let assemblyFormat = [{
    $query `,` $key `scale` $scale attr-dict `:` type($query) `,` type($key) `->` type($scores)
  }];
  let hasVerifier = 1;
}

def Tile_ScoreOp : Tile_Op<"score", [Pure, SingleBlock, AttrSizedOperandSegments,
    AllTypesMatch<["scores", "result"]>]> {
  let summary = "a function of each score and its place";
  let description = [{
    The region's block has the score (f32), then batch, head, query token and
    key token (index); it may capture values. `tile.yield` returns the new
    score. Tokens are numbered along the segment in row-major order, from
    `query_base` and `key_base`.
  }];
  let arguments = (ins Tile_Tile:$scores, Index:$batch, Index:$head,
                       Variadic<Index>:$query_at, Variadic<Index>:$query_sizes, Index:$query_base,
                       Variadic<Index>:$key_at, Variadic<Index>:$key_sizes, Index:$key_base,
                       DenseI64ArrayAttr:$query_box, DenseI64ArrayAttr:$key_box);
  let results = (outs Tile_Tile:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $scores `[` $batch `,` $head `]`
    `query` `(` $query_at `)` `of` `(` $query_sizes `)` `base` $query_base `box` $query_box
    `key` `(` $key_at `)` `of` `(` $key_sizes `)` `base` $key_base `box` $key_box
    $body attr-dict `:` type($scores)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_MaskOp : Tile_Op<"mask", [Pure, AllTypesMatch<["scores", "result"]>, AttrSizedOperandSegments]> {
  let summary = "scores with dead pairs set to -inf";
  let description = [{
    Either refers to a set (`over %set`), before `lacuna-expand-masks`, or holds
    the predicate as a region, after it: the block has the query's and the
    key's coordinates, one index per axis, and `tile.yield` returns an i1. Keys
    outside the grid are dead in either form.
  }];
  let arguments = (ins Tile_Tile:$scores, Index:$batch, Index:$head, Optional<Sparsity_Set>:$set,
                       Variadic<Index>:$query_at, Variadic<Index>:$query_sizes,
                       Variadic<Index>:$key_at, Variadic<Index>:$key_sizes,
                       DenseI64ArrayAttr:$query_box, DenseI64ArrayAttr:$key_box);
  let results = (outs Tile_Tile:$result);
  let regions = (region MaxSizedRegion<1>:$predicate);
  let assemblyFormat = [{
    $scores `[` $batch `,` $head `]` (`over` $set^ `:` type($set))?
    `query` `(` $query_at `)` `of` `(` $query_sizes `)` `box` $query_box
    `key` `(` $key_at `)` `of` `(` $key_sizes `)` `box` $key_box
    (`where` $predicate^)? attr-dict `:` type($scores)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ClassifyOp : Tile_Op<"classify", [Pure, AttrSizedOperandSegments]> {
  let summary = "whether the pairs of a tile are live: none, some or all";
  let description = [{
    The result is 0 when no pair of the two boxes is live, 2 when all are, and
    1 otherwise. Rows outside the query grid do not count; keys outside the key
    grid are dead pairs. The set is given as in `tile.mask`: by name
    (`over %set`) before `lacuna-expand-masks`, as a region after it.

    Sets with opaque terms (`sparsity.where`) cannot be bounded from their
    formula. For them `lacuna-attn-to-tile` makes a first kernel that
    classifies every tile of the set's hull and stores the classes; loops of the
    second kernel read them (`classes` of `tile.for_each`).

    ```mlir
    %c = tile.classify[%b, %h] over %set : !sparsity.set<1> query (%i) of (%nq) box [64]
        key (%j) of (%nk) box [64]
    ```
  }];
  let arguments = (ins Index:$batch, Index:$head, Optional<Sparsity_Set>:$set,
                       Variadic<Index>:$query_at, Variadic<Index>:$query_sizes,
                       Variadic<Index>:$key_at, Variadic<Index>:$key_sizes,
                       DenseI64ArrayAttr:$query_box, DenseI64ArrayAttr:$key_box);
  let results = (outs I8:$tile_class);
  let regions = (region MaxSizedRegion<1>:$predicate);
  let assemblyFormat = [{
    `[` $batch `,` $head `]` (`over` $set^ `:` type($set))?
    `query` `(` $query_at `)` `of` `(` $query_sizes `)` `box` $query_box
    `key` `(` $key_at `)` `of` `(` $key_sizes `)` `box` $key_box
    (`where` $predicate^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let hasRegionVerifier = 1;
}

def Tile_SkipOp : Tile_Op<"skip", [MemoryEffects<[MemRead, MemWrite]>,
                                   AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores without blocks that lie below a limit";
  let description = [{
    The rows of the tile from the first on are blocks of `rows` queries, its keys
    are one block. A block whose rows `i` all have

        m_i = -inf,  or  m_i < below[batch, head, i],  or  m_i < maximum_i - margin

    where `m_i` is the row's largest score, gets scores of -inf. Rows outside of
    `query_size` always agree, and NaN is below nothing. Other blocks stay as
    they are and are marked: the byte of `taken` at batch, head, query block and
    key block becomes 1. The result goes to a softmax step and nowhere else, so
    that a target may skip the step.
  }];
  let arguments = (ins Tile_Tile:$scores, Tile_Tile:$maximum, Index:$batch, Index:$head,
                       Index:$query_at, Index:$query_size, Index:$key_at,
                       Optional<3DTensorOf<[F32]>>:$below, AnyMemRef:$taken,
                       I64Attr:$rows, OptionalAttr<F32Attr>:$margin);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $scores `,` $maximum `[` $batch `,` $head `]` `query` `(` $query_at `)` `of` `(` $query_size `)`
    `rows` $rows `key` `(` $key_at `)` (`below` $below^ `:` type($below))? (`margin` $margin^)?
    `into` $taken attr-dict `:` type($scores) `,` type($maximum) `,` type($taken)
  }];
  let hasVerifier = 1;
}

def Tile_UnmarkOp : Tile_Op<"unmark", [MemoryEffects<[MemWrite]>]> {
  let summary = "no block of a query tile has been taken";
  let description = [{
    Sets the bytes of `taken` to 0 for the blocks of `rows` queries that start in
    the `tile` queries from `query_at` on.
  }];
  let arguments = (ins AnyMemRef:$taken, Index:$batch, Index:$head, Index:$query_at,
                       I64Attr:$tile, I64Attr:$rows);
  let assemblyFormat = [{
    $taken `[` $batch `,` $head `]` `query` `(` $query_at `)` `tile` $tile `rows` $rows attr-dict
    `:` type($taken)
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator,
    ParentOneOf<["ScoreOp", "MaskOp", "ClassifyOp", "ForEachOp", "ScoreBlocksOp", "RestrictOp",
                 "ScoreListOp", "ChooseOp", "RefineOp", "LinearReadOp"]>]> {
  let summary = "the values that a region returns";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// The online softmax
//===----------------------------------------------------------------------===//

def Tile_BeginOp : Tile_Op<"begin", [Pure]> {
  let summary = "the state of rows that have seen no key";
  let description = [{
    The accumulator is 0, the running maximum -inf and the running sum 0.
  }];
  let results = (outs Tile_Tile:$accumulator, Tile_Tile:$maximum, Tile_Tile:$sum);
  let assemblyFormat = "attr-dict `:` type($accumulator) `,` type($maximum) `,` type($sum)";
  let hasVerifier = 1;
}

def Tile_SoftmaxStepOp : Tile_Op<"softmax_step", [Pure,
    AllTypesMatch<["accumulator", "new_accumulator"]>, AllTypesMatch<["maximum", "sum", "new_maximum", "new_sum"]>]> {
  let summary = "absorb one tile of scores and its values";
  let description = [{
    `m' = max(m, max_n s)`, `p = exp(s - m')`, `a = exp(m - m')`,
    `l' = a l + sum_n p`, `acc' = a acc + p v`. A score of -inf contributes
    exactly nothing, whatever its value row holds; while `m'` is -inf the state
    stays empty. The state is used once: a target may update it in place.
  }];
  let arguments = (ins Tile_Tile:$scores, Tile_Tile:$values, Tile_Tile:$accumulator,
                       Tile_Tile:$maximum, Tile_Tile:$sum);
  let results = (outs Tile_Tile:$new_accumulator, Tile_Tile:$new_maximum, Tile_Tile:$new_sum);
  let assemblyFormat = [{
    $scores `,` $values `into` $accumulator `,` $maximum `,` $sum attr-dict
    `:` type($scores) `,` type($values) `,` type($accumulator) `,` type($maximum)
  }];
  let hasVerifier = 1;
}

def Tile_FinishOp : Tile_Op<"finish", [Pure, AllTypesMatch<["maximum", "sum", "lse"]>]> {
  let summary = "outputs and log-sum-exp from the final state";
  let description = [{
    `lse = m + log l`, `o = acc / l`; an empty row gives 0 and -inf. With a
    sink `t`, `lse = log(exp(m) l + exp(t))` and `o = acc exp(m - lse)`; an
    empty row gives 0 and `t`.
  }];
  let arguments = (ins Tile_Tile:$accumulator, Tile_Tile:$maximum, Tile_Tile:$sum,
                       Optional<F32>:$sink);
  let results = (outs Tile_Tile:$output, Tile_Tile:$lse);
  let assemblyFormat = [{
    $accumulator `,` $maximum `,` $sum (`sink` $sink^)? attr-dict
    `:` type($accumulator) `,` type($maximum) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Tile_MergeOp : Tile_Op<"merge", [Pure, SameVariadicOperandSize]> {
  let summary = "one result from results over disjoint key sets";
  let description = "The meaning of `attn.merge`, on tiles.";
  let arguments = (ins Variadic<Tile_Tile>:$outputs, Variadic<Tile_Tile>:$lses);
  let results = (outs Tile_Tile:$output, Tile_Tile:$lse);
  let assemblyFormat = [{
    `(` $outputs `:` type($outputs) `)` `,` `(` $lses `:` type($lses) `)` attr-dict
    `->` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Loops over key tiles
//===----------------------------------------------------------------------===//

def Tile_ForEachOp : Tile_Op<"for_each", [SingleBlock, AttrSizedOperandSegments,
    AllTypesMatch<["init", "results"]>, RecursiveMemoryEffects]> {
  let summary = "visit the key tiles of one query tile";
  let description = [{
    Visits each key tile of the class once, in a fixed order: `live` tiles hold
    at least one live pair, `full` tiles only live pairs, and `partial` is live
    without full (`full` and `partial` together are `live`; a full tile may be
    visited as partial, never the reverse). The query tile is the box of
    `query_box` tokens that starts at `query_at`; key tiles start at multiples
    of `key_box`. The block has the key tile's first coordinates, then the
    values carried from visit to visit.

    Without `classes` live and full follow from the set's formula alone, where an
    opaque term counts as live when tiles are looked for and as dead when full
    ones are. With `classes`, a tensor `b x h x query tile x key tile` (i8; both
    tile numbers are row-major; an extent of 1 for batch or head serves them
    all) that a kernel with `tile.classify` filled for the tiles of the set's
    hull, a tile of the hull is live when its class is not 0, partial when 1
    and full when 2. Entries outside the hull are never read. The table takes one
    byte per pair of tiles, `b * h * (nq / 64) * (nk / 64)` bytes for tiles of 64.

    With `ascending`, a loop over live tiles visits them by their first
    coordinates in ascending order; otherwise the order is the same in each run,
    but up to who lowers the loop.

    ```mlir
    %r:3 = tile.for_each partial %set[%b, %h] query (%i) of (%nq) box [64]
        key of (%nk) box [64] init(%acc, %m, %l : ...) {
    ^bb0(%j: index, %acc0: ..., %m0: ..., %l0: ...):
      ...
      tile.yield %acc1, %m1, %l1 : ...
    }
    ```
  }];
  let arguments = (ins Tile_TileClass:$tile_class,
                       Sparsity_Set:$set, Index:$batch, Index:$head,
                       Variadic<Index>:$query_at, Variadic<Index>:$query_sizes,
                       Variadic<Index>:$key_sizes, Optional<4DTensorOf<[I8]>>:$classes,
                       Variadic<AnyType>:$init,
                       DenseI64ArrayAttr:$query_box, DenseI64ArrayAttr:$key_box,
                       UnitAttr:$ascending);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $tile_class $set `[` $batch `,` $head `]`
    `query` `(` $query_at `)` `of` `(` $query_sizes `)` `box` $query_box
    `key` `of` `(` $key_sizes `)` `box` $key_box
    (`classes` `(` $classes^ `:` type($classes) `)`)?
    (`init` `(` $init^ `:` type($init) `)`)? (`ascending` $ascending^)? $body attr-dict
    `:` type($set)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

include "dialects/Tile/TileSelect.td"
include "dialects/Tile/TileLinear.td"

#endif
