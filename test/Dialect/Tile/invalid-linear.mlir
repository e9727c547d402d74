// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/tile.md and has its label in its name.

func.func @linear_1(%k: tensor<1x2x?xf32>, %h: memref<1x2x?x64x32xf32>, %z: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.linear_state' op expected a key of rank 4 with a constant number of floats in a row, got 'tensor<1x2x?xf32>'}}
  tile.linear_state softmax %k, %k[%i, %i, %i] size 128 at %i width 32 into %h, %z
      : tensor<1x2x?xf32>, tensor<1x2x?xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @linear_2(%h: tensor<1x2x?x64x32xf32>, %z: tensor<1x2x?x32xf32>, %m: memref<1x2x?x64x32xf32>, %n: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.linear_prefix' op expected states and norms of f32 with the same key channels, got 'tensor<1x2x?x64x32xf32>' and 'tensor<1x2x?x32xf32>'}}
  tile.linear_prefix %h, %z[%i, %i, %i] into %m, %n
      : tensor<1x2x?x64x32xf32>, tensor<1x2x?x32xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @linear_3(%h: tensor<1x2x?x64x32xf32>, %z: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64x32xf32>, %n: memref<1x2x?x64xf32>, %i: index) {
  // expected-error @+1 {{'tile.linear_fold' op expected positive extents, got [0]}}
  tile.linear_fold %h, %z[%i, %i, %i] by 0 into %m, %n
      : tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  return
}

// -----

func.func @linear_4(%q: tensor<1x2x?x64xf32>, %h: tensor<1x2x?x64x32xf32>, %z: tensor<1x2x?x64xf32>, %o: memref<1x2x?x32xf32>,
                    %l: memref<1x2x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.linear_read' op expected a tile of rows and value channels, got 1 extents}}
  tile.linear_read elu %q, %h, %z[%i, %i] at (%i, %i) tile [64] first %i from %i to %i into %o, %l member {
  ^bb0(%r: index, %c: index):
    %live = arith.cmpi eq, %r, %c : index
    tile.yield %live : i1
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x32xf32>, memref<1x2x?xf32>
  return
}

// -----

func.func @linear_5(%q: tensor<1x2x?x64xf32>, %h: tensor<1x2x?x64x32xf32>, %z: tensor<1x2x?x64xf32>, %o: memref<1x2x?x32xf32>,
                    %l: memref<1x2x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.linear_read' op expected region member to be a function from a row and a state to i1}}
  tile.linear_read elu %q, %h, %z[%i, %i] at (%i, %i) tile [64, 32] first %i from %i to %i into %o, %l member {
  ^bb0(%c: index):
    %live = arith.cmpi eq, %c, %c : index
    tile.yield %live : i1
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x32xf32>, memref<1x2x?xf32>
  return
}

// -----

func.func @linear_6(%v: tensor<1x2x?x32xf32>, %g: tensor<2xf32>, %o: memref<1x2x?x32xf32>, %i: index) {
  // expected-error @+1 {{'tile.gated_merge' op expected a gate for each of at least one part, got 2 parts and 1 gates}}
  tile.gated_merge (%v, %v : tensor<1x2x?x32xf32>, tensor<1x2x?x32xf32>), (%g : tensor<2xf32>) [%i, %i] at %i rows 64
      into %o : memref<1x2x?x32xf32>
  return
}
