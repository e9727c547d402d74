// RUN: lacuna-opt %s --lacuna-attn-to-counts --split-input-file --verify-diagnostics

// Without tile shapes there is nothing to count in tiles of.
func.func @no_tiles(%q: tensor<1x2x9x16xf32>) -> tensor<1x2x9x16xf32> {
  %set = sparsity.all
  // expected-error @+1 {{expected tile shapes, which lacuna-assign-tiles chooses}}
  %o = attn.attend %q, %q, %q over %set
    : tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32> -> tensor<1x2x9x16xf32>
  return %o : tensor<1x2x9x16xf32>
}

// -----

// Launches follow each other; a branch between them has no place.
// expected-error @+1 {{expected a single block around attention, got 2 blocks}}
func.func @two_blocks(%q: tensor<1x2x9x16xf32>) -> tensor<1x2x9x16xf32> {
  cf.br ^next
^next:
  return %q : tensor<1x2x9x16xf32>
}
