// RUN: lacuna-opt %s --lacuna-attn-to-tile --lacuna-expand-lists --canonicalize --cse | FileCheck %s

// A list alone: its entries in order, and for each the tiles of one block. The count is
// held to the capacity, ids to the blocks that there are and their neighbours. No tile
// reaches over a block's border, so that masks ask for no block. Queries 64 to 127 read
// the list of queries 0 to 63.
// CHECK-LABEL: tile.kernel @alone_attend_0
// CHECK-NOT:     tile.for_each
// CHECK:         %[[COUNT:.*]] = tensor.extract %[[COUNTS:.*]][%{{.*}}, %[[H:.*]], %[[T:.*]]] : tensor<1x2x?xi32>
// CHECK:         %[[SIGNED:.*]] = arith.index_cast %[[COUNT]]
// CHECK:         %[[LEAST:.*]] = arith.maxsi %[[SIGNED]], %c0
// CHECK:         %[[MOST:.*]] = arith.minsi %[[LEAST]]
// CHECK:         %[[ALL:.*]] = sparsity.all
// CHECK:         scf.for %[[E:.*]] = %c0 to %[[MOST]] step %c1
// CHECK:           tensor.extract %{{.*}}[%{{.*}}, %[[H]], %[[T]], %[[E]]] : tensor<1x2x?x?xi32>
// CHECK:           arith.maxsi %{{.*}}, %c-1
// CHECK:           %[[ID:.*]] = arith.minsi
// CHECK:           %[[BLOCK:.*]] = sparsity.key_block(%[[ID]]) of [128]
// CHECK:           tile.for_each live %[[BLOCK]]
// CHECK:             tile.mask {{.*}} over %[[ALL]]
// CHECK:         tile.end
func.func @alone(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %set = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// With a window, all of it causal: first the window's tiles, then of each block what is
// causal and outside of the window. So no pair comes twice.
// CHECK-LABEL: tile.kernel @with_window_attend_0
// CHECK:         %[[PAST:.*]] = sparsity.causal
// CHECK:         %[[NEAR:.*]] = sparsity.window left(255) right(0)
// CHECK:         %[[FIRST:.*]]:3 = tile.for_each live %[[NEAR]]
// CHECK:           tile.mask {{.*}} over %[[NEAR]]
// CHECK:         %[[FAR:.*]] = sparsity.complement %[[NEAR]]
// CHECK:         %[[BESIDE:.*]] = sparsity.intersect %[[PAST]], %[[FAR]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]]#0, %{{.*}} = %[[FIRST]]#1, %{{.*}} = %[[FIRST]]#2)
// CHECK:           %[[BLOCK:.*]] = sparsity.key_block
// CHECK:           %[[ADDED:.*]] = sparsity.intersect %[[BLOCK]], %[[PAST]], %[[FAR]]
// CHECK:           tile.for_each live %[[ADDED]]
// CHECK:             tile.mask {{.*}} over %[[BESIDE]]
// CHECK:         tile.end
func.func @with_window(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %list = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %near = sparsity.window left(255) right(0)
  %either = sparsity.union %list, %near
  %past = sparsity.causal
  %set = sparsity.intersect %either, %past
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Tiles of 96 keys reach over the borders of blocks: masks ask for the block.
// CHECK-LABEL: tile.kernel @over_borders_attend_0
// CHECK:         scf.for
// CHECK:           %[[BLOCK:.*]] = sparsity.key_block
// CHECK:           tile.for_each live %[[BLOCK]]
// CHECK:             tile.mask {{.*}} over %[[BLOCK]]
func.func @over_borders(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %set = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 96>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// On a grid blocks are numbered in row-major order, and a number becomes coordinates.
// CHECK-LABEL: tile.kernel @cubes_attend_0
// CHECK:         scf.for
// CHECK:           %[[ID:.*]] = arith.minsi
// CHECK:           %[[X:.*]] = arith.subi %[[ID]], %{{.*}} : index
// CHECK:           %[[BLOCK:.*]] = sparsity.key_block(%{{.*}}, %[[X]]) of [8, 4] : <2>
// CHECK:           tile.for_each live %[[BLOCK]]
func.func @cubes(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %image = sparsity.grid [32, 16]
  %set = sparsity.blocks %ids, %counts query [8, 8] key [8, 4] in %image
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, !sparsity.domain<2>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2> {key_tile = array<i64: 4, 4>, query_tile = array<i64: 8, 8>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Near miss: what the list names is taken away, and more entries leave less.
// CHECK-LABEL: tile.kernel @removed_attend_0_classes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.classify
// CHECK-LABEL: tile.kernel @removed_attend_0 attributes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.for_each {{.*}} classes
func.func @removed(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %list = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %past = sparsity.causal
  %set = sparsity.subtract %past, %list
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Near miss: two lists could name one pair twice.
// CHECK-LABEL: tile.kernel @two_lists_attend_0_classes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.classify
// CHECK-LABEL: tile.kernel @two_lists_attend_0 attributes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.for_each {{.*}} classes
func.func @two_lists(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %list = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %coarse = sparsity.blocks %ids, %counts query [256] key [256] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %set = sparsity.union %list, %coarse
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Near miss: a query tile of two blocks has two lists.
// CHECK-LABEL: tile.kernel @large_tile_attend_0_classes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.classify
// CHECK-LABEL: tile.kernel @large_tile_attend_0 attributes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.for_each {{.*}} classes
func.func @large_tile(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %set = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 256>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Near miss: another part of the set has to be classified anyway.
// CHECK-LABEL: tile.kernel @with_predicate_attend_0_classes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.classify
// CHECK-LABEL: tile.kernel @with_predicate_attend_0 attributes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.for_each {{.*}} classes
func.func @with_predicate(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %list = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %even = sparsity.where (%b, %h, %i, %j) {
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : index
    %rest = arith.remui %j, %two : index
    %live = arith.cmpi eq, %rest, %zero : index
    sparsity.yield %live : i1
  }
  %set = sparsity.union %list, %even
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Near miss: blocks in rising order are looked up, so that all of them have a class, also those
// that no entry names.
// CHECK-LABEL: tile.kernel @in_order_attend_0_classes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.classify
// CHECK-LABEL: tile.kernel @in_order_attend_0 attributes
// CHECK-NOT:     sparsity.key_block
// CHECK:         tile.for_each {{.*}} classes
func.func @in_order(%q: tensor<1x2x?x64xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> tensor<1x2x?x64xf32> {
  %set = sparsity.blocks %ids, %counts query [64] key [128] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set skip query [64] key [128] margin 1.0
      {key_tile = array<i64: 128>, query_tile = array<i64: 64>}
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}
