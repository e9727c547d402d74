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

// -----

// More than two boxes share one copy of the body, in a loop over boxes.
// CHECK-LABEL: tile.kernel @shared
// CHECK:         scf.for %[[BOX:.*]] = %c0 to %c4 step %c1
// CHECK:           arith.cmpi eq, %[[BOX]], %c0
// CHECK:           scf.for
// CHECK:             "test.visit"
// CHECK-NOT:         "test.visit"
// CHECK:         tile.end
tile.kernel @shared attributes {inputs = 2, outputs = 0} plan {
^bb0(%k: tensor<?xf32>, %left: index):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %left: index, %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %keys, %c0 : tensor<?xf32>
  %i = arith.muli %t, %c64 : index
  %near = sparsity.window left(%left) right(0)
  %sinks = sparsity.prefix 4
  %some = sparsity.union %near, %sinks
  %past = sparsity.causal
  %set = sparsity.intersect %some, %past
  tile.for_each partial %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64] {
  ^bb0(%j: index):
    "test.visit"(%j) : (index) -> ()
    tile.yield
  } : !sparsity.set<1>
  tile.end
}

// -----

// On two axes the box is a nest of two loops; tiles that are full are left to
// the other loop by a test.
// CHECK-LABEL: tile.kernel @grid
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.if
// CHECK:               "test.visit"
tile.kernel @grid attributes {inputs = 2, outputs = 0} plan {
^bb0(%n: index, %r: index):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1, %c1) shapes()
} body {
^bb0(%n: index, %r: index, %b: index, %h: index, %t0: index, %t1: index):
  %c8 = arith.constant 8 : index
  %i0 = arith.muli %t0, %c8 : index
  %i1 = arith.muli %t1, %c8 : index
  %g = sparsity.grid [%n, %n]
  %set = sparsity.radius [%r, %r] in %g : !sparsity.domain<2>
  tile.for_each partial %set[%b, %h] query (%i0, %i1) of (%n, %n) box [8, 8] key of (%n, %n) box [8, 8] {
  ^bb0(%j0: index, %j1: index):
    "test.visit"(%j0, %j1) : (index, index) -> ()
    tile.yield
  } : !sparsity.set<2>
  tile.end
}

// -----

// With a table of classes the loop visits the hull and asks the table.
// CHECK-LABEL: tile.kernel @classes
// CHECK-SAME:    inputs = 2
// CHECK:         scf.for
// CHECK:           %[[CLASS:.*]] = tensor.extract %{{.*}} : tensor<?x?x?x?xi8>
// CHECK:           %[[IS:.*]] = arith.cmpi eq, %[[CLASS]], %c2_i8
// CHECK:           scf.if %[[IS]]
// CHECK:             "test.visit"
tile.kernel @classes attributes {inputs = 2, outputs = 0} plan {
^bb0(%n: index, %classes: tensor<?x?x?x?xi8>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes()
} body {
^bb0(%n: index, %classes: tensor<?x?x?x?xi8>, %b: index, %h: index, %t: index):
  %c64 = arith.constant 64 : index
  %i = arith.muli %t, %c64 : index
  %set = sparsity.where (%wb, %wh, %wi, %wj) {
    %even = arith.remui %wi, %wh : index
    %live = arith.cmpi eq, %even, %wj : index
    sparsity.yield %live : i1
  }
  tile.for_each full %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      classes (%classes : tensor<?x?x?x?xi8>) {
  ^bb0(%j: index):
    "test.visit"(%j) : (index) -> ()
    tile.yield
  } : !sparsity.set<1>
  tile.end
}

// -----

// Tiles of one pair are tested one by one where the boxes are not exact, so
// that whoever counts visits counts pairs.
// CHECK-LABEL: tile.kernel @pairs
// CHECK:         scf.for
// CHECK:           %[[LIVE:.*]] = arith.cmpi eq
// CHECK:           scf.if %[[LIVE]]
// CHECK:             "test.visit"
tile.kernel @pairs attributes {inputs = 1, outputs = 0} plan {
^bb0(%n: index):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes()
} body {
^bb0(%n: index, %b: index, %h: index, %i: index):
  %set = sparsity.where from_start (%wb, %wh, %wi, %wj) {
    %live = arith.cmpi eq, %wi, %wj : index
    sparsity.yield %live : i1
  }
  tile.for_each live %set[%b, %h] query (%i) of (%n) box [1] key of (%n) box [1] {
  ^bb0(%j: index):
    "test.visit"(%j) : (index) -> ()
    tile.yield
  } : !sparsity.set<1>
  tile.end
}

// -----

// No key tile is live: no loop is left, and the carried value passes through.
// CHECK-LABEL: tile.kernel @empty
// CHECK-NOT:     scf.for
// CHECK:         "test.use"(%[[INIT:.*]]) : (index)
tile.kernel @empty attributes {inputs = 1, outputs = 0} plan {
^bb0(%n: index):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes()
} body {
^bb0(%n: index, %b: index, %h: index, %i: index):
  %set = sparsity.none
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [1] key of (%n) box [1] init (%n : index) {
  ^bb0(%j: index, %x: index):
    tile.yield %j : index
  } : !sparsity.set<1>
  "test.use"(%r) : (index) -> ()
  tile.end
}

// -----

// Ascending: sinks and a window are one loop, with a test for what lies between them. A full tile has no mask.
// CHECK-LABEL: tile.kernel @ascending
// CHECK:         %[[ALL:.*]] = scf.for
// CHECK:           scf.if
// CHECK:             %[[STEP:.*]] = scf.if
// CHECK-NOT:           tile.mask
// CHECK:               "test.step"
// CHECK:             } else {
// CHECK:               tile.mask
// CHECK:               "test.step"
// CHECK:             scf.yield %[[STEP]]
// CHECK-NOT:     scf.for
// CHECK:         "test.use"(%[[ALL]])
tile.kernel @ascending attributes {inputs = 1, outputs = 0} plan {
^bb0(%k: tensor<?xf32>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %keys, %c0 : tensor<?xf32>
  %i = arith.muli %t, %c64 : index
  %near = sparsity.window left(1000) right(0)
  %sinks = sparsity.prefix 4
  %either = sparsity.union %near, %sinks
  %past = sparsity.causal
  %set = sparsity.intersect %either, %past
  %scores = "test.scores"() : () -> !tile.tile<64x64xf32>
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [64]
      init (%scores : !tile.tile<64x64xf32>) ascending {
  ^bb0(%j: index, %s: !tile.tile<64x64xf32>):
    %masked = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [64] : !tile.tile<64x64xf32>
    %next = "test.step"(%masked, %j) : (!tile.tile<64x64xf32>, index) -> !tile.tile<64x64xf32>
    tile.yield %next : !tile.tile<64x64xf32>
  } : !sparsity.set<1>
  "test.use"(%r) : (!tile.tile<64x64xf32>) -> ()
  tile.end
}
