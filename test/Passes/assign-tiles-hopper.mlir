// RUN: lacuna-opt %s --lacuna-assign-tiles=target=sm_90a | FileCheck %s

// On a sequence the shape follows from the head dimension: three warpgroups where
// the exponentials are the limit, else as many keys as registers leave room for.
// CHECK-LABEL: func.func @sequence(
// CHECK:         key_tile = array<i64: 128>, query_tile = array<i64: 192>
// CHECK:         key_tile = array<i64: 128>, query_tile = array<i64: 128>
// CHECK:         key_tile = array<i64: 96>, query_tile = array<i64: 128>
// CHECK:         key_tile = array<i64: 80>, query_tile = array<i64: 128>
func.func @sequence(%a: tensor<1x1x?x64xbf16>, %b: tensor<1x1x?x128xbf16>,
                    %c: tensor<1x1x?x192xbf16>, %d: tensor<1x1x?x256xbf16>)
    -> (tensor<1x1x?x64xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x192xbf16>,
        tensor<1x1x?x256xbf16>) {
  %set = sparsity.causal
  %o0 = attn.attend %a, %a, %a over %set
      : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16> -> tensor<1x1x?x64xbf16>
  %o1 = attn.attend %b, %b, %b over %set
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o2 = attn.attend %c, %c, %c over %set
      : tensor<1x1x?x192xbf16>, tensor<1x1x?x192xbf16>, tensor<1x1x?x192xbf16> -> tensor<1x1x?x192xbf16>
  %o3 = attn.attend %d, %d, %d over %set
      : tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16> -> tensor<1x1x?x256xbf16>
  return %o0, %o1, %o2, %o3
      : tensor<1x1x?x64xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x192xbf16>, tensor<1x1x?x256xbf16>
}

// On a grid boxes follow the neighbourhood. 2 x 8 x 8 queries see 6 x 18 x 24 keys
// away from the borders: 27 boxes of 2 x 7 x 8 there, 19 on average.
// CHECK-LABEL: func.func @neighbourhoods(
// CHECK:         key_tile = array<i64: 2, 7, 8>, query_tile = array<i64: 2, 8, 8>
// CHECK:         key_tile = array<i64: 20, 8>, query_tile = array<i64: 8, 16>
func.func @neighbourhoods(%q: tensor<1x1x?x128xbf16>)
    -> (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) {
  %video = sparsity.grid [16, 32, 64]
  %image = sparsity.grid [128, 128]
  %near3 = sparsity.radius [2, 5, 8] in %video : !sparsity.domain<3>
  %near2 = sparsity.radius [6, 6] in %image : !sparsity.domain<2>
  %o3 = attn.attend %q, %q, %q over %near3 : !sparsity.set<3>
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o2 = attn.attend %q, %q, %q over %near2 : !sparsity.set<2>
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  return %o3, %o2 : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
}

// A box that the spec gives stays; the other one is chosen for it.
// CHECK-LABEL: func.func @half_given(
// CHECK:         key_tile = array<i64: 1, 14, 8>, query_tile = array<i64: 4, 4, 8>
// CHECK:         key_tile = array<i64: 4, 4, 4>, query_tile = array<i64: 4, 4, 8>
func.func @half_given(%q: tensor<1x1x?x128xbf16>)
    -> (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) {
  %video = sparsity.grid [16, 32, 64]
  %near = sparsity.radius [2, 5, 8] in %video : !sparsity.domain<3>
  %o0 = attn.attend %q, %q, %q over %near : !sparsity.set<3> {query_tile = array<i64: 4, 4, 8>}
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o1 = attn.attend %q, %q, %q over %near : !sparsity.set<3>
        {key_tile = array<i64: 4, 4, 4>, query_tile = array<i64: 4, 4, 8>}
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  return %o0, %o1 : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
}

