// RUN: lacuna-opt %s --allow-unregistered-dialect --lacuna-expand-masks | FileCheck %s

// The predicate compares the pair's coordinates; the width of the head is read
// once per tile, in front of the mask.
// CHECK-LABEL: tile.kernel @per_head
// CHECK:         %[[LEFT:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<?xindex>
// CHECK:         tile.mask %{{.*}} query
// CHECK-SAME:      where {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NOT:       tensor.extract
// CHECK:           arith.cmpi
// CHECK:           tile.yield %{{.*}} : i1
// CHECK-NOT:     tile.mask {{.*}} over
tile.kernel @per_head attributes {inputs = 1, outputs = 0} plan {
^bb0(%widths: tensor<?xindex>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%widths: tensor<?xindex>, %b: index, %h: index, %i: index):
  %n = arith.constant 256 : index
  %set = sparsity.window left(%widths : tensor<?xindex>) right(0)
  tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64] {
  ^bb0(%j: index):
    %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
    %masked = tile.mask %scores[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [64] : !tile.tile<64x64xf32>
    "test.use"(%masked) : (!tile.tile<64x64xf32>) -> ()
    tile.yield
  } : !sparsity.set<1>
  tile.end
}

// A mask that holds its predicate already is left alone.
// CHECK-LABEL: tile.kernel @expanded
// CHECK:         tile.mask
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[J:.*]]: index):
// CHECK-NEXT:      arith.cmpi slt, %[[J]], %{{.*}} : index
// CHECK-NEXT:      tile.yield
tile.kernel @expanded attributes {inputs = 0, outputs = 0} plan {
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%b: index, %h: index, %i: index):
  %n = arith.constant 256 : index
  %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
  %masked = tile.mask %scores[%b, %h] query (%i) of (%n) box [64] key (%i) of (%n) box [64] where {
  ^bb0(%qi: index, %kj: index):
    %live = arith.cmpi slt, %kj, %i : index
    tile.yield %live : i1
  } : !tile.tile<64x64xf32>
  "test.use"(%masked) : (!tile.tile<64x64xf32>) -> ()
  tile.end
}
