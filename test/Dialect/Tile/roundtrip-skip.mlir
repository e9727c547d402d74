// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// Tiles in ascending order, which limits of rows and a margin may leave out.
// CHECK-LABEL: tile.kernel @skip
// CHECK:         tile.unmark %[[TAKEN:.*]][%{{.*}}, %{{.*}}] query(%[[I:.*]]) tile 64 rows 32 : memref<1x1x?x?xi8>
// CHECK:         tile.for_each live {{.*}} init(%{{.*}} : !tile.tile<64x32xf32>) ascending {
// CHECK:           tile.skip %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] query(%[[I]]) of(%{{.*}}) rows 32 key(%{{.*}}) below %{{.*}} : tensor<1x1x?xf32> margin 2.000000e+00 into %[[TAKEN]] : <64x32xf32>, <64xf32>, memref<1x1x?x?xi8>
// CHECK:           tile.skip {{.*}} rows 64 key(%{{.*}}) margin 0.000000e+00 into
tile.kernel @skip attributes {inputs = 1, outputs = 1} plan {
^bb0(%t: tensor<1x1x?xf32>):
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%t: tensor<1x1x?xf32>, %taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  %set = sparsity.causal
  %acc, %max, %sum = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  tile.unmark %taken[%b, %h] query (%i) tile 64 rows 32 : memref<1x1x?x?xi8>
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [32]
      init (%acc : !tile.tile<64x32xf32>) ascending {
  ^bb0(%j: index, %s: !tile.tile<64x32xf32>):
    %values = tile.load %t[%b, %h] at (%j) of (%n) base %zero box [32] : tensor<1x1x?xf32> -> !tile.tile<32xf32>
    %left = tile.skip %s, %max[%b, %h] query (%i) of (%n) rows 32 key (%j) below %t : tensor<1x1x?xf32>
        margin 2.0 into %taken : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
    %other = tile.skip %s, %max[%b, %h] query (%i) of (%n) rows 64 key (%j) margin 0.0 into %taken
        : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
    tile.yield %s : !tile.tile<64x32xf32>
  } : !sparsity.set<1>
  tile.end
}