// Run-time numbers count as their defaults; a neighbourhood that shifts at the
// border is evaluated like any other.
// CHECK-LABEL: func.func @defaults(
// CHECK:         key_tile = array<i64: 20, 8>, query_tile = array<i64: 8, 16>
// CHECK:         key_tile = array<i64: 20, 8>, query_tile = array<i64: 8, 16>
func.func @defaults(%q: tensor<1x1x?x128xbf16>, %height: index {lacuna.default = 128},
                    %width: index {lacuna.default = 128}, %r: index {lacuna.default = 3})
    -> (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) {
  %image = sparsity.grid [%height, %width]
  %two = arith.constant 2 : index
  %twice = arith.muli %r, %two : index
  %clip = sparsity.radius [%twice, %twice] in %image : !sparsity.domain<2>
  %shift = sparsity.radius [%twice, %twice] border(shift) in %image : !sparsity.domain<2>
  %o0 = attn.attend %q, %q, %q over %clip : !sparsity.set<2>
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o1 = attn.attend %q, %q, %q over %shift : !sparsity.set<2>
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  return %o0, %o1 : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
}

// What the target refuses later gets even boxes, so that the refusal names the
// real reason.
// CHECK-LABEL: func.func @four_axes(
// CHECK:         key_tile = array<i64: 2, 2, 4, 8>, query_tile = array<i64: 2, 4, 4, 4>
func.func @four_axes(%q: tensor<1x1x?x64xbf16>, %n: index) -> tensor<1x1x?x64xbf16> {
  %grid = sparsity.grid [%n, %n, %n, %n]
  %set = sparsity.all in %grid : !sparsity.domain<4>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<4>
      : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16> -> tensor<1x1x?x64xbf16>
  return %o : tensor<1x1x?x64xbf16>
}

// Boxes divide the blocks of a list, however small these are; one warpgroup alone
// takes query blocks that two do not divide.
// CHECK-LABEL: func.func @block_tiles(
// CHECK:         key_tile = array<i64: 128>, query_tile = array<i64: 128>
// CHECK:         key_tile = array<i64: 32>, query_tile = array<i64: 64>
// CHECK:         key_tile = array<i64: 2, 4, 8>, query_tile = array<i64: 4, 4, 8>
func.func @block_tiles(%q: tensor<1x1x?x128xbf16>, %ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>)
    -> (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) {
  %a = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %b = sparsity.blocks %ids, %counts query [64] key [32] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %video = sparsity.grid [8, 32, 32]
  %c = sparsity.blocks %ids, %counts query [4, 4, 8] key [4, 4, 8] in %video
      : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>, !sparsity.domain<3>
  %o0 = attn.attend %q, %q, %q over %a
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o1 = attn.attend %q, %q, %q over %b
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o2 = attn.attend %q, %q, %q over %c : !sparsity.set<3>
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  return %o0, %o1, %o2 : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
}

// Heads with one list and the same keys share a tile: as many as fill two warpgroups, or three, or one. Single keys
// fill a tile together, and so do blocks of them.
// CHECK-LABEL: func.func @head_tiles(
// CHECK:         key_tile = array<i64: 1>, lacuna.head_tile = 4 : i64, query_tile = array<i64: 32>
// CHECK:         key_tile = array<i64: 8>, lacuna.head_tile = 2 : i64, query_tile = array<i64: 32>
// CHECK:         key_tile = array<i64: 64>, lacuna.head_tile = 4 : i64, query_tile = array<i64: 48>
// CHECK:         key_tile = array<i64: 1>, lacuna.head_tile = 2 : i64, query_tile = array<i64: 64>
// Two heads of 64 rows have tiles of their own where the copy engine brings keys.
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 64>
func.func @head_tiles(%q: tensor<1x8x?x64xbf16>, %k: tensor<1x2x?x64xbf16>, %l: tensor<1x4x?x64xbf16>,
                      %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>)
    -> (tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>) {
  %a = sparsity.blocks %ids, %counts query [32] key [1] group 4 : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %b = sparsity.blocks %ids, %counts query [32] key [8] group 4 : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %c = sparsity.blocks %ids, %counts query [48] key [64] group 4 : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %d = sparsity.blocks %ids, %counts query [64] key [1] group 4 : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %e = sparsity.blocks %ids, %counts query [64] key [64] group 4 : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o0 = attn.attend %q, %k, %k over %a
      : tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x8x?x64xbf16>
  // Two query heads have a key head.
  %o1 = attn.attend %q, %l, %l over %b
      : tensor<1x8x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16> -> tensor<1x8x?x64xbf16>
  %o2 = attn.attend %q, %k, %k over %c
      : tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x8x?x64xbf16>
  %o3 = attn.attend %q, %k, %k over %d
      : tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x8x?x64xbf16>
  %o4 = attn.attend %q, %k, %k over %e
      : tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x8x?x64xbf16>
  return %o0, %o1, %o2, %o3, %o4
      : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>
}

