// RUN: lacuna-opt %s --split-input-file --verify-diagnostics --lacuna-select-to-tile

// Kernels have no control flow around them.
// expected-error @+1 {{'func.func' op expected a single block around select ops, got 2 blocks}}
func.func @blocks(%k: tensor<1x2x?x32xf32>) -> tensor<1x2x?x32xf32> {
  %m = select.summarize mean %k block [64] : tensor<1x2x?x32xf32> -> tensor<1x2x?x32xf32>
  cf.br ^bb1
^bb1:
  return %m : tensor<1x2x?x32xf32>
}

// -----

// Nor loops and branches.
func.func @inside(%k: tensor<1x2x?x32xf32>, %c: i1) -> tensor<1x2x?x32xf32> {
  %r = scf.if %c -> tensor<1x2x?x32xf32> {
    // expected-error @+1 {{'select.summarize' op expected to stand at the top level of a function}}
    %m = select.summarize mean %k block [64] : tensor<1x2x?x32xf32> -> tensor<1x2x?x32xf32>
    scf.yield %m : tensor<1x2x?x32xf32>
  } else {
    scf.yield %k : tensor<1x2x?x32xf32>
  }
  return %r : tensor<1x2x?x32xf32>
}

// -----

// Sizes of a domain from outside are not known here.
func.func @domain(%k: tensor<1x2x?x32xf32>, %d: !sparsity.domain<2>) -> tensor<1x2x?x32xf32> {
  // expected-error @+1 {{'select.summarize' op expected a domain that domain ops define, got one from outside}}
  %m = select.summarize mean %k block [8, 8] in %d
      : tensor<1x2x?x32xf32>, !sparsity.domain<2> -> tensor<1x2x?x32xf32>
  return %m : tensor<1x2x?x32xf32>
}
