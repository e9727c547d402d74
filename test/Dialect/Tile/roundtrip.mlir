// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// A whole kernel: plan with a requirement, a loop over live tiles with every
// op of the online softmax, and both stores.
// CHECK-LABEL: tile.kernel @attend attributes {inputs = 4 : i64, outputs = 2 : i64} plan {
// CHECK:         tile.require %{{.*}}, "expected {0} keys to be {1}"(%{{.*}}, %{{.*}})
// CHECK:         tile.plan grid(%{{.*}}, %{{.*}}, %{{.*}}) shapes(
// CHECK:       } body {
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}) of(%{{.*}}) base %{{.*}} box [64] : tensor<?x8x?x64xbf16> -> <64x64xbf16>
// CHECK:         tile.begin : <64x32xf32>, <64xf32>, <64xf32>
// CHECK:         tile.for_each live %{{.*}}[%{{.*}}, %{{.*}}] query(%{{.*}}) of(%{{.*}}) box [64] key of(%{{.*}}) box [32] init(
// CHECK:           tile.dot %{{.*}}, %{{.*}} scale 1.250000e-01 : <64x64xbf16>, <32x64xbf16> -> <64x32xf32>
// CHECK:           tile.score
// CHECK:             tile.yield %{{.*}} : f32
// CHECK:           tile.mask %{{.*}} over %{{.*}} : !sparsity.set<1> query(
// CHECK:           tile.softmax_step
// CHECK:         tile.finish %{{.*}}, %{{.*}}, %{{.*}} sink %{{.*}} : <64x32xf32>, <64xf32> -> <64x32xf32>
// CHECK:         tile.store %{{.*}} : <64x32xf32>, memref<?x8x?x32xbf16>
// CHECK:         tile.store %{{.*}} : <64xf32>, memref<?x8x?xf32>
// CHECK:         tile.end
tile.kernel @attend attributes {inputs = 4, outputs = 2} plan {
^bb0(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x32xbf16>, %sink: f32):
  %n = arith.constant 128 : index
  %c2 = arith.constant 2 : index
  %keys = tensor.dim %k, %c2 : tensor<?x8x?x64xbf16>
  %same = arith.cmpi eq, %keys, %n : index
  tile.require %same, "expected {0} keys to be {1}" (%keys, %n)
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n, %n, %n, %n)
} body {
^bb0(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x8x?x64xbf16>, %v: tensor<?x8x?x32xbf16>, %sink: f32,
     %o: memref<?x8x?x32xbf16>, %lse: memref<?x8x?xf32>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  %set = sparsity.window left(8) right(0)
  %rows = tile.load %q[%b, %h] at (%i) of (%n) base %zero box [64]
      : tensor<?x8x?x64xbf16> -> !tile.tile<64x64xbf16>
  %acc, %max, %sum = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  %r:3 = tile.for_each live %set[%b, %h] query (%i) of (%n) box [64] key of (%n) box [32]
      init (%acc, %max, %sum : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>) {
  ^bb0(%j: index, %a0: !tile.tile<64x32xf32>, %m0: !tile.tile<64xf32>, %s0: !tile.tile<64xf32>):
    %keys = tile.load %k[%b, %h] at (%j) of (%n) base %zero box [32]
        : tensor<?x8x?x64xbf16> -> !tile.tile<32x64xbf16>
    %values = tile.load %v[%b, %h] at (%j) of (%n) base %zero box [32]
        : tensor<?x8x?x32xbf16> -> !tile.tile<32x32xbf16>
    %scores = tile.dot %rows, %keys scale 0.125
        : !tile.tile<64x64xbf16>, !tile.tile<32x64xbf16> -> !tile.tile<64x32xf32>
    %capped = tile.score %scores[%b, %h] query (%i) of (%n) base %zero box [64]
        key (%j) of (%n) base %zero box [32] {
    ^bb0(%s: f32, %bb: index, %hh: index, %qi: index, %kj: index):
      %t = math.tanh %s : f32
      tile.yield %t : f32
    } : !tile.tile<64x32xf32>
    %masked = tile.mask %capped[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [64]
        key (%j) of (%n) box [32] : !tile.tile<64x32xf32>
    %a1, %m1, %s1 = tile.softmax_step %masked, %values into %a0, %m0, %s0
        : !tile.tile<64x32xf32>, !tile.tile<32x32xbf16>, !tile.tile<64x32xf32>, !tile.tile<64xf32>
    tile.yield %a1, %m1, %s1 : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  } : !sparsity.set<1>
  %out, %rowLse = tile.finish %r#0, %r#1, %r#2 sink %sink
      : !tile.tile<64x32xf32>, !tile.tile<64xf32> -> !tile.tile<64x32xf32>
  tile.store %out, %o[%b, %h] at (%i) of (%n) base %zero box [64]
      : !tile.tile<64x32xf32>, memref<?x8x?x32xbf16>
  tile.store %rowLse, %lse[%b, %h] at (%i) of (%n) base %zero box [64]
      : !tile.tile<64xf32>, memref<?x8x?xf32>
  tile.end
}

// Classes of the tiles of a grid, by set and by predicate, and a loop that reads them.
// CHECK-LABEL: tile.kernel @classes
// CHECK:         tile.for_each live
// CHECK:           tile.classify[%{{.*}}, %{{.*}}] over %{{.*}} : !sparsity.set<2> query(%{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) box [4, 8] key(
// CHECK:           tile.classify[%{{.*}}, %{{.*}}] query({{.*}}) box [2, 2] where {
// CHECK:             tile.yield %{{.*}} : i1
// CHECK:         tile.for_each partial {{.*}} classes(%{{.*}} : tensor<1x1x?x?xi8>) {
tile.kernel @classes attributes {inputs = 1, outputs = 1} plan {
^bb0(%known: tensor<1x1x?x?xi8>):
  %n = arith.constant 16 : index
  tile.plan grid(%n, %n, %n, %n) shapes(%n)
} body {
^bb0(%known: tensor<1x1x?x?xi8>, %out: memref<?xi8>, %b: index, %h: index, %y: index, %x: index):
  %n = arith.constant 16 : index
  %set = sparsity.all : !sparsity.set<2>
  tile.for_each live %set[%b, %h] query (%y, %x) of (%n, %n) box [4, 8] key of (%n, %n) box [2, 2] {
  ^bb0(%ky: index, %kx: index):
    %c = tile.classify[%b, %h] over %set : !sparsity.set<2> query (%y, %x) of (%n, %n) box [4, 8]
        key (%ky, %kx) of (%n, %n) box [2, 2]
    memref.store %c, %out[%kx] : memref<?xi8>
    %d = tile.classify[%b, %h] query (%y, %x) of (%n, %n) box [4, 8]
        key (%ky, %kx) of (%n, %n) box [2, 2] where {
    ^bb0(%qy: index, %qx: index, %py: index, %px: index):
      %live = arith.cmpi sle, %px, %qx : index
      tile.yield %live : i1
    }
    memref.store %d, %out[%ky] : memref<?xi8>
    tile.yield
  } : !sparsity.set<2>
  tile.for_each partial %set[%b, %h] query (%y, %x) of (%n, %n) box [4, 8] key of (%n, %n) box [2, 2]
      classes (%known : tensor<1x1x?x?xi8>) {
  ^bb0(%ky: index, %kx: index):
    tile.yield
  } : !sparsity.set<2>
  tile.end
}

// CHECK-LABEL: tile.kernel @merge
// CHECK:         tile.load %{{.*}} : tensor<1x1x?xf32> -> <64xf32>
// CHECK:         tile.merge(%{{.*}}, %{{.*}} : !tile.tile<64x32xf16>, !tile.tile<64x32xf16>), (%{{.*}}, %{{.*}} :
tile.kernel @merge attributes {inputs = 2, outputs = 1} plan {
^bb0(%o0: tensor<1x1x?x32xf16>, %l0: tensor<1x1x?xf32>):
  %n = arith.constant 128 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%o0: tensor<1x1x?x32xf16>, %l0: tensor<1x1x?xf32>, %to: memref<1x1x?x32xf16>,
     %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  %o = tile.load %o0[%b, %h] at (%i) of (%n) base %zero box [64]
      : tensor<1x1x?x32xf16> -> !tile.tile<64x32xf16>
  %l = tile.load %l0[%b, %h] at (%i) of (%n) base %zero box [64]
      : tensor<1x1x?xf32> -> !tile.tile<64xf32>
  %out, %lse = tile.merge (%o, %o : !tile.tile<64x32xf16>, !tile.tile<64x32xf16>),
      (%l, %l : !tile.tile<64xf32>, !tile.tile<64xf32>)
      -> !tile.tile<64x32xf32>, !tile.tile<64xf32>
  tile.store %out, %to[%b, %h] at (%i) of (%n) base %zero box [64]
      : !tile.tile<64x32xf32>, memref<1x1x?x32xf16>
  tile.end
}

// A launch starts from nothing or from tensors that it overwrites in part.
// CHECK-LABEL: func.func @launches(
// CHECK:         %[[FIRST:.*]] = tile.launch @merge(
// CHECK:         tile.launch @merge(%{{.*}}) into(%[[FIRST]] : tensor<1x1x?x32xf16>) :
func.func @launches(%o: tensor<1x1x?x32xf16>, %l: tensor<1x1x?xf32>) -> tensor<1x1x?x32xf16> {
  %first = tile.launch @merge(%o, %l) : (tensor<1x1x?x32xf16>, tensor<1x1x?xf32>) -> tensor<1x1x?x32xf16>
  %second = tile.launch @merge(%o, %l) into (%first : tensor<1x1x?x32xf16>)
      : (tensor<1x1x?x32xf16>, tensor<1x1x?xf32>) -> tensor<1x1x?x32xf16>
  return %second : tensor<1x1x?x32xf16>
}