// Six heads of 32 rows are three warpgroups, which have no registers for so many channels: two heads are one.
// CHECK-LABEL: func.func @head_tiles_wide(
// CHECK:         key_tile = array<i64: 4>, lacuna.head_tile = 2 : i64, query_tile = array<i64: 32>
func.func @head_tiles_wide(%q: tensor<1x6x?x192xbf16>, %k: tensor<1x1x?x192xbf16>, %ids: tensor<1x1x?x?xi32>,
                           %counts: tensor<1x1x?xi32>) -> tensor<1x6x?x192xbf16> {
  %set = sparsity.blocks %ids, %counts query [32] key [4] group 6 : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %o = attn.attend %q, %k, %k over %set
      : tensor<1x6x?x192xbf16>, tensor<1x1x?x192xbf16>, tensor<1x1x?x192xbf16> -> tensor<1x6x?x192xbf16>
  return %o : tensor<1x6x?x192xbf16>
}

// Sets that are classified need no tiles in blocks, and take them where they can be had: what is taken away of
// single keys leaves the choice free, large blocks of a map hold whole tiles, small ones do not.
// CHECK-LABEL: func.func @classified_tiles(
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 128>
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 128>
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 64>
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 128>
func.func @classified_tiles(%q: tensor<1x1x?x128xbf16>, %ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>,
                            %mask: tensor<1x1x?x?xi8>)
    -> (tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>) {
  %a = sparsity.blocks %ids, %counts query [128] key [1] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %b = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %c = sparsity.bitmap %mask query [64] key [64] : tensor<1x1x?x?xi8>
  %d = sparsity.bitmap %mask query [64] key [1] : tensor<1x1x?x?xi8>
  %na = sparsity.complement %a
  %nb = sparsity.complement %b
  %o0 = attn.attend %q, %q, %q over %na
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o1 = attn.attend %q, %q, %q over %nb
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o2 = attn.attend %q, %q, %q over %c
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  %o3 = attn.attend %q, %q, %q over %d
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x?x128xbf16>
  return %o0, %o1, %o2, %o3
      : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
}

// As many queries as one instruction holds, by the type, have a tile of that size; with one more there is a choice.
// CHECK-LABEL: func.func @few_queries(
// CHECK:         attn.attend {{.*}} query_tile = array<i64: 64>}
// CHECK:         attn.attend {{.*}} query_tile = array<i64: 128>}
func.func @few_queries(%a: tensor<1x1x64x128xbf16>, %b: tensor<1x1x65x128xbf16>, %k: tensor<1x1x?x128xbf16>)
    -> (tensor<1x1x64x128xbf16>, tensor<1x1x65x128xbf16>) {
  %set = sparsity.all : !sparsity.set<1>
  %o0 = attn.attend %a, %k, %k over %set
      : tensor<1x1x64x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x64x128xbf16>
  %o1 = attn.attend %b, %k, %k over %set
      : tensor<1x1x65x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16> -> tensor<1x1x65x128xbf16>
  return %o0, %o1 : tensor<1x1x64x128xbf16>, tensor<1x1x65x128xbf16>
}
