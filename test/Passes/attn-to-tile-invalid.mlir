// RUN: lacuna-opt %s --split-input-file --verify-diagnostics --lacuna-attn-to-tile

// Without tile shapes there is no kernel.
func.func @no_tiles(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  %set = sparsity.causal
  // expected-error @+1 {{'attn.attend' op expected tile shapes, which lacuna-assign-tiles chooses}}
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// A computation on tensors is nobody's kernel.
func.func @tensor_op(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  %set = sparsity.causal
  // expected-error @+1 {{expected only attention, sets and scalars next to attention, got 'arith.addf'}}
  %twice = arith.addf %q, %q : tensor<1x1x?x16xf32>
  %o = attn.attend %twice, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// Nor is a call, whatever it returns.
func.func private @width() -> index
func.func @call(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  // expected-error @+1 {{expected only attention, sets and scalars next to attention, got 'func.call'}}
  %left = func.call @width() : () -> index
  %set = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// Launches follow each other: attention stands at the top level.
func.func @nested(%q: tensor<1x1x?x16xf32>, %c: i1) -> tensor<1x1x?x16xf32> {
  %set = sparsity.causal
  // expected-error @+1 {{expected attention at the top level of a function, got it inside 'scf.if'}}
  %r = scf.if %c -> tensor<1x1x?x16xf32> {
    %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
        : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
    scf.yield %o : tensor<1x1x?x16xf32>
  } else {
    scf.yield %q : tensor<1x1x?x16xf32>
  }
  return %r : tensor<1x1x?x16xf32>
}

// -----

// A loop around it would be a schedule of its own.
// expected-error @+1 {{'func.func' op expected a single block around attention, got 2 blocks}}
func.func @blocks(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  llvm.br ^next
^next:
  %set = sparsity.causal
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// The axes of a grid have sizes, and only its domain knows them.
func.func @no_domain(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  %set = sparsity.all : !sparsity.set<2>
  // expected-error @+1 {{'attn.attend' op expected a set of type '!sparsity.set<2>' to name its domain, which gives the sizes of the axes}}
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2>
      {key_tile = array<i64: 8, 8>, query_tile = array<i64: 8, 8>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// A domain that comes from outside has no sizes either.
func.func @domain_argument(%q: tensor<1x1x?x16xf32>, %d: !sparsity.domain<2>) -> tensor<1x1x?x16xf32> {
  %set = sparsity.all in %d : !sparsity.domain<2>
  // expected-error @+1 {{'attn.attend' op expected a domain that domain ops define, got one from outside}}
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2>
      {key_tile = array<i64: 8, 8>, query_tile = array<i64: 8, 8>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// One set for the whole concatenation must be split first.
func.func @not_split(%q: tensor<1x1x?x16xf32>, %n: index) -> tensor<1x1x?x16xf32> {
  %text = sparsity.sequence [%n]
  %tokens = sparsity.concat %text, %text : !sparsity.domain<1>, !sparsity.domain<1>
  %set = sparsity.all in %tokens : !sparsity.domain<1, 1>
  // expected-error @+1 {{'attn.attend' op expected one set per pair of segments, which lacuna-split-segments makes}}
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<1, 1>
      {key_tile = array<i64: 64, 64>, query_tile = array<i64: 64, 64>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// -----

// What a launch would check is refused now when it is known now.
func.func @wrong_size(%q: tensor<1x1x20x16xf32>) -> tensor<1x1x20x16xf32> {
  %plane = sparsity.grid [4, 4]
  %set = sparsity.all in %plane : !sparsity.domain<2>
  // expected-error @+1 {{'attn.attend' op expected as many queries as the domain has tokens, got 20 queries and 16 tokens}}
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2>
      {key_tile = array<i64: 8, 8>, query_tile = array<i64: 8, 8>}
      : tensor<1x1x20x16xf32>, tensor<1x1x20x16xf32>, tensor<1x1x20x16xf32> -> tensor<1x1x20x16xf32>
  return %o : tensor<1x1x20x16xf32>
}

// -----

// Fewer widths than heads.
func.func @per_head(%q: tensor<1x4x?x16xf32>, %widths: tensor<3xindex>) -> tensor<1x4x?x16xf32> {
  %set = sparsity.window left(%widths : tensor<3xindex>) right(0)
  // expected-error @+1 {{'attn.attend' op expected a value for each query head, got 3 values and 4 heads}}
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>, query_tile = array<i64: 64>}
      : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
