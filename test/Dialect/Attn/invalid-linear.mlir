// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/attn.md and has its label in its name.

func.func @linear_1_block(%k: tensor<?x2x?x64xf32>) {
  // expected-error @+1 {{'attn.linear_state' op expected a block of keys from 1 to 1073741824, got 0}}
  %h, %z = attn.linear_state relu %k, %k block [0]
      : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
  return
}

// -----

func.func @linear_1_fold(%h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  // expected-error @+1 {{'attn.linear_fold' op expected a number of summed states from 1 to 1073741824, got -2}}
  %p, %pz = attn.linear_fold %h, %z by -2 : tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
  return
}

// -----

func.func @linear_1_tile(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected a tile of rows from 1 to 1073741824, got 0}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set query [0]
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_2_states(%k: tensor<?x2x300x64xf32>, %v: tensor<?x2x300x32xf32>) {
  // expected-error @+1 {{'attn.linear_state' op expected states of type 'tensor<?x2x3x64x32xf32>', got 'tensor<?x2x4x64x32xf32>'}}
  %h, %z = attn.linear_state relu %k, %v block [128]
      : tensor<?x2x300x64xf32>, tensor<?x2x300x32xf32> -> tensor<?x2x4x64x32xf32>, tensor<?x2x4x64xf32>
  return
}

// -----

func.func @linear_2_sums(%h: tensor<?x2x3x64x64xf32>, %z: tensor<?x2x3x64xf32>) {
  // expected-error @+1 {{'attn.linear_prefix' op expected sums of type 'tensor<?x2x4x64x64xf32>', got 'tensor<?x2x3x64x64xf32>'}}
  %p, %pz = attn.linear_prefix %h, %z : tensor<?x2x3x64x64xf32>, tensor<?x2x3x64xf32>
      -> tensor<?x2x3x64x64xf32>, tensor<?x2x3x64xf32>
  return
}

// -----

func.func @linear_2_output(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected an output of type 'tensor<?x8x?x64xf32>', got 'tensor<?x8x?x32xf32>'}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_2_lse(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected an lse of type 'tensor<?x8x?xf32>', got 'tensor<?x4x?xf32>'}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x4x?xf32>
  return
}

// -----

func.func @linear_3_channels(%h: tensor<?x2x?x?x64xf32>, %z: tensor<?x2x?x64xf32>) {
  // expected-error @+1 {{'attn.linear_prefix' op expected states to have a constant number of channels from 1 to 512 on both sides, got 'tensor<?x2x?x?x64xf32>'}}
  %p, %pz = attn.linear_prefix %h, %z : tensor<?x2x?x?x64xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x?x64xf32>, tensor<?x2x?x64xf32>
  return
}

// -----

func.func @linear_3_norms(%h: tensor<?x2x?x64x32xf32>, %z: tensor<?x2x?x32xf32>) {
  // expected-error @+1 {{'attn.linear_prefix' op expected norms of type 'tensor<?x2x?x64xf32>', got 'tensor<?x2x?x32xf32>'}}
  %p, %pz = attn.linear_prefix %h, %z : tensor<?x2x?x64x32xf32>, tensor<?x2x?x32xf32>
      -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x32xf32>
  return
}

// -----

func.func @linear_4_length(%k: tensor<?x2x300x64xf32>, %v: tensor<?x2x200x64xf32>) {
  // expected-error @+1 {{'attn.linear_state' op expected key and value to share batch, heads and length, got 'tensor<?x2x300x64xf32>' and 'tensor<?x2x200x64xf32>'}}
  %h, %z = attn.linear_state relu %k, %v block [128]
      : tensor<?x2x300x64xf32>, tensor<?x2x200x64xf32> -> tensor<?x2x3x64x64xf32>, tensor<?x2x3x64xf32>
  return
}

// -----

func.func @linear_4_elements(%k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf16>) {
  // expected-error @+1 {{'attn.linear_state' op expected key and value of one element type, got 'f32' and 'f16'}}
  %h, %z = attn.linear_state relu %k, %v block [128]
      : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf16> -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
  return
}

// -----

func.func @linear_5_channels(%q: tensor<?x8x?x32xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected query and states to share the batch and the key channels, got 'tensor<?x8x?x32xf32>' and 'tensor<?x2x?x64x64xf32>'}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x32xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_5_heads(%q: tensor<?x8x?x64xf32>, %h: tensor<?x3x?x64x64xf32>, %z: tensor<?x3x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected the number of query heads to be a multiple of the number of heads of states, got 8 and 3}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x3x?x64x64xf32>, tensor<?x3x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_5_elements(%q: tensor<?x8x?x64xf16>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.linear_read' op expected query and output of one element type, got 'f16' and 'f32'}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf16>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_6(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %plane = sparsity.grid [8, 8]
  %set = sparsity.all in %plane : !sparsity.domain<2>
  // expected-error @+1 {{'attn.linear_read' op expected a set over a sequence of rows and one of states, got '!sparsity.set<2>'}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set : !sparsity.set<2>
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_7(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>, %set: !sparsity.set<1>) {
  // expected-error @+1 {{'attn.linear_read' op expected a set that set ops define, got one from outside}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @linear_8(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x64xf32>, %z: tensor<?x2x?x64xf32>) {
  %set = sparsity.dyadic fenwick base 128 columns 1
  // expected-error @+1 {{'attn.linear_read' op expected a set of states without columns of a hierarchy}}
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return
}

// -----

func.func @gate_1() {
  // expected-error @+1 {{'attn.gated_merge' op expected at least one part}}
  %o = "attn.gated_merge"() : () -> tensor<1x8x?x64xf32>
  return
}

// -----

func.func @gate_2(%o: tensor<1x8x?x64xf32>, %p: tensor<1x8x?x32xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{'attn.gated_merge' op expected parts of the result's type and gates of one type, got 'tensor<1x8x?x32xf32>' and 'tensor<8xf32>'}}
  %m = "attn.gated_merge"(%o, %p, %g, %g)
      : (tensor<1x8x?x64xf32>, tensor<1x8x?x32xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x?x64xf32>
  return
}

// -----

func.func @gate_3(%o: tensor<1x8x?x64xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'attn.gated_merge' op expected a gate per row or per head, of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %m = attn.gated_merge (%o, %g) : tensor<1x8x?x64xf32>, tensor<4xf32>
  return
}
