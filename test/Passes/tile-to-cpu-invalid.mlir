// RUN: lacuna-opt %s --lacuna-tile-to-cpu --split-input-file --verify-diagnostics

// A kernel that still has sets comes too early: loops and masks over them are expanded first.
tile.kernel @set attributes {inputs = 1 : i64, outputs = 1 : i64} plan {
^bb0(%q: tensor<1x2x64x16xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1)
} body {
^bb0(%q: tensor<1x2x64x16xf32>, %o: memref<1xi8>, %t: index):
  %c0 = arith.constant 0 : index
  %n = arith.constant 64 : index
  // expected-error @+1 {{expected an op that the CPU target can run here, got 'sparsity.causal'}}
  %set = sparsity.causal
  %class = tile.classify[%c0, %c0] over %set : !sparsity.set<1> query(%t) of(%n) box [64] key(%t) of(%n) box [64]
  memref.store %class, %o[%c0] : memref<1xi8>
  tile.end
}

// -----

// A slice would be a tensor of its own, for which there is no memory.
tile.kernel @slice attributes {inputs = 1 : i64, outputs = 1 : i64} plan {
^bb0(%q: tensor<1x2x64x16xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1)
} body {
^bb0(%q: tensor<1x2x64x16xf32>, %o: memref<1xindex>, %t: index):
  // expected-error @+1 {{expected an op that the CPU target can run here, got 'tensor.extract_slice'}}
  %s = tensor.extract_slice %q[0, 0, 0, 0] [1, 1, 64, 16] [1, 1, 1, 1] : tensor<1x2x64x16xf32> to tensor<1x1x64x16xf32>
  %d = tensor.dim %s, %t : tensor<1x1x64x16xf32>
  memref.store %d, %o[%t] : memref<1xindex>
  tile.end
}
