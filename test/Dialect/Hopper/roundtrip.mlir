// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// Everything that an attend can carry: a sink, an LSE, a plan, two kinds.
// CHECK-LABEL: tile.kernel @whole
// CHECK:         hopper.attend %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}) of(%{{.*}}) base %{{.*}} box [128] keys 128 sink %{{.*}} into %{{.*}}, %{{.*}} scale 1.250000e-01 walk {
// CHECK-NEXT:      hopper.tile kind 1 %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}) of(%{{.*}}) base %{{.*}} box [128]
// CHECK-NEXT:    } elements {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      hopper.yield
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:      hopper.yield %[[S]]
// CHECK:         consumers = 2 : i64
// CHECK-SAME:    ping_pong
tile.kernel @whole attributes {inputs = 3, outputs = 2} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %lse: memref<1x1x?xf32>, %b: index, %h: index, %t: index):
  %sink = arith.constant 0.5 : f32
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 sink %sink into %o, %lse scale 0.125 walk {
    hopper.tile kind 1 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64, consumers = 2 : i64, ping_pong} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>, memref<1x1x?xf32>
  tile.end
}

// Bounds of the keys that a row sees.
// CHECK-LABEL: tile.kernel @bounds
// CHECK:         ^bb0(%[[S:.*]]: f32, %[[I:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      hopper.yield %[[S]] within(%[[I]]) to(%{{.*}})
tile.kernel @bounds attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  %five = arith.constant 5 : index
  %six = arith.constant 6 : index
  %dead = arith.constant 0xFF800000 : f32
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s within(%i) to(%n)
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// A packed tile of four boxes of 32 keys; two blocks share a multiprocessor.
// CHECK-LABEL: tile.kernel @packed
// CHECK:         keys 128 into
// CHECK-NEXT:      hopper.tile kind 0 {{.*}} box [32]
// CHECK:         blocks = 2 : i64
tile.kernel @packed attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {blocks = 2 : i64, value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// Tiles that limits of rows and a margin may leave out.
// CHECK-LABEL: tile.kernel @skip
// CHECK:         hopper.attend {{.*}} keys 128 into %{{.*}} skip into %{{.*}} : memref<1x1x?x?xi8> below %{{.*}} : tensor<1x1x?xf32> margin 2.000000e+00 scale 1.250000e-01 walk {
tile.kernel @skip attributes {inputs = 4, outputs = 2} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %t: tensor<1x1x?xf32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one, %one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %below: tensor<1x1x?xf32>,
     %o: memref<1x1x?x128xbf16>, %taken: memref<1x1x?x?xi8>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o skip into %taken : memref<1x1x?x?xi8> below %below : tensor<1x1x?xf32> margin 2.0 scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
