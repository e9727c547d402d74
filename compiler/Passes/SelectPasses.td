//===- SelectPasses.td - lists, hierarchies and states as kernels ---------===//
#ifndef LACUNA_SELECT_PASSES_TD
#define LACUNA_SELECT_PASSES_TD

include "mlir/Pass/PassBase.td"

def BitmapsToListsPass : Pass<"lacuna-bitmaps-to-lists", "::mlir::func::FuncOp"> {
  let summary = "lists in place of bitmaps where loops may walk them";
  let description = [{
    Attention over a `sparsity.bitmap` looks at a byte for each pair of tiles, in a
    kernel of its own, and then at each pair of tokens of those that are partly
    live. Where the set is additive (`lacuna-expand-lists`) and tiles of the target lie
    in its blocks, `select.list_of_mask` makes lists on the device first, and attention
    walks these.

    Left as they are: sets with several bitmaps or with lists beside them, sets that
    take the bitmap away, attends whose tiles are given, blocks that no tile of the
    target divides, and bitmaps in concatenated domains.

    Requires: sets in canonical form, and segments split. Leaves: bitmaps in other
    attends and in `select` ops; lists that were bitmaps have the mark `lacuna.of_bitmap`, by which
    a launch refuses maps of other extents. Before: `lacuna-assign-tiles`, which fits tiles to
    the blocks of lists, and `lacuna-select-to-tile`.

    ```mlir
    %set = sparsity.bitmap %mask query [128] key [64] : tensor<1x4x?x?xi8>
    // becomes
    %ids, %counts = select.list_of_mask %mask : tensor<1x4x?x?xi8> -> tensor<1x4x?x?xi32>, tensor<1x4x?xi32>
    %set = sparsity.blocks %ids, %counts query [128] key [64] : tensor<1x4x?x?xi32>, tensor<1x4x?xi32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "what the tiles are for: cpu or sm_90a">,
    ListOption<"queryTile", "query-tile", "int64_t", "tokens per query tile, when they are given">,
    ListOption<"keyTile", "key-tile", "int64_t", "tokens per key tile, when they are given">
  ];
  let dependentDialects = ["::lacuna::select::SelectDialect", "::lacuna::sparsity::SparsityDialect"];
}

def ListsToBitmapsPass : Pass<"lacuna-lists-to-bitmaps", "::mlir::func::FuncOp"> {
  let summary = "bitmaps in place of lists where restrictions ask pair by pair";
  let description = [{
    `select.restrict` asks for each row and column whether the pair lies in its sets. A
    `sparsity.blocks` among them would be searched through, entry by entry, each
    time. `select.mask_of_list` marks on the device what the lists name, a byte for each row of
    lists and key block, and the restriction looks at one byte.

    Left as they are: lists of a static capacity of at most 8, and lists of blocks on grids.

    Requires: sets in canonical form. Leaves: lists in other ops. Before:
    `lacuna-select-to-tile`.

    ```mlir
    %set = sparsity.blocks %ids, %counts query [1] key [16] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
    %t = select.restrict %s within %set : tensor<?x4x?x?xf32>
    // becomes
    %mask = select.mask_of_list %ids, %counts columns(%n) : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi8>
    %set = sparsity.bitmap %mask query [1] key [16] : tensor<?x4x?x?xi8>
    %t = select.restrict %s within %set : tensor<?x4x?x?xf32>
    ```
  }];
  let dependentDialects = ["::lacuna::select::SelectDialect", "::lacuna::sparsity::SparsityDialect",
                           "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ExpandHierarchiesPass : Pass<"lacuna-expand-hierarchies"> {
  let summary = "attention over a hierarchy with columns as one attend per level";
  let description = [{
    An attend over `sparsity.dyadic .. columns m` sees the exact part of the set
    key by key, and each node of level l through m columns: means of `w_l = base
    fanout^l / m` neighbouring keys and values, whose scores get `log w_l` added
    (the number of keys that there really are, at the end of a two-sided
    sequence). It becomes summaries of keys and values, level by level, one
    attend over the exact part, one over the columns of each level, and a merge
    of them all, which is one kernel in the end (`lacuna-attn-to-tile`).

    A `near` window is rounded up to blocks of the base: these are exact, too, and
    levels lie around them as they would lie around the query without a window.

    Without `levels` the level above the top has 2^20 keys or more; the top level
    sees everything beyond at its own resolution.

    Requires: `dyadic` sets with columns are what attends are over, and no operand
    of other sets; before `lacuna-split-segments`. Leaves: no `columns`.

    ```mlir
    %set = sparsity.dyadic fenwick base 128 levels 1 columns 128
    %o = attn.attend %q, %k, %v over %set : ...
    // becomes
    %own = sparsity.dyadic fenwick base 128 levels 1 only [-1, -1]
    %o0, %l0 = attn.attend %q, %k, %v over %own ...
    %past = sparsity.affine affine_set<(i, j)[s] : ...>[%s] from_start
    %o1, %l1 = attn.attend %q, %k, %v over %past ...
    %o, %l = attn.merge (%o0, %l0), (%o1, %l1) : ...
    ```
  }];
  let dependentDialects = ["::lacuna::select::SelectDialect", "::lacuna::attn::AttnDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SelectToTilePass : Pass<"lacuna-select-to-tile", "::mlir::ModuleOp"> {
  let summary = "one kernel per select op, and a launch in its place";
  let description = [{
    Each op of the select dialect becomes a `tile.kernel` whose body is the tile
    op of the same name, and whose plan has the extents of the grid and of the
    results: a block of tokens per grid point for summaries, a tile of scores for
    `select.score`, a row, a head or a batch entry for choices. Sets become
    predicates of a row and a column in the kernel's body.

    What shapes must satisfy at run time stands in the plan as `tile.require`.

    Requires: functions of one block. Leaves: no select op.

    ```mlir
    %m = select.summarize mean %k block [128] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
    // becomes, with @f_summarize_0 in front of the function
    %m = tile.launch @f_summarize_0(%k) : (tensor<?x8x?x128xbf16>) -> tensor<?x8x?x128xbf16>
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LinearToTilePass : Pass<"lacuna-linear-to-tile", "::mlir::ModuleOp"> {
  let summary = "one kernel per op of linear attention, and a launch in its place";
  let description = [{
    `attn.linear_state`, `linear_prefix`, `linear_fold`, `linear_read` and `gated_merge` become a
    `tile.kernel` each, whose body is the tile op of the same name. Programs take up to 128 value
    channels of a state or of rows; rows of one program lie in one query tile, and the set of
    a read becomes a predicate of that tile's first row and a state.

    What shapes must satisfy at run time stands in the plan as `tile.require`.

    Requires: functions of one block. Leaves: no op of linear attention.

    ```mlir
    %h, %z = attn.linear_state relu %k, %v block [128] : ...
    // becomes, with @f_linear_state_0 in front of the function
    %h, %z = tile.launch @f_linear_state_0(%k, %v) : ...
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FoldRestrictionsPass : Pass<"lacuna-fold-restrictions", "::mlir::ModuleOp"> {
  let summary = "restrictions of scores inside the choices that follow";
  let description = [{
    A choice in rows of scores that a `tile.restrict` made reads the scores themselves, and
    asks its two predicates as it reads. The restricted scores are written only where
    something else needs them, too.

    Left as they are: choices among the rows of a head or a batch entry.

    Requires: `lacuna-select-to-tile`. Leaves: `tile.choose` with regions, which kernels of
    the CPU do not know.

    ```mlir
    %t = tile.launch @f_restrict_0(%s)
    %ids, %counts = tile.launch @f_choose_1(%s, %t)
    // becomes
    %ids, %counts = tile.launch @f_choose_1_0(%s)
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect"];
}

def FuseRefinementsPass : Pass<"lacuna-fuse-refinements", "::mlir::ModuleOp"> {
  let summary = "one kernel for a level of a search from coarse to fine";
  let description = [{
    `tile.children`, `tile.score_list` of the children, `tile.choose` of their scores and
    `tile.pick` of the children become one kernel, `tile.refine`: what lies between them stays
    with the warp that has the row, and is written only where something else needs it.

    Left as they are: lists that may have more than 512 children by the plans of the kernels
    that made them, rows of more than 512 channels, choices among several rows.

    Requires: `lacuna-select-to-tile`. Leaves: `tile.refine`, which kernels of the CPU do not
    know.

    ```mlir
    %below, %many = tile.launch @f_children_0(%q, %k, %ids, %counts)
    %s = tile.launch @f_score_list_1(%q, %k, %below, %many)
    %at, %c = tile.launch @f_choose_2(%q, %k, %s)
    %next = tile.launch @f_pick_3(%q, %k, %below, %many, %at)
    // becomes
    %c, %next = tile.launch @f_refine(%q, %k, %ids, %counts)
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect"];
}

def ShareSummariesPass : Pass<"lacuna-share-summaries", "::mlir::ModuleOp"> {
  let summary = "coarse summaries from what finer ones of the same tokens add up to";
  let description = [{
    Where the same tokens are summarized in blocks of several extents, one kernel reads
    them, in the smallest blocks, and keeps what each block adds up to in f32. Summaries whose
    blocks are multiples of these read that; each level reads the nearest finer one. Means are
    divided by the tokens that there really are, and every result is rounded once, as before.

    Left as they are: kinds other than `mean`, `sum`, `min` and `max`, boxes on grids, summaries `from`
    a token or of `whole` blocks, and blocks so small that partials are no smaller than tokens.

    Requires: `lacuna-select-to-tile`, whose mark says what a kernel summarizes. Leaves:
    `tile.summarize` with partials, which kernels of the CPU do not know.

    ```mlir
    %coarse = tile.launch @f_summarize_0(%k)
    %fine = tile.launch @f_summarize_1(%k)
    // becomes
    %fine, %sums = tile.launch @f_summarize_1_0(%k)
    %coarse = tile.launch @f_summarize_0_1(%k, %sums)
    ```
  }];
  let dependentDialects = ["::lacuna::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandListsPass : Pass<"lacuna-expand-lists"> {
  let summary = "walk lists of key blocks entry by entry";
  let description = [{
    A loop over the tiles of a set that is made of a `sparsity.blocks` becomes a
    loop over the tiles that are live without the list, and a loop over the
    entries of the query tile's list; the body of the latter is a loop over the
    tiles that the entry adds, a set with the block's coordinates as run-time
    numbers (`sparsity.key_block`). So every pair is visited once.

    Only lists that stand in no set that is taken away, and on one side of each
    intersection, are walked, and only by query tiles that lie in one query block;
    `compiler/Passes/Lists.h` says which. The tiles of other sets have been
    classified. Where tiles do not reach over the borders of blocks, masks do not
    ask for the block.

    Requires: kernels (`lacuna-attn-to-tile`), masks over sets. Leaves: no list in
    a loop without classes.

    ```mlir
    %r = tile.for_each live %listed[%b, %h] query (%i) of (%n) box [128] key of (%n) box [128]
        init(%x : T) { ^bb0(%j: index, %x0: T): ... }
    // becomes
    %r = scf.for %e = %c0 to %count step %c1 iter_args(%x0 = %x) -> (T) {
      %id = tensor.extract %ids[%b, %h, %t, %e] : tensor<?x?x?x?xi32>
      %block = sparsity.key_block (%id) of [128] : !sparsity.set<1>
      tile.for_each live %block[%b, %h] ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
