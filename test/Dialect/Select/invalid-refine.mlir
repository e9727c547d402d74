// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule and has its label in its name.

func.func @block_1_children(%ids: tensor<1x1x?x4xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.children' op expected children of a node from 1 to 65536, got 0}}
  %0:2 = select.children %ids, %counts by 0 columns(9)
      : tensor<1x1x?x4xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @number_1_children(%ids: tensor<1x1x?x4xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.children' op expected columns from 0 to 2147483647, got -1}}
  %0:2 = select.children %ids, %counts by 2 columns(-1)
      : tensor<1x1x?x4xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @shape_3_children(%ids: tensor<1x1x?x4xi32>, %counts: tensor<1x1x?xi32>) {
  // expected-error @+1 {{'select.children' op expected ids of children with extent 8 on axis 3, got 'tensor<1x1x?x4xi32>'}}
  %0:2 = select.children %ids, %counts by 2 columns(9)
      : tensor<1x1x?x4xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x4xi32>, tensor<1x1x?xi32>
  return
}

// -----

func.func @choose_1_children(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x9xi32>) {
  // expected-error @+1 {{'select.children' op expected counts with extent 8 on axis 2, got 'tensor<1x1x9xi32>'}}
  %0:2 = select.children %ids, %counts by 2 columns(9)
      : tensor<1x1x8x4xi32>, tensor<1x1x9xi32> -> tensor<1x1x8x8xi32>, tensor<1x1x8xi32>
  return
}

// -----

// There is a list for each query row and head.
func.func @shape_3_lists(%q: tensor<1x4x?x64xf16>, %ids: tensor<1x2x?x8xi32>, %counts: tensor<1x2x?xi32>) {
  // expected-error @+1 {{'select.score_list' op expected ids with extent 4 on axis 1, got 'tensor<1x2x?x8xi32>'}}
  %0 = select.score_list dot %q, %q at %ids, %counts
      : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x2x?x8xi32>, tensor<1x2x?xi32> -> tensor<1x4x?x8xf32>
  return
}

// -----

func.func @shape_3_scores(%q: tensor<1x4x?x64xf16>, %ids: tensor<1x4x?x8xi32>, %counts: tensor<1x4x?xi32>) {
  // expected-error @+1 {{'select.score_list' op expected scores with extent 8 on axis 3, got 'tensor<1x4x?x9xf32>'}}
  %0 = select.score_list dot %q, %q at %ids, %counts
      : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x8xi32>, tensor<1x4x?xi32> -> tensor<1x4x?x9xf32>
  return
}

// -----

func.func @score_1_channels(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x?x32xf16>, %ids: tensor<1x4x?x8xi32>,
                            %counts: tensor<1x4x?xi32>) {
  // expected-error @+1 {{'select.score_list' op expected query and key rows of one batch, element type and number of channels, got}}
  %0 = select.score_list dot %q, %k at %ids, %counts
      : tensor<1x4x?x64xf16>, tensor<1x4x?x32xf16>, tensor<1x4x?x8xi32>, tensor<1x4x?xi32> -> tensor<1x4x?x8xf32>
  return
}

// -----

func.func @set_1_force(%q: tensor<1x4x?x64xf16>, %ids: tensor<1x4x?x8xi32>, %counts: tensor<1x4x?xi32>) {
  %d = sparsity.grid [4, 4]
  %near = sparsity.radius [1, 1] in %d : !sparsity.domain<2>
  // expected-error @+1 {{'select.score_list' op expected a set over sequences, got '!sparsity.set<2>'}}
  %0 = select.score_list dot %q, %q at %ids, %counts force %near : !sparsity.set<2>
      : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>, tensor<1x4x?x8xi32>, tensor<1x4x?xi32> -> tensor<1x4x?x8xf32>
  return
}

// -----

func.func @shape_3_places(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>, %at: tensor<1x1x9x2xi32>) {
  // expected-error @+1 {{'select.pick' op expected places with extent 8 on axis 2, got 'tensor<1x1x9x2xi32>'}}
  %0 = select.pick %ids, %counts at %at
      : tensor<1x1x8x4xi32>, tensor<1x1x8xi32>, tensor<1x1x9x2xi32> -> tensor<1x1x9x2xi32>
  return
}

// -----

func.func @shape_3_picked(%ids: tensor<1x1x8x4xi32>, %counts: tensor<1x1x8xi32>, %at: tensor<1x1x8x2xi32>) {
  // expected-error @+1 {{'select.pick' op expected a result with extent 2 on axis 3, got 'tensor<1x1x8x4xi32>'}}
  %0 = select.pick %ids, %counts at %at
      : tensor<1x1x8x4xi32>, tensor<1x1x8xi32>, tensor<1x1x8x2xi32> -> tensor<1x1x8x4xi32>
  return
}

// -----

func.func @shape_3_without(%s: tensor<1x1x8x4xf32>, %ids: tensor<1x1x6x4xi32>, %counts: tensor<1x1x6xi32>) {
  // expected-error @+1 {{'select.without' op expected ids with extent 8 on axis 2, got 'tensor<1x1x6x4xi32>'}}
  %0 = select.without %s, %ids, %counts : tensor<1x1x8x4xf32>, tensor<1x1x6x4xi32>, tensor<1x1x6xi32>
  return
}
