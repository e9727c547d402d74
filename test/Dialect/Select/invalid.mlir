// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/select.md and has its label in its name.

func.func @shape_1_encoding(%k: tensor<1x1x?x64xf32, "blocked">) {
  // expected-error @+1 {{'select.summarize' op expected tokens without an encoding, got 'tensor<1x1x?x64xf32, "blocked">'}}
  %m = select.summarize mean %k block [8] : tensor<1x1x?x64xf32, "blocked"> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @shape_2_dynamic_channels(%k: tensor<1x1x?x?xf32>) {
  // expected-error @+1 {{'select.summarize' op expected tokens to have a constant number of channels from 1 to 65536, got 'tensor<1x1x?x?xf32>'}}
  %m = select.summarize mean %k block [8] : tensor<1x1x?x?xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @shape_2_no_channels(%k: tensor<1x1x?x0xf32>) {
  // expected-error @+1 {{'select.fold' op expected tokens to have a constant number of channels from 1 to 65536, got 'tensor<1x1x?x0xf32>'}}
  %m = select.fold %k by 2 : tensor<1x1x?x0xf32> -> tensor<1x1x?x0xf32>
  return
}

// -----

// Long rows are rows of folded tokens; longer ones are nothing.
func.func @shape_2_channels_of_a_fold(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.fold' op expected a result to have a constant number of channels from 1 to 65536, got 'tensor<1x1x?x131072xf32>'}}
  %m = select.fold %k by 2048 : tensor<1x1x?x64xf32> -> tensor<1x1x?x131072xf32>
  return
}

// -----

func.func @shape_2_query_rows(%q: tensor<1x1x?x?xf32>, %k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected query rows to have a constant number of channels from 1 to 65536, got 'tensor<1x1x?x?xf32>'}}
  %s = select.score dot %q, %k : tensor<1x1x?x?xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @shape_1_key_rows(%q: tensor<1x1x?x64xf32>, %k: tensor<1x1x?x64xf32, 1>) {
  // expected-error @+1 {{'select.log_sum_exp' op expected key rows without an encoding, got}}
  %s = select.log_sum_exp %q, %k : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32, 1> -> tensor<1x1x?xf32>
  return
}

// -----

// The last block is shorter, but it is one.
func.func @shape_3_blocks(%k: tensor<1x1x17x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected a result with extent 3 on axis 2, got 'tensor<1x1x2x64xf32>'}}
  %m = select.summarize mean %k block [8] : tensor<1x1x17x64xf32> -> tensor<1x1x2x64xf32>
  return
}

// -----

// A sum with the block's extent less one would not fit.
func.func @shape_3_huge(%k: tensor<1x1x9223372036854775807x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected a result with extent 1152921504606846976 on axis 2, got 'tensor<1x1x2x64xf32>'}}
  %m = select.summarize mean %k block [8] : tensor<1x1x9223372036854775807x64xf32> -> tensor<1x1x2x64xf32>
  return
}

// -----

