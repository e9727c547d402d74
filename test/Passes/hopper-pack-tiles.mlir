// RUN: lacuna-opt %s --split-input-file --lacuna-hopper-pack-tiles | FileCheck %s

// Four boxes of 32 keys fill a tile of 128.
// CHECK-LABEL: tile.kernel @small
// CHECK:         hopper.attend {{.*}} keys 128 into
// CHECK:           hopper.tile kind 0 {{.*}} box [32]
// CHECK-NOT:     blocks =
tile.kernel @small attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 32 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 32 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Two of 48 do: three would be more keys than a tile has.
// CHECK-LABEL: tile.kernel @odd
// CHECK:         hopper.attend {{.*}} keys 96 into
tile.kernel @odd attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 48 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 48 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [48] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// One warpgroup does not fill a multiprocessor, so two blocks share it. Each has half of the registers
// and of the shared memory, which leaves room for 64 keys.
// CHECK-LABEL: tile.kernel @one_warpgroup
// CHECK:         hopper.attend {{.*}} keys 64 into
// CHECK:         blocks = 2 : i64
tile.kernel @one_warpgroup attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 16 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 16 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [16] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Boxes of more than half a tile stay alone.
// CHECK-LABEL: tile.kernel @whole
// CHECK:         hopper.attend {{.*}} keys 80 into
// CHECK-NOT:     blocks =
tile.kernel @whole attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 80 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 80 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [80] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Near miss: the boxes of a set without a list have been chosen for their size.
// CHECK-LABEL: tile.kernel @no_list
// CHECK:         hopper.attend {{.*}} keys 32 into
tile.kernel @no_list attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 32 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 32 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %at = arith.muli %e, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Near miss: bytes are classes of tiles, not numbers of blocks.
// CHECK-LABEL: tile.kernel @classes
// CHECK:         hopper.attend {{.*}} keys 32 into
tile.kernel @classes attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi8>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi8>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 32 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 32 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi8>
      %block = arith.index_cast %id : i8 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Near miss: every tile is masked, and an element function knows one box.
// CHECK-LABEL: tile.kernel @masked
// CHECK:         hopper.attend {{.*}} keys 32 into
tile.kernel @masked attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 32 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 32 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 0 %k, %v[%b, %h] at(%at) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    %live = arith.cmpi sle, %j, %i : index
    %none = arith.constant 0xFF800000 : f32
    %score = arith.select %live, %s, %none : f32
    hopper.yield %score
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Single keys are gathered into as large a tile, with or without masks.
// CHECK-LABEL: tile.kernel @single
// CHECK:         hopper.attend {{.*}} keys 128 into
// CHECK:           hopper.tile kind 1 {{.*}} box [1]
tile.kernel @single attributes {inputs = 4, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>, %ids: tensor<?xi32>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %width = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %count = arith.constant 8 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 16 into %o scale 0.125 walk {
    scf.for %e = %zero to %count step %one {
      %id = tensor.extract %ids[%e] : tensor<?xi32>
      %block = arith.index_cast %id : i32 to index
      %at = arith.muli %block, %width : index
      hopper.tile kind 1 %k, %v[%b, %h] at(%at) of(%n) base %zero box [1] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
    }
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s within(%zero) to(%i)
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
