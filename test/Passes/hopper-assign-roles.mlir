// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-assign-roles | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-assign-roles=consumer-registers=144 | FileCheck %s --check-prefix=ASKED

// One warpgroup per 64 rows. Registers of two: 64 + 2 * 224 for each thread of a
// warpgroup, out of 512. What is asked for stays, and the producer gets what is left,
// up to 128.
// CHECK-LABEL: tile.kernel @two
// CHECK:         consumer_registers = 224 : i64, consumers = 2 : i64, producer_registers = 56 : i64
// ASKED-LABEL: tile.kernel @two
// ASKED:         consumer_registers = 144 : i64, consumers = 2 : i64, producer_registers = 128 : i64
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
// CHECK:         consumer_registers = 240 : i64, consumers = 1 : i64, producer_registers = 128 : i64
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
// CHECK:         consumer_registers = 160 : i64, consumers = 3 : i64, producer_registers = 32 : i64
// ASKED-LABEL: tile.kernel @three
// ASKED:         consumer_registers = 144 : i64, consumers = 3 : i64, producer_registers = 80 : i64
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

// -----

// A walk that compares with 26 values keeps them in registers all the time, and
// the bound and the key: 28 where 20 fit into 56 registers.
// CHECK-LABEL: tile.kernel @long_walk
// CHECK:         consumer_registers = 208 : i64, consumers = 2 : i64, producer_registers = 88 : i64
tile.kernel @long_walk attributes {inputs = 29, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %i0: index, %i1: index, %i2: index, %i3: index, %i4: index, %i5: index, %i6: index, %i7: index, %i8: index, %i9: index, %i10: index, %i11: index, %i12: index, %i13: index, %i14: index, %i15: index, %i16: index, %i17: index, %i18: index, %i19: index, %i20: index, %i21: index, %i22: index, %i23: index, %i24: index, %i25: index):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %i0: index, %i1: index, %i2: index, %i3: index, %i4: index, %i5: index, %i6: index, %i7: index, %i8: index, %i9: index, %i10: index, %i11: index, %i12: index, %i13: index, %i14: index, %i15: index, %i16: index, %i17: index, %i18: index, %i19: index, %i20: index, %i21: index, %i22: index, %i23: index, %i24: index, %i25: index,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %rows = arith.constant 128 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  %x0 = arith.addi %t, %i0 : index
  %x1 = arith.addi %t, %i1 : index
  %x2 = arith.addi %t, %i2 : index
  %x3 = arith.addi %t, %i3 : index
  %x4 = arith.addi %t, %i4 : index
  %x5 = arith.addi %t, %i5 : index
  %x6 = arith.addi %t, %i6 : index
  %x7 = arith.addi %t, %i7 : index
  %x8 = arith.addi %t, %i8 : index
  %x9 = arith.addi %t, %i9 : index
  %x10 = arith.addi %t, %i10 : index
  %x11 = arith.addi %t, %i11 : index
  %x12 = arith.addi %t, %i12 : index
  %x13 = arith.addi %t, %i13 : index
  %x14 = arith.addi %t, %i14 : index
  %x15 = arith.addi %t, %i15 : index
  %x16 = arith.addi %t, %i16 : index
  %x17 = arith.addi %t, %i17 : index
  %x18 = arith.addi %t, %i18 : index
  %x19 = arith.addi %t, %i19 : index
  %x20 = arith.addi %t, %i20 : index
  %x21 = arith.addi %t, %i21 : index
  %x22 = arith.addi %t, %i22 : index
  %x23 = arith.addi %t, %i23 : index
  %x24 = arith.addi %t, %i24 : index
  %x25 = arith.addi %t, %i25 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    scf.for %key = %zero to %x0 step %rows {
      %c0 = arith.cmpi slt, %key, %x0 : index
      %c1 = arith.cmpi slt, %key, %x1 : index
      %c2 = arith.cmpi slt, %key, %x2 : index
      %c3 = arith.cmpi slt, %key, %x3 : index
      %c4 = arith.cmpi slt, %key, %x4 : index
      %c5 = arith.cmpi slt, %key, %x5 : index
      %c6 = arith.cmpi slt, %key, %x6 : index
      %c7 = arith.cmpi slt, %key, %x7 : index
      %c8 = arith.cmpi slt, %key, %x8 : index
      %c9 = arith.cmpi slt, %key, %x9 : index
      %c10 = arith.cmpi slt, %key, %x10 : index
      %c11 = arith.cmpi slt, %key, %x11 : index
      %c12 = arith.cmpi slt, %key, %x12 : index
      %c13 = arith.cmpi slt, %key, %x13 : index
      %c14 = arith.cmpi slt, %key, %x14 : index
      %c15 = arith.cmpi slt, %key, %x15 : index
      %c16 = arith.cmpi slt, %key, %x16 : index
      %c17 = arith.cmpi slt, %key, %x17 : index
      %c18 = arith.cmpi slt, %key, %x18 : index
      %c19 = arith.cmpi slt, %key, %x19 : index
      %c20 = arith.cmpi slt, %key, %x20 : index
      %c21 = arith.cmpi slt, %key, %x21 : index
      %c22 = arith.cmpi slt, %key, %x22 : index
      %c23 = arith.cmpi slt, %key, %x23 : index
      %c24 = arith.cmpi slt, %key, %x24 : index
      %c25 = arith.cmpi slt, %key, %x25 : index
      %l0 = arith.andi %c0, %c1 : i1
      %l1 = arith.andi %l0, %c2 : i1
      %l2 = arith.andi %l1, %c3 : i1
      %l3 = arith.andi %l2, %c4 : i1
      %l4 = arith.andi %l3, %c5 : i1
      %l5 = arith.andi %l4, %c6 : i1
      %l6 = arith.andi %l5, %c7 : i1
      %l7 = arith.andi %l6, %c8 : i1
      %l8 = arith.andi %l7, %c9 : i1
      %l9 = arith.andi %l8, %c10 : i1
      %l10 = arith.andi %l9, %c11 : i1
      %l11 = arith.andi %l10, %c12 : i1
      %l12 = arith.andi %l11, %c13 : i1
      %l13 = arith.andi %l12, %c14 : i1
      %l14 = arith.andi %l13, %c15 : i1
      %l15 = arith.andi %l14, %c16 : i1
      %l16 = arith.andi %l15, %c17 : i1
      %l17 = arith.andi %l16, %c18 : i1
      %l18 = arith.andi %l17, %c19 : i1
      %l19 = arith.andi %l18, %c20 : i1
      %l20 = arith.andi %l19, %c21 : i1
      %l21 = arith.andi %l20, %c22 : i1
      %l22 = arith.andi %l21, %c23 : i1
      %l23 = arith.andi %l22, %c24 : i1
      %l24 = arith.andi %l23, %c25 : i1
      scf.if %l24 {
        hopper.tile kind 0 %k, %v[%b, %h] at(%key) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
      }
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
