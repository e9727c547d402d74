// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-place-rings | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-place-rings='stages=2 query-slots=1' | FileCheck %s --check-prefix=ASKED

// 128 channels: two query slots of 32 KiB and two stages of 64 KiB.
// CHECK-LABEL: tile.kernel @d128
// CHECK:         query_slots = 2 : i64, stages = 2 : i64
// ASKED-LABEL: tile.kernel @d128
// ASKED:         query_slots = 1 : i64, stages = 2 : i64
tile.kernel @d128 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 128 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// 64 channels: there is room for four stages, and no more are useful.
// CHECK-LABEL: tile.kernel @d64
// CHECK:         query_slots = 2 : i64, stages = 4 : i64
// ASKED-LABEL: tile.kernel @d64
// ASKED:         query_slots = 1 : i64, stages = 2 : i64
tile.kernel @d64 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>,
     %o: memref<1x1x?x64xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 192 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [192] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 64 : i64} : tensor<1x1x?x64xbf16> -> memref<1x1x?x64xbf16>
  tile.end
}

// -----

// 256 channels: one query slot, so that two stages fit.
// CHECK-LABEL: tile.kernel @d256
// CHECK:         query_slots = 1 : i64, stages = 2 : i64
tile.kernel @d256 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x256xbf16>, %k: tensor<1x1x?x256xbf16>, %v: tensor<1x1x?x256xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x256xbf16>, %k: tensor<1x1x?x256xbf16>, %v: tensor<1x1x?x256xbf16>,
     %o: memref<1x1x?x256xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 128 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 80 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [80] : tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 256 : i64} : tensor<1x1x?x256xbf16> -> memref<1x1x?x256xbf16>
  tile.end
}
