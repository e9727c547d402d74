// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-cpu=vector-width=8 | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-cpu=vector-width=16 | FileCheck %s --check-prefix=WIDE

// One query tile over all key tiles. The plan checks its requirement before it
// computes the grid; the body visits a range of grid points. All tiles lie on
// the stack in front of that loop, and the loop over keys carries no value:
// its state is updated in place.
// CHECK-LABEL: func.func @dense_plan(
// CHECK-SAME:    memref<?x2x?x40xf32, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-SAME:    memref<?xi64>
// CHECK:         cf.cond_br %{{.*}}, ^[[NEXT:bb[0-9]+]], ^[[FAIL:bb[0-9]+]]
// CHECK:       ^[[FAIL]]:
// CHECK:         memref.store
// CHECK:         return
// CHECK:       ^[[NEXT]]:
// CHECK:         memref.store
// CHECK:         return
// CHECK-LABEL: func.func @dense_body(
// CHECK-SAME:    %[[OUT:[a-z0-9]+]]: memref<?x2x?x40xf32>
// CHECK-SAME:    %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-COUNT-7: memref.alloca() {alignment = 64 : i64}
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK-NOT:       memref.alloc
// CHECK:           call @fill
// CHECK:           scf.for
// CHECK-NOT:         iter_args
// CHECK:             call @load_channels_last
// CHECK:             call @load_channels_last
// CHECK:             call @dot
// CHECK:             call @is_finite
// CHECK:             call @softmax_step
// CHECK:           }
// CHECK:           call @finish
// CHECK:           call @store
// The tile is gone, and so is the launch.
// CHECK-NOT:     tile.
// CHECK-NOT:     func.func @launch

// Four keys times two vectors of rows in registers: eight products per channel,
// each of a broadcast key with neighbouring rows.
// CHECK-LABEL: func.func private @dot(
// CHECK-SAME:    passthrough = ["noinline"]
// CHECK:         scf.for {{.*}} iter_args
// CHECK-COUNT-2:   vector.load %{{.*}} : memref<40x64xf32>, vector<8xf32>
// CHECK-COUNT-4:   memref.load %{{.*}} : memref<64x40xf32>
// CHECK-COUNT-8:   vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           scf.yield
// CHECK-COUNT-8: vector.store

// With registers twice as many and wide, eight keys.
// WIDE-LABEL: func.func private @dot(
// WIDE-COUNT-16: vector.fma
// WIDE-NOT:      vector.fma
// WIDE:          scf.yield
tile.kernel @dense attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<?x2x?x40xf32>, %k: tensor<?x2x?x40xf32>, %v: tensor<?x2x?x40xf32>):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %b = tensor.dim %q, %c0 : tensor<?x2x?x40xf32>
  %kb = tensor.dim %k, %c0 : tensor<?x2x?x40xf32>
  %same = arith.cmpi eq, %b, %kb : index
  tile.require %same, "expected one batch, got {0} and {1}"(%b, %kb)
  %n = tensor.dim %q, %c2 : tensor<?x2x?x40xf32>
  %tiles = arith.ceildivui %n, %c64 : index
  tile.plan grid(%b, %c2, %tiles) shapes(%b, %c2, %n, %c40)
} body {
^bb0(%q: tensor<?x2x?x40xf32>, %k: tensor<?x2x?x40xf32>, %v: tensor<?x2x?x40xf32>,
     %o: memref<?x2x?x40xf32>, %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %q, %c2 : tensor<?x2x?x40xf32>
  %nk = tensor.dim %k, %c2 : tensor<?x2x?x40xf32>
  %tiles = arith.divui %nk, %c64 : index
  %i = arith.muli %t, %c64 : index
  %query = tile.load %q[%b, %h] at (%i) of (%n) base %c0 box [64]
      : tensor<?x2x?x40xf32> -> !tile.tile<64x40xf32>
  %acc, %m, %l = tile.begin : !tile.tile<64x40xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  %r:3 = scf.for %x = %c0 to %tiles step %c1 iter_args(%acc0 = %acc, %m0 = %m, %l0 = %l)
      -> (!tile.tile<64x40xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>) {
    %j = arith.muli %x, %c64 : index
    %key = tile.load %k[%b, %h] at (%j) of (%nk) base %c0 box [64]
        : tensor<?x2x?x40xf32> -> !tile.tile<64x40xf32>
    %value = tile.load %v[%b, %h] at (%j) of (%nk) base %c0 box [64]
        : tensor<?x2x?x40xf32> -> !tile.tile<64x40xf32>
    %s = tile.dot %query, %key scale 0.125
        : !tile.tile<64x40xf32>, !tile.tile<64x40xf32> -> !tile.tile<64x64xf32>
    %acc1, %m1, %l1 = tile.softmax_step %s, %value into %acc0, %m0, %l0
        : !tile.tile<64x64xf32>, !tile.tile<64x40xf32>, !tile.tile<64x40xf32>, !tile.tile<64xf32>
    scf.yield %acc1, %m1, %l1 : !tile.tile<64x40xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  }
  %out, %lse = tile.finish %r#0, %r#1, %r#2
      : !tile.tile<64x40xf32>, !tile.tile<64xf32> -> !tile.tile<64x40xf32>
  tile.store %out, %o[%b, %h] at (%i) of (%n) base %c0 box [64]
      : !tile.tile<64x40xf32>, memref<?x2x?x40xf32>
  tile.end
}
func.func @launch(%q: tensor<?x2x?x40xf32>) -> tensor<?x2x?x40xf32> {
  %o = tile.launch @dense(%q, %q, %q)
      : (tensor<?x2x?x40xf32>, tensor<?x2x?x40xf32>, tensor<?x2x?x40xf32>) -> tensor<?x2x?x40xf32>
  return %o : tensor<?x2x?x40xf32>
}

// -----

// A predicate on coordinates: what depends on rows alone stands before the loop
// over keys, comparisons are made on vectors of rows, and gathers touch memory
// in lanes inside the grid only. Keys outside it are dead.
// CHECK-LABEL: func.func @masked_body(
// CHECK:         vector.gather
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             memref.load %{{.*}} : memref<?xi32
// CHECK:             arith.cmpi eq, %{{.*}} : vector<8xi32>
// CHECK:             arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK:           } else {
// CHECK:             arith.constant dense<0xFF800000> : vector<8xf32>
tile.kernel @masked attributes {inputs = 2, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x8xf32>, %colour: tensor<?xi32>):
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%q: tensor<1x1x?x8xf32>, %colour: tensor<?xi32>, %o: memref<?x?x?x?xi8>,
     %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : tensor<1x1x?x8xf32>
  %class = tile.classify[%b, %h] query (%c0) of (%n) box [16] key (%c16) of (%n) box [16] where {
  ^bb0(%i: index, %j: index):
    %ci = tensor.extract %colour[%i] : tensor<?xi32>
    %cj = tensor.extract %colour[%j] : tensor<?xi32>
    %equal = arith.cmpi eq, %ci, %cj : i32
    tile.yield %equal : i1
  }
  memref.store %class, %o[%b, %h, %c0, %c0] : memref<?x?x?x?xi8>
  tile.end
}
