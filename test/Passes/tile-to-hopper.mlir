// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-hopper --canonicalize | FileCheck %s

// Two loops: the first has no mask and becomes kind 0, the identity; the second
// has one and becomes kind 1. The loops keep their bounds and lose their tiles.
// CHECK-LABEL: tile.kernel @window
// CHECK:         hopper.attend %{{.*}}[%[[B:.*]], %[[H:.*]]] at(%{{.*}}) of(%[[N:.*]]) base %{{.*}} box [64] keys 64
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:        arith.muli %[[I]]
// CHECK-NEXT:        hopper.tile kind 0
// CHECK:           scf.for
// CHECK:             hopper.tile kind 1
// CHECK:         elements {
// CHECK-NEXT:    ^bb0(%[[ANY:.*]]: f32,
// CHECK-NEXT:      hopper.yield %[[ANY]]
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %[[Q:.*]]: index, %[[K:.*]]: index):
// CHECK:           %[[LIVE:.*]] = arith.cmpi sge, %[[Q]], %[[K]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[K]], %[[N]]
// CHECK:           %[[BOTH:.*]] = arith.andi %[[LIVE]], %[[INSIDE]]
// CHECK:           %[[R:.*]] = arith.select %[[BOTH]], %[[S]], %{{.*}}
// CHECK:           hopper.yield %[[R]]
// CHECK-NOT:     tile.softmax_step
tile.kernel @window attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>,
     %o: memref<1x1x?x64xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %box = arith.constant 64 : index
  %n = tensor.dim %q, %two : tensor<1x1x?x64xbf16>
  %i = arith.muli %t, %box : index
  %rows = tile.load %q[%b, %h] at (%i) of (%n) base %zero box [64] : tensor<1x1x?x64xbf16> -> <64x64xbf16>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %full:3 = scf.for %j = %zero to %t step %one iter_args(%a = %acc, %m = %max, %l = %sum)
      -> (!tile.tile<64x64xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>) {
    %at = arith.muli %j, %box : index
    %keys = tile.load %k[%b, %h] at (%at) of (%n) base %zero box [64] : tensor<1x1x?x64xbf16> -> <64x64xbf16>
    %values = tile.load %v[%b, %h] at (%at) of (%n) base %zero box [64] : tensor<1x1x?x64xbf16> -> <64x64xbf16>
    %s = tile.dot %rows, %keys scale 0.125 : <64x64xbf16>, <64x64xbf16> -> <64x64xf32>
    %a1, %m1, %l1 = tile.softmax_step %s, %values into %a, %m, %l : <64x64xf32>, <64x64xbf16>, <64x64xf32>, <64xf32>
    scf.yield %a1, %m1, %l1 : !tile.tile<64x64xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  }
  %end = arith.addi %t, %one : index
  %all:3 = scf.for %j = %t to %end step %one iter_args(%a = %full#0, %m = %full#1, %l = %full#2)
      -> (!tile.tile<64x64xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>) {
    %at = arith.muli %j, %box : index
    %keys = tile.load %k[%b, %h] at (%at) of (%n) base %zero box [64] : tensor<1x1x?x64xbf16> -> <64x64xbf16>
    %values = tile.load %v[%b, %h] at (%at) of (%n) base %zero box [64] : tensor<1x1x?x64xbf16> -> <64x64xbf16>
    %s = tile.dot %rows, %keys scale 0.125 : <64x64xbf16>, <64x64xbf16> -> <64x64xf32>
    %masked = tile.mask %s[%b, %h] query (%i) of (%n) box [64] key (%at) of (%n) box [64] where {
    ^bb0(%x: index, %y: index):
      %live = arith.cmpi sge, %x, %y : index
      tile.yield %live : i1
    } : <64x64xf32>
    %a1, %m1, %l1 = tile.softmax_step %masked, %values into %a, %m, %l : <64x64xf32>, <64x64xbf16>, <64x64xf32>, <64xf32>
    scf.yield %a1, %m1, %l1 : !tile.tile<64x64xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  }
  %out, %lse = tile.finish %all#0, %all#1, %all#2 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%i) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x?x64xbf16>
  tile.end
}

// -----