func.func @shape_3_channels(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected a result with extent 1 on axis 3, got 'tensor<1x1x?x64xf32>'}}
  %m = select.summarize radius %k block [8] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @shape_3_fold(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.fold' op expected a result with extent 256 on axis 3, got 'tensor<1x1x?x64xf32>'}}
  %m = select.fold %k by 4 : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @shape_3_scores(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected scores with extent 2 on axis 1, got 'tensor<1x8x?x?xf32>'}}
  %s = select.score dot %q, %q group 4 : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @shape_3_lse(%q: tensor<1x8x?x64xf32>, %l: tensor<1x4x?xf32>) {
  // expected-error @+1 {{'select.score' op expected an lse with extent 8 on axis 1, got 'tensor<1x4x?xf32>'}}
  %s = select.score dot %q, %q lse %l : tensor<1x4x?xf32>
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @shape_3_weights(%q: tensor<1x8x?x64xf32>, %l: tensor<2x8x?xf32>) {
  // expected-error @+1 {{'select.score' op expected weights with extent 1 on axis 0, got 'tensor<2x8x?xf32>'}}
  %s = select.score dot %q, %q weights %l : tensor<2x8x?xf32>
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @shape_3_log_sum_exp(%q: tensor<1x8x32x64xf32>) {
  // expected-error @+1 {{'select.log_sum_exp' op expected an lse with extent 32 on axis 2, got 'tensor<1x8x16xf32>'}}
  %l = select.log_sum_exp %q, %q : tensor<1x8x32x64xf32>, tensor<1x8x32x64xf32> -> tensor<1x8x16xf32>
  return
}

// -----

func.func @block_1_tokens(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected block extents from 1 to 65536, got 0}}
  %m = select.summarize mean %k block [0] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @block_1_rows(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a block of rows from 1 to 65536, got -1}}
  %s = select.score dot %q, %q rows -1 by max : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @block_1_columns(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a block of columns from 1 to 65536, got 65537}}
  %s = select.score dot %q, %q columns 65537 by max
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @block_1_group(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a group of heads from 1 to 65536, got 0}}
  %s = select.score dot %q, %q group 0 : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @block_1_fold(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.fold' op expected a number of folded tokens from 1 to 65536, got 0}}
  %m = select.fold %k by 0 : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @set_1_within(%s: tensor<1x1x?x?xf32>, %n: index) {
  %grid = sparsity.grid [%n, 8]
  %all = sparsity.causal in %grid : !sparsity.domain<2>
  // expected-error @+1 {{'select.restrict' op expected a set over sequences, got '!sparsity.set<2>'}}
  %r = select.restrict %s within %all : !sparsity.set<2> : tensor<1x1x?x?xf32>
  return
}

// -----

func.func @set_1_force(%s: tensor<1x1x?x?xf32>, %n: index) {
  %grid = sparsity.grid [%n, 8]
  %all = sparsity.causal in %grid : !sparsity.domain<2>
  // expected-error @+1 {{'select.restrict' op expected a set over sequences, got '!sparsity.set<2>'}}
  %r = select.restrict %s force %all : !sparsity.set<2> : tensor<1x1x?x?xf32>
  return
}

// -----

func.func @set_1_score(%q: tensor<1x1x?x64xf32>, %n: index) {
  %grid = sparsity.grid [%n, 8]
  %all = sparsity.causal in %grid : !sparsity.domain<2>
  // expected-error @+1 {{'select.score' op expected a set over sequences, got '!sparsity.set<2>'}}
  %s = select.score dot %q, %q over %all : !sparsity.set<2>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @summarize_1_segments(%k: tensor<1x1x?x64xf32>, %n: index) {
  %text = sparsity.sequence [%n]
  %pair = sparsity.concat %text, %text : !sparsity.domain<1>, !sparsity.domain<1>
  // expected-error @+1 {{'select.summarize' op expected a domain of one segment, got '!sparsity.domain<1, 1>'}}
  %m = select.summarize mean %k block [8] in %pair
      : tensor<1x1x?x64xf32>, !sparsity.domain<1, 1> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @summarize_2_axes(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected a block with one extent for each of 1 axes, got 2}}
  %m = select.summarize mean %k block [8, 8] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @summarize_2_no_axes(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected a block with one extent for each of 1 axes, got 0}}
  %m = select.summarize mean %k block [] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @summarize_2_size(%k: tensor<1x1x?x64xf32>, %n: index) {
  %grid = sparsity.grid [%n, %n, %n]
  // expected-error @+1 {{'select.summarize' op expected a block of at most 65536 tokens, got 131072}}
  %m = select.summarize mean %k block [64, 64, 32] in %grid
      : tensor<1x1x?x64xf32>, !sparsity.domain<3> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @summarize_3_order(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected channels [first, last] with 0 <= first < last <= 64, got [32, 32]}}
  %m = select.summarize mean %k block [8] channels [32, 32] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @summarize_3_length(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.summarize' op expected channels [first, last] with 0 <= first < last <= 64, got [32]}}
  %m = select.summarize mean %k block [8] channels [32] : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

func.func @fold_1_elements(%k: tensor<1x1x?x64xf32>) {
  // expected-error @+1 {{'select.fold' op expected the elements unchanged, got 'f32' and 'f16'}}
  %m = select.fold %k by 2 : tensor<1x1x?x64xf32> -> tensor<1x1x?x128xf16>
  return
}

// -----

func.func @score_1_batch(%q: tensor<1x8x?x64xf32>, %k: tensor<2x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected query and key rows of one batch, element type and number of channels, got 'tensor<1x8x?x64xf32>' and 'tensor<2x8x?x64xf32>'}}
  %s = select.score dot %q, %k : tensor<1x8x?x64xf32>, tensor<2x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_1_elements(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf16>) {
  // expected-error @+1 {{'select.log_sum_exp' op expected query and key rows of one batch, element type and number of channels, got}}
  %s = select.log_sum_exp %q, %k : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf16> -> tensor<1x8x?xf32>
  return
}

// -----

func.func @score_2_heads(%q: tensor<1x8x?x64xf32>, %k: tensor<1x3x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected the number of query heads to be a multiple of the number of key heads, got 8 and 3}}
  %s = select.score dot %q, %k : tensor<1x8x?x64xf32>, tensor<1x3x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_2_no_key_heads(%q: tensor<1x8x?x64xf32>, %k: tensor<1x0x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected the number of query heads to be a multiple of the number of key heads, got 8 and 0}}
  %s = select.score dot %q, %k : tensor<1x8x?x64xf32>, tensor<1x0x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_3_scale(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.log_sum_exp' op expected a finite scale}}
  %l = "select.log_sum_exp"(%q, %q) {scale = 0x7F800000 : f32} : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>) -> tensor<1x8x?xf32>
  return
}

