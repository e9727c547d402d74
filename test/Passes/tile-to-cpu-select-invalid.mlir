// RUN: lacuna-opt %s --lacuna-tile-to-cpu --verify-diagnostics

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
