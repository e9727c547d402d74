// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/tile.md and has its label in its name.

func.func @select_1_rank(%k: tensor<2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected a source of rank 4 with elements f16, bf16 or f32, got 'tensor<2x?x64xf32>'}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i) box [8] channels [0, 64] into %m[%i]
      : tensor<2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @select_1_elements(%k: tensor<1x2x?x64xi8>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.fold' op expected a source of rank 4 with elements f16, bf16 or f32, got 'tensor<1x2x?x64xi8>'}}
  tile.fold %k[%i, %i, %i] by 2 into %m : tensor<1x2x?x64xi8>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @select_1_numbers(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi64>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected ids of rank 4 with elements i32, got 'memref<1x2x?x?xi64>'}}
  tile.choose top_k(16) %s at (%i, %i, %i) scope row into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi64>, memref<1x2x?xi32>
  return
}

// -----

// Without columns there is no last axis.
func.func @select_1_target(%q: tensor<1x2x?x64xf32>, %s: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.score_blocks' op expected a target of rank 3 with elements f16, bf16 or f32, got 'memref<1x2x?x?xf32>'}}
  tile.score_blocks dot %q, %q[%i, %i] at (%i, %i) tile [8, 8] rows 1 by sum columns 0 by sum group 1
      scale 1.0 into %s : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @select_1_gate(%v: tensor<1x2x?xf32>, %m: memref<1x2x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.gate' op expected a target of rank 3 with elements i32, got 'memref<1x2x?xf32>'}}
  tile.gate(0.5) %v[%i] low 1 high 2 into %m : tensor<1x2x?xf32>, memref<1x2x?xf32>
  return
}

// -----

func.func @select_2_within(%s: tensor<1x2x?x?xf32>, %t: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.restrict' op expected region within to be a function from ('index', 'index') to 'i1'}}
  tile.restrict %s[%i, %i, %i] into %t within {
  ^bb0(%row: index):
    %true = arith.constant true
    tile.yield %true : i1
  } : tensor<1x2x?x?xf32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @select_2_live(%q: tensor<1x2x?x64xf32>, %s: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.score_blocks' op expected region live to be a function from ('index', 'index', 'index') to 'i1'}}
  tile.score_blocks dot %q, %q[%i, %i] at (%i, %i) tile [8, 8] rows 1 by sum columns 1 by sum group 1
      scale 1.0 into %s live {
  ^bb0(%head: index, %row: index, %column: index):
    tile.yield %column : index
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x?xf32>
  return
}

// -----

// A region without an op has no end.
func.func @select_2_empty(%s: tensor<1x2x?x?xf32>, %t: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{empty block: expect at least a terminator}}
  tile.restrict %s[%i, %i, %i] into %t force {
  ^bb0(%row: index, %column: index):
  } : tensor<1x2x?x?xf32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @summarize_1_axes(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected one coordinate, size and box extent per axis, got 1, 2 and 2}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i, %i) box [8, 8] channels [0, 64] into %m[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @summarize_2_extent(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected positive box extents, got [0]}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i) box [0] channels [0, 64] into %m[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @summarize_3_channels(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected channels [first, last] with 0 <= first < last <= 64, got [0, 65]}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i) box [8] channels [0, 65] into %m[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @fold_1_by(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.fold' op expected at least one folded token, got 0}}
  tile.fold %k[%i, %i, %i] by 0 into %m : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @score_blocks_1_tile(%q: tensor<1x2x?x64xf32>, %s: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.score_blocks' op expected a tile of whole blocks of 16 rows and 1 columns, got [8, 8]}}
  tile.score_blocks dot %q, %q[%i, %i] at (%i, %i) tile [8, 8] rows 16 by sum columns 1 by sum group 1
      scale 1.0 into %s : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @score_blocks_2_group(%q: tensor<1x2x?x64xf32>, %s: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.score_blocks' op expected at least one head in a group, got 0}}
  tile.score_blocks dot %q, %q[%i, %i] at (%i, %i) tile [8, 8] rows 1 by sum columns 1 by sum group 0
      scale 1.0 into %s : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @choose_1_coordinates(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected 2 coordinates for scope head, got 3}}
  tile.choose top_k(16) %s at (%i, %i, %i) scope head into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @choose_2_number(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected either a constant or a value as the rule's number}}
  "tile.choose"(%s, %i, %ids, %counts) ({}, {}) {rule = 0 : i32, scope = 2 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0>}
      : (tensor<1x2x?x?xf32>, index, memref<1x2x?x?xi32>, memref<1x2x?xi32>) -> ()
  return
}

// -----

func.func @select_1_bytes(%mask: tensor<1x2x?x?xi32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.list_of_mask' op expected a mask of rank 4 with elements i8, got 'tensor<1x2x?x?xi32>'}}
  tile.list_of_mask %mask[%i, %i, %i] into %ids, %counts : tensor<1x2x?x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_1_pointers(%p: tensor<1x?xi32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.list_of_csr' op expected row pointers of rank 3 with elements i32, got 'tensor<1x?xi32>'}}
  tile.list_of_csr %p, %p[%i, %i, %i] into %ids, %counts
      : tensor<1x?xi32>, tensor<1x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @children_1(%ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.children' op expected at least one child of a node, got 0}}
  tile.children %ids, %counts[%b, %b, %b] by 0 columns %b into %i, %c
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_1_places(%ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %at: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.pick' op expected places of rank 4 with elements i32, got 'tensor<1x2x?xi32>'}}
  tile.pick %ids, %counts at %at[%b, %b, %b] into %i
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>
  return
}

// -----

func.func @select_1_without(%s: tensor<1x2x?xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %t: memref<1x2x?x?xf32>, %b: index) {
  // expected-error @+1 {{'tile.without' op expected scores of rank 4 with elements f16, bf16 or f32, got 'tensor<1x2x?xf32>'}}
  tile.without %s, %ids, %counts[%b, %b, %b] into %t
      : tensor<1x2x?xf32>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @select_2_force(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %t: memref<1x2x?x?xf32>, %b: index) {
  // expected-error @+1 {{'tile.score_list' op expected region force to be a function from ('index', 'index') to 'i1'}}
  tile.score_list %q, %q at %ids, %counts[%b, %b, %b] scale 0.125 into %t force {
  ^bb0(%r: index):
    %y = arith.constant true
    tile.yield %y : i1
  } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xf32>
  return
}

// -----

func.func @summarize_4_unit(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected a positive unit together with a number of tokens}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i) box [8] channels [0, 64] unit 0 of (%i) into %m[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @summarize_4_axes(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected partials of mean, sum, min or max of a sequence, got mean over 2 axes}}
  tile.summarize mean %k[%i, %i] at (%i, %i) of (%i, %i) box [8, 8] channels [0, 64] unit 4 of (%i) into %m[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @summarize_4_kind(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected partials of mean, sum, min or max of a sequence, got variance over 1 axes}}
  tile.summarize variance %k[%i, %i] at (%i) of (%i) box [8] channels [0, 64] into %m[%i] partial %m : memref<1x2x?x64xf32>
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @select_1_partial(%k: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %p: memref<1x2x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.summarize' op expected partials of rank 4 with elements f16, bf16 or f32, got 'memref<1x2x?xf32>'}}
  tile.summarize mean %k[%i, %i] at (%i) of (%i) box [8] channels [0, 64] into %m[%i] partial %p : memref<1x2x?xf32>
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @choose_3_scope(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %t: memref<1x2x?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected restricted scores with scope row, got batch}}
  tile.choose top_k(16) %s at (%i) scope batch into %ids, %counts restricted %t : memref<1x2x?x?xf32>
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_1_restricted(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected restricted scores of rank 4 with elements f16, bf16 or f32, got 'memref<1x2x?xi32>'}}
  tile.choose top_k(16) %s at (%i, %i, %i) scope row into %ids, %counts restricted %counts : memref<1x2x?xi32>
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_2_choose(%s: tensor<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>, %i: index) {
  // expected-error @+1 {{'tile.choose' op expected region within to be a function from ('index', 'index') to 'i1'}}
  tile.choose top_k(16) %s at (%i, %i, %i) scope row into %ids, %counts within {
  ^bb0(%r: index, %j: index):
    tile.yield %r : index
  } : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @refine_1(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.refine' op expected at least one child of a node and of a list, got 4 and 0}}
  tile.refine top_k(3) %q, %q at %ids, %counts[%b, %b, %b] by 4 columns %b most 0 scale 1.0 into %i, %c
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @refine_2(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.refine' op expected either a constant or a value as the rule's number}}
  "tile.refine"(%q, %q, %ids, %counts, %b, %b, %b, %b, %i, %c) ({}, {}) {rule = 0 : i32, by = 4 : i64, most = 8 : i64, scale = 1.0 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0>}
      : (tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, index, index, index, index, memref<1x2x?x?xi32>, memref<1x2x?xi32>) -> ()
  return
}

// -----

func.func @select_1_refine(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.refine' op expected scores of rank 4 with elements f16, bf16 or f32, got 'memref<1x2x?x?xi32>'}}
  tile.refine top_k(3) %q, %q at %ids, %counts[%b, %b, %b] by 4 columns %b most 8 scale 1.0 into %i, %c scores %i : memref<1x2x?x?xi32>
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_1_children(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.refine' op expected counts of children of rank 3 with elements i32, got 'memref<1x2x?x?xi32>'}}
  tile.refine top_k(3) %q, %q at %ids, %counts[%b, %b, %b] by 4 columns %b most 8 scale 1.0 into %i, %c children %i : memref<1x2x?x?xi32>
      child_counts %i : memref<1x2x?x?xi32>
      : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_2_refine(%q: tensor<1x2x?x64xf16>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  // expected-error @+1 {{'tile.refine' op expected region force to be a function from ('index', 'index') to 'i1'}}
  tile.refine top_k(3) %q, %q at %ids, %counts[%b, %b, %b] by 4 columns %b most 8 scale 1.0 into %i, %c force {
  ^bb0(%r: index, %j: index):
    tile.yield %r : index
  } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// -----

func.func @select_1_project(%x: tensor<1x4x?x8xf32>, %w: tensor<8x8xf32>, %f: memref<1x4x?x8xf32>, %b: index) {
  // expected-error @+1 {{'tile.project' op expected weights of rank 3 with elements f16, bf16 or f32, got 'tensor<8x8xf32>'}}
  tile.project %x, %w[%b, %b] at (%b, %b) tile [128, 8] into %f : tensor<1x4x?x8xf32>, tensor<8x8xf32>, memref<1x4x?x8xf32>
  return
}

// -----

func.func @project_1(%x: tensor<1x4x?x8xf32>, %w: tensor<1x8x8xf32>, %f: memref<1x4x?x8xf32>, %b: index) {
  // expected-error @+1 {{'tile.project' op expected a tile of rows and features, got [128]}}
  tile.project %x, %w[%b, %b] at (%b, %b) tile [128] into %f : tensor<1x4x?x8xf32>, tensor<1x8x8xf32>, memref<1x4x?x8xf32>
  return
}

// -----

func.func @project_2(%x: tensor<1x4x?x8xf16>, %w: tensor<1x8x8xf32>, %f: memref<1x4x?x8xf32>, %b: index) {
  // expected-error @+1 {{'tile.project' op expected tokens and weights of one element type, got 'tensor<1x4x?x8xf16>' and 'tensor<1x8x8xf32>'}}
  tile.project %x, %w[%b, %b] at (%b, %b) tile [128, 8] into %f : tensor<1x4x?x8xf16>, tensor<1x8x8xf32>, memref<1x4x?x8xf32>
  return
}

// -----

func.func @project_3(%x: tensor<1x4x?x?xf32>, %w: tensor<1x8x8xf32>, %f: memref<1x4x?x8xf32>, %b: index) {
  // expected-error @+1 {{'tile.project' op expected tokens and weights of a constant number of channels, got 'tensor<1x4x?x?xf32>' and 'tensor<1x8x8xf32>'}}
  tile.project %x, %w[%b, %b] at (%b, %b) tile [128, 8] into %f : tensor<1x4x?x?xf32>, tensor<1x8x8xf32>, memref<1x4x?x8xf32>
  return
}
