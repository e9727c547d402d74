// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-cpu --verify-diagnostics

// What rules count by is a number or a tensor of numbers.
tile.kernel @choice attributes {inputs = 2, outputs = 2} plan {
^bb0(%s: tensor<?x4x?x?xf32>, %n: i1):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1, %c1, %c1, %c1, %c1, %c1, %c1)
} body {
^bb0(%s: tensor<?x4x?x?xf32>, %n: i1, %ids: memref<?x4x?x?xi32>, %counts: memref<?x4x?xi32>, %t: index):
  // expected-error @+1 {{expected an index, an f32 or a tensor as the rule's number, got 'i1'}}
  tile.choose top_k(%n : i1) %s at(%t, %t, %t) scope row into %ids, %counts
      : tensor<?x4x?x?xf32>, memref<?x4x?x?xi32>, memref<?x4x?xi32>
  tile.end
}

// -----

// What passes for a GPU make of several kernels.
tile.kernel @restricted attributes {inputs = 1, outputs = 2} plan {
^bb0(%s: tensor<?x4x?x?xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1, %c1, %c1, %c1, %c1, %c1, %c1)
} body {
^bb0(%s: tensor<?x4x?x?xf32>, %ids: memref<?x4x?x?xi32>, %counts: memref<?x4x?xi32>, %t: index):
  // expected-error @+1 {{expected scores that are restricted on their own on a CPU}}
  tile.choose top_k(3) %s at(%t, %t, %t) scope row into %ids, %counts within {
  ^bb0(%i: index, %j: index):
    %y = arith.cmpi sle, %j, %i : index
    tile.yield %y : i1
  } : tensor<?x4x?x?xf32>, memref<?x4x?x?xi32>, memref<?x4x?xi32>
  tile.end
}

// -----

tile.kernel @shared attributes {inputs = 1, outputs = 1} plan {
^bb0(%k: tensor<?x4x?x64xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%k: tensor<?x4x?x64xf32>, %m: memref<?x4x?x64xf32>, %t: index):
  // expected-error @+1 {{expected summaries of tokens themselves on a CPU}}
  tile.summarize mean %k[%t, %t] at(%t) of(%t) box [4] channels [0, 64] unit 32 of(%t) into %m[%t]
      : tensor<?x4x?x64xf32>, memref<?x4x?x64xf32>
  tile.end
}

// -----

tile.kernel @refined attributes {inputs = 3, outputs = 2} plan {
^bb0(%q: tensor<?x4x?x64xf32>, %ids: tensor<?x4x?x?xi32>, %counts: tensor<?x4x?xi32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1, %c1, %c1, %c1, %c1, %c1, %c1)
} body {
^bb0(%q: tensor<?x4x?x64xf32>, %ids: tensor<?x4x?x?xi32>, %counts: tensor<?x4x?xi32>, %i: memref<?x4x?x?xi32>, %c: memref<?x4x?xi32>, %t: index):
  // expected-error @+1 {{expected an op that the CPU target can run here, got 'tile.refine'}}
  tile.refine top_k(3) %q, %q at %ids, %counts[%t, %t, %t] by 4 columns %t most 8 scale 1.0 into %i, %c
      : tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, memref<?x4x?x?xi32>, memref<?x4x?xi32>
  tile.end
}
