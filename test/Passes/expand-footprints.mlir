// RUN: lacuna-opt %s --allow-unregistered-dialect --lacuna-expand-masks --lacuna-expand-footprints --canonicalize --cse --split-input-file | FileCheck %s

// Full tiles come first and their loop has no mask; the partial ones on both
// sides of them follow, each with a mask. Bounds are functions of the query
// tile, the width and the length; the set is gone.
// CHECK-LABEL: tile.kernel @window
// CHECK-NOT:     sparsity.
// CHECK:         %[[FULL:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 iter_args
// CHECK-NOT:       tile.mask
// CHECK:           "test.full"
// CHECK-NOT:       tile.mask
// CHECK:           scf.yield
// CHECK:         %[[LEFT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FULL]])
// CHECK:           tile.mask
// CHECK:         %[[RIGHT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[LEFT]])
// CHECK:           tile.mask
// CHECK-NOT:     scf.for
// CHECK:         "test.use"(%[[RIGHT]])
tile.kernel @window attributes {inputs = 2, outputs = 0} plan {
^bb0(%k: tensor<?xf32>, %left: index):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %left: index, %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %keys, %c0 : tensor<?xf32>
  %i = arith.muli %t, %c64 : index
  %set = sparsity.window left(%left) right(0)
  %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
  %f = tile.for_each full %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      init (%scores : !tile.tile<64x64xf32>) {
  ^bb0(%j: index, %s: !tile.tile<64x64xf32>):
    %next = "test.full"(%s, %j) : (!tile.tile<64x64xf32>, index) -> !tile.tile<64x64xf32>
    tile.yield %next : !tile.tile<64x64xf32>
  } : !sparsity.set<1>
  %r = tile.for_each partial %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      init (%f : !tile.tile<64x64xf32>) {
  ^bb0(%j: index, %s: !tile.tile<64x64xf32>):
    %masked = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [64] : !tile.tile<64x64xf32>
    tile.yield %masked : !tile.tile<64x64xf32>
  } : !sparsity.set<1>
  "test.use"(%r) : (!tile.tile<64x64xf32>) -> ()
  tile.end
}
