// RUN: lacuna-opt %s --allow-unregistered-dialect --lacuna-expand-masks --lacuna-expand-footprints=unaligned --canonicalize --cse --split-input-file | FileCheck %s

// Boxes of a neighbourhood start at its first key and go on in steps of the box;
// a query tile of 4x4 sees 8 keys along each axis, in two boxes. Full boxes are those that all rows see: with a
// radius of 2, no box of 4 keys fits, so that the loop over them is gone.
// CHECK-LABEL: tile.kernel @radius
// CHECK-NOT:     "test.full"
// CHECK:         scf.for %[[A:.*]] = %{{.*}} to %{{.*}} step %c4
// CHECK:           scf.for %[[B:.*]] = %{{.*}} to %{{.*}} step %c4
// CHECK-NEXT:        "test.partial"(%[[A]], %[[B]])
tile.kernel @radius attributes {inputs = 1, outputs = 0} plan {
^bb0(%k: tensor<?xf32>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %b: index, %h: index, %t: index, %u: index):
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %y = arith.muli %t, %c4 : index
  %x = arith.muli %u, %c4 : index
  %g = sparsity.grid [32, 32]
  %set = sparsity.radius [2, 2] in %g : !sparsity.domain<2>
  tile.for_each full %set[%b, %h] query (%y, %x) of (%c32, %c32) box [4, 4]
      key of (%c32, %c32) box [4, 4] {
  ^bb0(%i: index, %j: index):
    "test.full"(%i, %j) : (index, index) -> ()
    tile.yield
  } : !sparsity.set<2>
  tile.for_each partial %set[%b, %h] query (%y, %x) of (%c32, %c32) box [4, 4]
      key of (%c32, %c32) box [4, 4] {
  ^bb0(%i: index, %j: index):
    "test.partial"(%i, %j) : (index, index) -> ()
    tile.yield
  } : !sparsity.set<2>
  tile.end
}

// -----

// A larger radius has full boxes: each box is tested, and exactly one of the
// two loops takes it.
// CHECK-LABEL: tile.kernel @large
// CHECK:         scf.for %{{.*}} step %c4
// CHECK:           scf.if %{{.*}} {
// CHECK-NEXT:        "test.full"
// CHECK:         scf.for %{{.*}} step %c4
// CHECK:           scf.if %{{.*}} {
// CHECK-NEXT:      } else {
// CHECK-NEXT:        "test.partial"
tile.kernel @large attributes {inputs = 1, outputs = 0} plan {
^bb0(%k: tensor<?xf32>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %b: index, %h: index, %t: index, %u: index):
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %y = arith.muli %t, %c4 : index
  %x = arith.muli %u, %c4 : index
  %g = sparsity.grid [32, 32]
  %set = sparsity.radius [9, 9] in %g : !sparsity.domain<2>
  tile.for_each full %set[%b, %h] query (%y, %x) of (%c32, %c32) box [4, 4]
      key of (%c32, %c32) box [4, 4] {
  ^bb0(%i: index, %j: index):
    "test.full"(%i, %j) : (index, index) -> ()
    tile.yield
  } : !sparsity.set<2>
  tile.for_each partial %set[%b, %h] query (%y, %x) of (%c32, %c32) box [4, 4]
      key of (%c32, %c32) box [4, 4] {
  ^bb0(%i: index, %j: index):
    "test.partial"(%i, %j) : (index, index) -> ()
    tile.yield
  } : !sparsity.set<2>
  tile.end
}

// -----

// A sequence keeps the grid of key tiles, on which full tiles need no test.
// CHECK-LABEL: tile.kernel @sequence
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK-NEXT:      arith.muli %[[J]], %c4
tile.kernel @sequence attributes {inputs = 1, outputs = 0} plan {
^bb0(%k: tensor<?xf32>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n) shapes()
} body {
^bb0(%keys: tensor<?xf32>, %b: index, %h: index, %t: index):
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %x = arith.muli %t, %c4 : index
  %set = sparsity.window left(9) right(0)
  tile.for_each live %set[%b, %h] query (%x) of (%c32) box [4] key of (%c32) box [4] {
  ^bb0(%i: index):
    "test.visit"(%i) : (index) -> ()
    tile.yield
  } : !sparsity.set<1>
  tile.end
}

// -----

// A loop that fills a table with an entry for each tile of the grid stays on it.
// CHECK-LABEL: tile.kernel @table
// CHECK:         scf.for %{{.*}} step %c1
// CHECK:           scf.for %[[J:.*]] = %{{.*}} step %c1
// CHECK:             arith.muli %[[J]], %c4
// CHECK:             memref.store
tile.kernel @table attributes {inputs = 1, outputs = 1} plan {
^bb0(%k: tensor<?xf32>):
  %n = arith.constant 1 : index
  tile.plan grid(%n, %n, %n, %n) shapes(%n)
} body {
^bb0(%keys: tensor<?xf32>, %o: memref<?xi8>, %b: index, %h: index, %t: index, %u: index):
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %two = arith.constant 2 : i8
  %y = arith.muli %t, %c4 : index
  %x = arith.muli %u, %c4 : index
  %g = sparsity.grid [32, 32]
  %set = sparsity.radius [5, 5] in %g : !sparsity.domain<2>
  tile.for_each live %set[%b, %h] query (%y, %x) of (%c32, %c32) box [4, 4]
      key of (%c32, %c32) box [4, 4] {
  ^bb0(%i: index, %j: index):
    memref.store %two, %o[%j] : memref<?xi8>
    tile.yield
  } : !sparsity.set<2>
  tile.end
}
