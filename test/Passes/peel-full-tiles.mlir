// RUN: lacuna-opt %s --allow-unregistered-dialect --lacuna-peel-full-tiles | FileCheck %s

// The full tiles come first and lose their mask; the partial ones keep it and
// continue from the full loop's state.
// CHECK-LABEL: tile.kernel @masked
// CHECK:         %[[FULL:.*]] = tile.for_each full
// CHECK-NOT:       tile.mask
// CHECK:           tile.yield
// CHECK:         tile.for_each partial
// CHECK-SAME:      init(%[[FULL]] :
// CHECK:           tile.mask
// CHECK:           tile.yield
tile.kernel @masked attributes {inputs = 0, outputs = 0} plan {
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%b: index, %h: index, %i: index):
  %n = arith.constant 256 : index
  %set = sparsity.window left(8) right(0)
  %acc, %max, %sum = tile.begin : !tile.tile<64x64xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      init (%scores : !tile.tile<64x64xf32>) {
  ^bb0(%j: index, %s: !tile.tile<64x64xf32>):
    %masked = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [64] : !tile.tile<64x64xf32>
    tile.yield %masked : !tile.tile<64x64xf32>
  } : !sparsity.set<1>
  tile.end
}

// Near miss: full tiles of an ascending loop stand among the others.
// CHECK-LABEL: tile.kernel @ascending
// CHECK:         tile.for_each live {{.*}} ascending
// CHECK:           tile.mask
// CHECK-NOT:     tile.for_each
tile.kernel @ascending attributes {inputs = 0, outputs = 0} plan {
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%b: index, %h: index, %i: index):
  %n = arith.constant 256 : index
  %set = sparsity.window left(8) right(0)
  %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      init (%scores : !tile.tile<64x64xf32>) ascending {
  ^bb0(%j: index, %s: !tile.tile<64x64xf32>):
    %masked = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [64] : !tile.tile<64x64xf32>
    tile.yield %masked : !tile.tile<64x64xf32>
  } : !sparsity.set<1>
  tile.end
}