// -----

func.func @score_4_missing(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a companion tensor for kinds other than dot and for these only, got kind ball}}
  %s = select.score ball %q, %q : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_4_unused(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a companion tensor for kinds other than dot and for these only, got kind dot}}
  %s = select.score dot %q, %q with %q : tensor<1x8x?x64xf32>
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_4_shape(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a companion with extent 1 on axis 3, got 'tensor<1x8x?x64xf32>'}}
  %s = select.score ball %q, %q with %q : tensor<1x8x?x64xf32>
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_5_group(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected groups that divide the query heads, got 8 heads in groups of 3}}
  %s = select.score dot %q, %q group 3 : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x?x?x?xf32>
  return
}

// -----

func.func @score_6_arguments(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected a function of (score, batch, head, query position, key position) with types ('f32', 'index', 'index', 'index', 'index'), got ('f32', 'index')}}
  %s = select.score dot %q, %q function (%x, %b) {
    select.yield %x : f32
  } : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_7_end(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{'select.score' op expected the function to end with select.yield}}
  %s = select.score dot %q, %q function (%x, %b, %h, %i, %j) {
    llvm.unreachable
  } : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @score_8_effects(%q: tensor<1x8x?x64xf32>, %m: memref<4xf32>) {
  %s = select.score dot %q, %q function (%x, %b, %h, %i, %j) {
    // expected-error @+1 {{'memref.store' op expected no side effects in a function of scores}}
    memref.store %x, %m[%b] : memref<4xf32>
    select.yield %x : f32
  } : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

func.func @restrict_1(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.restrict' op expected a set to restrict to or a set to force}}
  %r = select.restrict %s : tensor<1x8x?x?xf32>
  return
}

// -----

func.func @choose_1_counts(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.choose' op expected counts with extent 8 on axis 1, got 'tensor<1x4x?xi32>'}}
  %0:2 = select.choose top_k(4) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x4x?xi32>
  return
}

// -----

func.func @choose_1_ids(%s: tensor<1x8x16x?xf32>) {
  // expected-error @+1 {{'select.choose' op expected ids with extent 16 on axis 2, got 'tensor<1x8x8x?xi32>'}}
  %0:2 = select.choose top_k(4) %s : tensor<1x8x16x?xf32> -> tensor<1x8x8x?xi32>, tensor<1x8x16xi32>
  return
}

// -----

func.func @choose_2_both(%s: tensor<1x8x?x?xf32>, %k: index) {
  // expected-error @+1 {{'select.choose' op expected either a constant or a value as the rule's number}}
  %0:2 = "select.choose"(%s, %k) {rule = 0 : i32, constant = 4.0 : f64}
      : (tensor<1x8x?x?xf32>, index) -> (tensor<1x8x?x?xi32>, tensor<1x8x?xi32>)
  return
}

// -----

func.func @choose_3_float(%s: tensor<1x8x?x?xf32>, %k: f32) {
  // expected-error @+1 {{'select.choose' op expected an index or a tensor of i32 for rule top_k, got 'f32'}}
  %0:2 = select.choose top_k(%k : f32) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_3_whole(%s: tensor<1x8x?x?xf32>, %k: index) {
  // expected-error @+1 {{'select.choose' op expected an f32 for rule top_p, got 'index'}}
  %0:2 = select.choose top_p(%k) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_3_scope(%s: tensor<1x8x?x?xf32>, %k: tensor<1x8x?xi32>) {
  // expected-error @+1 {{'select.choose' op expected one number for a scope other than row}}
  %0:2 = select.choose top_k(%k : tensor<1x8x?xi32>) %s scope head
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_3_rows(%s: tensor<1x8x?x?xf32>, %k: tensor<1x4x?xi32>) {
  // expected-error @+1 {{'select.choose' op expected a number per row with extent 8 on axis 1, got 'tensor<1x4x?xi32>'}}
  %0:2 = select.choose top_k(%k : tensor<1x4x?xi32>) %s
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_4_fraction(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.choose' op expected a whole number from 0 for top_k, a number from 0 to 1 for share and top_p, else a finite one, got 4.5}}
  %0:2 = select.choose top_k(4.5) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_4_negative(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{else a finite one, got -1.000000e+00 for top_k}}
  %0:2 = select.choose top_k(-1) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_4_share(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{else a finite one, got 1.5}}
  %0:2 = select.choose share(1.5) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_4_infinite(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{for near_max}}
  %0:2 = "select.choose"(%s) {rule = 4 : i32, constant = 0x7FF0000000000000 : f64}
      : (tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xi32>, tensor<1x8x?xi32>)
  return
}

// -----

func.func @choose_5_bounds(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.choose' op expected 0 <= floor <= cap <= 2147483647, got floor 9 and cap 8}}
  %0:2 = select.choose top_p(0.5) %s floor 9 cap 8
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @choose_6_scope(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.choose' op expected scope row for rule above}}
  %0:2 = select.choose above(0.5) %s scope batch
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @sample_1(%s: tensor<1x8x?x?xf32>, %seed: index) {
  // expected-error @+1 {{'select.sample' op expected a finite number of at least 0}}
  %0:3 = select.sample(-1) %s seed %seed
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>, tensor<1x8x?x?xf32>
  return
}

// -----

func.func @choose_1_sample(%s: tensor<1x8x?x?xf32>, %seed: index) {
  // expected-error @+1 {{'select.sample' op expected weights with extent 32 on axis 3, got 'tensor<1x8x?x16xf32>'}}
  %0:3 = select.sample(4) %s seed %seed
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x32xi32>, tensor<1x8x?xi32>, tensor<1x8x?x16xf32>
  return
}

// -----

func.func @margin_1(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.margin' op expected a number from 1 to 2147483647, got 0}}
  %m = select.margin(0) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?xf32>
  return
}

// -----

func.func @shape_3_margin(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{'select.margin' op expected a margin with extent 8 on axis 1, got 'tensor<1x4x?xf32>'}}
  %m = select.margin(4) %s : tensor<1x8x?x?xf32> -> tensor<1x4x?xf32>
  return
}

// -----

func.func @gate_1(%m: tensor<1x8x?xf32>) {
  // expected-error @+1 {{'select.gate' op expected a share from 0 to 1}}
  %k = select.gate(2) %m low 1 high 2 : tensor<1x8x?xf32> -> tensor<1x8x?xi32>
  return
}

// -----

func.func @gate_2(%m: tensor<1x8x?xf32>) {
  // expected-error @+1 {{'select.gate' op expected numbers from 0 to 2147483647, got -1}}
  %k = select.gate(0.5) %m low -1 high 2 : tensor<1x8x?xf32> -> tensor<1x8x?xi32>
  return
}

// -----

func.func @shape_3_gate(%m: tensor<1x8x?xf32>) {
  // expected-error @+1 {{'select.gate' op expected numbers with extent 8 on axis 1, got 'tensor<1x4x?xi32>'}}
  %k = select.gate(0.5) %m low 1 high 2 : tensor<1x8x?xf32> -> tensor<1x4x?xi32>
  return
}

// -----

// What is no number is no constant.
func.func @syntax_constant(%s: tensor<1x8x?x?xf32>) {
  // expected-error @+1 {{expected floating point literal}}
  %0:2 = select.choose top_k(true) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// -----

func.func @syntax_reduction(%q: tensor<1x8x?x64xf32>) {
  // expected-error @+1 {{expected sum, mean, max or log_sum_exp, got min}}
  %s = select.score dot %q, %q rows 8 by min : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

// Blocks of a grid come in no order that tokens are appended in.
func.func @summarize_4_from(%k: tensor<1x2x256x64xf16>, %n: index) {
  %d = sparsity.grid [16, 16]
  // expected-error @+1 {{'select.summarize' op expected tokens of a sequence where blocks are left out, got '!sparsity.domain<2>'}}
  %0 = select.summarize mean %k block [4, 4] from(%n) in %d
      : tensor<1x2x256x64xf16>, !sparsity.domain<2> -> tensor<1x2x?x64xf16>
  return
}

// -----

func.func @summarize_4_whole(%k: tensor<1x2x256x64xf16>) {
  %d = sparsity.grid [16, 16]
  // expected-error @+1 {{'select.summarize' op expected tokens of a sequence where blocks are left out, got '!sparsity.domain<2>'}}
  %0 = select.summarize mean %k block [4, 4] whole in %d
      : tensor<1x2x256x64xf16>, !sparsity.domain<2> -> tensor<1x2x?x64xf16>
  return
}

// -----

func.func @shape_3_whole(%k: tensor<1x2x100x64xf16>) {
  // expected-error @+1 {{'select.summarize' op expected a result with extent 12 on axis 2, got 'tensor<1x2x13x64xf16>'}}
  %0 = select.summarize mean %k block [8] whole : tensor<1x2x100x64xf16> -> tensor<1x2x13x64xf16>
  return
}
