// RUN: lacuna-opt %s --split-input-file --verify-diagnostics --lacuna-expand-hierarchies

// Each function breaks one rule of the pass and has its label in its name.

// All columns of a node have as many keys.
func.func @hierarchy_1_columns(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  // expected-error @+1 {{'sparsity.dyadic' op expected columns that divide the base, got 24 for blocks of 128}}
  %set = sparsity.dyadic fenwick base 128 levels 2 columns 24 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// -----

// All heads see the same columns.
func.func @hierarchy_2_near(%q: tensor<1x2x?x64xf32>, %n: tensor<2xi32>) -> tensor<1x2x?x64xf32> {
  // expected-error @+1 {{'sparsity.dyadic' op expected one near window for all heads with columns, got 'tensor<2xi32>'}}
  %set = sparsity.dyadic fenwick base 128 near(%n : tensor<2xi32>) levels 2 columns 32 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// -----

// The hierarchy is seen as a whole.
func.func @hierarchy_3_only(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  // expected-error @+1 {{'sparsity.dyadic' op expected all levels with columns}}
  %set = sparsity.dyadic fenwick base 128 levels 2 only [-1, 0] columns 32 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// -----

// From both sides each level is made from keys: the last node of a sequence is not whole.
func.func @hierarchy_4_width(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  // expected-error @+1 {{'sparsity.dyadic' op expected columns of at most 65536 keys where nodes are seen from both sides, got 131072}}
  %set = sparsity.dyadic distance base 65536 levels 2 columns 1
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// -----

// A sink would count once in each part.
func.func @hierarchy_5_sinks(%q: tensor<1x2x?x64xf32>, %sinks: tensor<2xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic fenwick base 128 levels 2 columns 32 from_start
  // expected-error @+1 {{'attn.attend' op expected neither sinks nor a score function over columns}}
  %o = attn.attend %q, %q, %q over %set sinks %sinks : tensor<2xf32>
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// -----

// A score function is about keys.
func.func @hierarchy_5_score(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic fenwick base 128 levels 2 columns 32 from_start
  // expected-error @+1 {{'attn.attend' op expected neither sinks nor a score function over columns}}
  %o = attn.attend %q, %q, %q over %set score (%s, %b, %h, %i, %j) {
    %t = math.tanh %s : f32
    attn.yield %t : f32
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}
