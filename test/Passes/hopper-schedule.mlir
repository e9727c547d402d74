// RUN: lacuna-opt %s --split-input-file --allow-unregistered-dialect --lacuna-hopper-schedule | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --allow-unregistered-dialect --lacuna-hopper-schedule=ping-pong | FileCheck %s --check-prefix=TURNS

// Keys up to the query: the last query tile has the most, and is the first as it
// is. Taking turns is a choice of the user.
// CHECK-LABEL: tile.kernel @causal
// CHECK-NOT:     ascending
// CHECK-NOT:     ping_pong
// CHECK:         value_dim
// TURNS-LABEL: tile.kernel @causal
// TURNS:         ping_pong
tile.kernel @causal attributes {inputs = 3, outputs = 1} plan {
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
    %end = arith.addi %t, %rows : index
    scf.for %key = %zero to %end step %rows {
      hopper.tile kind 0 %k, %v[%b, %h] at(%key) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Keys from the query on: the first query tile has the most.
// CHECK-LABEL: tile.kernel @after
// CHECK:         {ascending, value_dim
tile.kernel @after attributes {inputs = 3, outputs = 1} plan {
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
    scf.for %key = %t to %n step %rows {
      hopper.tile kind 0 %k, %v[%b, %h] at(%key) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Branches are taken as the tile decides.
// CHECK-LABEL: tile.kernel @branches
// CHECK:         {ascending, value_dim
tile.kernel @branches attributes {inputs = 3, outputs = 1} plan {
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
    %far = arith.constant 2048 : index
    %early = arith.cmpi slt, %t, %far : index
    scf.if %early {
      scf.for %key = %zero to %n step %rows {
        hopper.tile kind 0 %k, %v[%b, %h] at(%key) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
      }
    } else {
      hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A near miss: how many keys there are is not known, and the order stays.
// CHECK-LABEL: tile.kernel @unknown
// CHECK-NOT:     ascending
// CHECK:         value_dim
tile.kernel @unknown attributes {inputs = 3, outputs = 1} plan {
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
    %bound = "test.bound"(%t) : (index) -> index
    scf.for %key = %bound to %n step %rows {
      hopper.tile kind 0 %k, %v[%b, %h] at(%key) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