// A score function makes every kind work on scaled scores.
// CHECK-LABEL: tile.kernel @softcap
// CHECK:         hopper.attend
// CHECK:           hopper.tile kind 0
// CHECK:         ^bb0(%[[S:.*]]: f32,
// CHECK:           %[[T:.*]] = math.tanh %[[S]]
// CHECK:           hopper.yield %[[T]]
// CHECK:         {natural,
tile.kernel @softcap attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>,
     %o: memref<1x1x64x64xf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %s = tile.dot %rows, %keys scale 0.125 : <64x64xf16>, <64x64xf16> -> <64x64xf32>
  %capped = tile.score %s[%b, %h] query (%zero) of (%n) base %zero box [64] key (%zero) of (%n) base %zero box [64] {
  ^bb0(%x: f32, %sb: index, %sh: index, %i: index, %j: index):
    %y = math.tanh %x : f32
    tile.yield %y : f32
  } : <64x64xf32>
  %a1, %m1, %l1 = tile.softmax_step %capped, %values into %acc, %max, %sum : <64x64xf32>, <64x64xf16>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a1, %m1, %l1 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}

// -----

// The rows of two heads are one tile: a point along the head axis is a pair of them, of which the launch asks that
// they have one key head. Boxes of one key have as many in a tile as the smallest that there is.
// CHECK-LABEL: tile.kernel @heads
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         %[[ALL:.*]] = tensor.dim
// CHECK-NEXT:    %[[HQ:.*]] = tensor.dim
// CHECK-NEXT:    %[[HK:.*]] = tensor.dim
// CHECK:         %[[SOME:.*]] = arith.maxsi %[[HK]]
// CHECK:         %[[UNIT:.*]] = arith.muli %[[SOME]], %[[TWO]]
// CHECK:         arith.remui %[[HQ]], %[[UNIT]]
// CHECK:         tile.require {{.*}}, "expected query heads in groups of {0} for each key head, got {1} and {2} key heads"(%[[TWO]], %[[HQ]], %[[HK]])
// CHECK:         %[[PAIRS:.*]] = arith.divui %[[ALL]], %[[TWO]]
// CHECK:         tile.plan grid(%{{.*}}, %[[PAIRS]], %{{.*}})
// CHECK:       body
// CHECK-SAME:    {
// CHECK:       ^bb0({{.*}}%[[B:.*]]: index, %[[PAIR:.*]]: index, %{{.*}}: index):
// CHECK:         %[[FIRST:.*]] = arith.muli %[[PAIR]], %{{.*}}
// CHECK:         hopper.attend %{{.*}}[%[[B]], %[[FIRST]]] {{.*}} box [32] keys 16
// CHECK:           hopper.tile kind 0 {{.*}} box [1]
// CHECK:         heads = 2 : i64
tile.kernel @heads attributes {inputs = 3, outputs = 1, lacuna.head_tile = 2 : i64} plan {
^bb0(%q: tensor<1x?x?x64xbf16>, %k: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x64xbf16>):
  %one = arith.constant 1 : index
  %heads = tensor.dim %q, %one : tensor<1x?x?x64xbf16>
  tile.plan grid(%one, %heads, %one) shapes(%one, %heads, %one, %one)
} body {
^bb0(%q: tensor<1x?x?x64xbf16>, %k: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x64xbf16>,
     %o: memref<1x?x?x64xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %box = arith.constant 32 : index
  %n = tensor.dim %q, %two : tensor<1x?x?x64xbf16>
  %i = arith.muli %t, %box : index
  %kh = arith.divui %h, %two : index
  %rows = tile.load %q[%b, %h] at (%i) of (%n) base %zero box [32] : tensor<1x?x?x64xbf16> -> <32x64xbf16>
  %acc, %max, %sum = tile.begin : <32x64xf32>, <32xf32>, <32xf32>
  %all:3 = scf.for %j = %zero to %t step %one iter_args(%a = %acc, %m = %max, %l = %sum)
      -> (!tile.tile<32x64xf32>, !tile.tile<32xf32>, !tile.tile<32xf32>) {
    %keys = tile.load %k[%b, %kh] at (%j) of (%n) base %zero box [1] : tensor<1x?x?x64xbf16> -> <1x64xbf16>
    %values = tile.load %v[%b, %kh] at (%j) of (%n) base %zero box [1] : tensor<1x?x?x64xbf16> -> <1x64xbf16>
    %s = tile.dot %rows, %keys scale 0.125 : <32x64xbf16>, <1x64xbf16> -> <32x1xf32>
    %a1, %m1, %l1 = tile.softmax_step %s, %values into %a, %m, %l : <32x1xf32>, <1x64xbf16>, <32x64xf32>, <32xf32>
    scf.yield %a1, %m1, %l1 : !tile.tile<32x64xf32>, !tile.tile<32xf32>, !tile.tile<32xf32>
  }
  %out, %lse = tile.finish %all#0, %all#1, %all#2 : <32x64xf32>, <32xf32> -> <32x64xf32>
  tile.store %out, %o[%b, %h] at (%i) of (%n) base %zero box [32] : <32x64xf32>, memref<1x?x?x64xbf16>
  tile.end
}
