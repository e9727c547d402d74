// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-assign-roles | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-assign-roles=consumer-registers=144 | FileCheck %s --check-prefix=ASKED

// One warpgroup per 64 rows. Registers of two: 56 + 2 * 224 for each thread of a
// warpgroup, out of 512. What is asked for stays, and the producer takes no more
// than it needs.
// CHECK-LABEL: tile.kernel @two
// CHECK:         consumer_registers = 224 : i64, consumers = 2 : i64, producer_registers = 56 : i64
// ASKED-LABEL: tile.kernel @two
// ASKED:         consumer_registers = 144 : i64, consumers = 2 : i64, producer_registers = 56 : i64
tile.kernel @two attributes {inputs = 3, outputs = 1} plan {
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

// CHECK-LABEL: tile.kernel @one
// CHECK:         consumer_registers = 240 : i64, consumers = 1 : i64, producer_registers = 56 : i64
tile.kernel @one attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 64 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// CHECK-LABEL: tile.kernel @three
// CHECK:         consumer_registers = 152 : i64, consumers = 3 : i64, producer_registers = 56 : i64
// ASKED-LABEL: tile.kernel @three
// ASKED:         consumer_registers = 144 : i64, consumers = 3 : i64, producer_registers = 56 : i64
tile.kernel @three attributes {inputs = 3, outputs = 1} plan {
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
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [192] keys 112 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [112] : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 64 : i64} : tensor<1x1x?x64xbf16> -> memref<1x1x?x64xbf16>
  tile.end
}
