// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Every function breaks the rule that its name begins with.

func.func @blocks_1_segments(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>, %n: index) {
  %text = sparsity.sequence [%n]
  %pair = sparsity.concat %text, %text : !sparsity.domain<1>, !sparsity.domain<1>
  // expected-error @+1 {{'sparsity.blocks' op expected one segment of queries and one of keys, got '!sparsity.set<1, 1>'}}
  %s = sparsity.blocks %ids, %counts query [64] key [64] in %pair
      : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>, !sparsity.domain<1, 1>
  return
}

// -----

func.func @blocks_2_query_axes(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>, %n: index) {
  %grid = sparsity.grid [%n, 8]
  // expected-error @+1 {{'sparsity.blocks' op expected a query block with an extent for each of 2 axes, got 1}}
  %s = sparsity.blocks %ids, %counts query [64] key [8, 8] in %grid
      : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>, !sparsity.domain<2>
  return
}

// -----

func.func @blocks_2_key_axes(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'sparsity.blocks' op expected a key block with an extent for each of 1 axes, got 0}}
  %s = sparsity.blocks %ids, %counts query [64] key [] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @blocks_2_extent(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'sparsity.blocks' op expected key of at least 1, got 0}}
  %s = sparsity.blocks %ids, %counts query [64] key [0] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @blocks_3_group(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'sparsity.blocks' op expected a group of 1 to 1048576 query heads, got 0}}
  %s = sparsity.blocks %ids, %counts query [64] key [64] group 0 : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @blocks_4_heads(%ids: tensor<1x4x?x?xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'sparsity.blocks' op expected ids and counts of the same lists, got 'tensor<1x4x?x?xi32>' and 'tensor<1x1x?xi32>'}}
  %s = sparsity.blocks %ids, %counts query [64] key [64] : tensor<1x4x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @key_block_1_axes(%c: index) {
  // expected-error @+1 {{'sparsity.key_block' op expected a key block with an extent for each of 2 axes, got 1}}
  %s = sparsity.key_block (%c, %c) of [64] : !sparsity.set<2>
  return
}

// -----

func.func @key_block_1_extent(%c: index) {
  // expected-error @+1 {{'sparsity.key_block' op expected key of at least 1, got -1}}
  %s = sparsity.key_block (%c) of [-1] : !sparsity.set<1>
  return
}

// -----

func.func @key_block_2_segments(%c: index) {
  // expected-error @+1 {{'sparsity.key_block' op expected a set between one segment of queries and one of keys, got '!sparsity.set<1, 1>'}}
  %s = sparsity.key_block (%c) of [64] : !sparsity.set<1, 1>
  return
}

// -----

func.func @key_block_3_coordinates(%c: index) {
  // expected-error @+1 {{'sparsity.key_block' op expected a coordinate for each of 2 axes, got 1}}
  %s = sparsity.key_block (%c) of [8, 8] : !sparsity.set<2>
  return
}

// -----

func.func @bitmap_1_segments(%mask: tensor<1x1x?x?xi8>, %n: index) {
  %text = sparsity.sequence [%n]
  %pair = sparsity.concat %text, %text : !sparsity.domain<1>, !sparsity.domain<1>
  // expected-error @+1 {{'sparsity.bitmap' op expected one segment of queries and one of keys, got '!sparsity.set<1, 1>'}}
  %s = sparsity.bitmap %mask query [64] key [64] in %pair : tensor<1x1x?x?xi8>, !sparsity.domain<1, 1>
  return
}

// -----

func.func @bitmap_2_axes(%mask: tensor<1x1x?x?xi8>) {
  // expected-error @+1 {{'sparsity.bitmap' op expected a key block with an extent for each of 1 axes, got 2}}
  %s = sparsity.bitmap %mask query [64] key [8, 8] : tensor<1x1x?x?xi8>
  return
}

// -----

func.func @bitmap_2_extent(%mask: tensor<1x1x?x?xi8>) {
  // expected-error @+1 {{'sparsity.bitmap' op expected query of at least 1, got 0}}
  %s = sparsity.bitmap %mask query [0] key [8] : tensor<1x1x?x?xi8>
  return
}

// -----

func.func @bitmap_3_group(%mask: tensor<1x1x?x?xi8>) {
  // expected-error @+1 {{'sparsity.bitmap' op expected a group of 1 to 1048576 query heads, got -1}}
  %s = sparsity.bitmap %mask query [64] key [64] group -1 : tensor<1x1x?x?xi8>
  return
}

// -----

// A byte is a byte.
func.func @bitmap_elements(%mask: tensor<1x1x?x?xi32>) {
  // expected-error @+1 {{'sparsity.bitmap' op operand #0 must be 4D tensor of 8-bit signless integer values, but got 'tensor<1x1x?x?xi32>'}}
  %s = sparsity.bitmap %mask query [64] key [64] : tensor<1x1x?x?xi32>
  return
}
