// RUN: lacuna-opt %s --split-input-file --lacuna-plan-hopper | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-plan-hopper=stages=2 | FileCheck %s --check-prefix=SHALLOW

// 128 channels: two consumers, and room for two query slots and two stages.
// CHECK-LABEL: tile.kernel @d128
// CHECK:         consumer_registers = 224 : i64, consumers = 2 : i64
// CHECK-SAME:    producer_registers = 56 : i64, query_slots = 2 : i64, stages = 2 : i64
tile.kernel @d128 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// 64 channels: three consumers, and shared memory for four stages unless two
// are asked for.
// CHECK-LABEL: tile.kernel @d64
// CHECK:         consumers = 3 : i64
// CHECK-SAME:    query_slots = 2 : i64, stages = 4 : i64
// SHALLOW-LABEL: tile.kernel @d64
// SHALLOW:         query_slots = 2 : i64, stages = 2 : i64
tile.kernel @d64 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %v: tensor<1x1x?x64xbf16>,
     %o: memref<1x1x?x64xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [192] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 64 : i64} : tensor<1x1x?x64xbf16> -> memref<1x1x?x64xbf16>
  tile.end
}
