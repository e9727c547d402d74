// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Packed tiles, and blocks that share a multiprocessor.

// The pieces of a packed tile are as large as each other.
tile.kernel @hopper_attend_6_pieces attributes {inputs = 3, outputs = 1} plan {
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
    // expected-error @+1 {{'hopper.tile' op expected 32 keys in every tile, got 64}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [64] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A packed tile is full of pieces.
tile.kernel @hopper_attend_18_part attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    // expected-error @+1 {{'hopper.tile' op expected tiles of 128 keys or of a part of them in steps of 8, got 96}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [96] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// The swizzle of shared memory repeats every eight keys.
tile.kernel @hopper_attend_18_step attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 80 into %o scale 0.125 walk {
    // expected-error @+1 {{'hopper.tile' op expected tiles of 80 keys or of a part of them in steps of 8, got 20}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [20] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A tile has no more than its keys.
tile.kernel @hopper_attend_18_more attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    // expected-error @+1 {{'hopper.tile' op expected tiles of 128 keys or of a part of them in steps of 8, got 256}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [256] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A multiprocessor runs one block, or a few.
tile.kernel @hopper_attend_19_none attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  // expected-error @+1 {{'hopper.attend' op expected 1 to 8 blocks on a multiprocessor, got 0}}
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {blocks = 0 : i64, value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A multiprocessor runs one block, or a few.
tile.kernel @hopper_attend_19_many attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  // expected-error @+1 {{'hopper.attend' op expected 1 to 8 blocks on a multiprocessor, got 9}}
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [32] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {blocks = 9 : i64, value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// Single keys are those of a sequence.
tile.kernel @hopper_attend_20 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 64 into %o scale 0.125 walk {
    // expected-error @+1 {{'hopper.tile' op expected boxes of fewer than 16 keys on a sequence only, got 2 axes}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t, %t) of(%n, %n) base %zero box [2, 4] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index, %l: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A place has room for three bits of a kind.
tile.kernel @hopper_attend_21 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  // expected-error @+1 {{'hopper.attend' op expected at most 8 element functions where keys are gathered, got 9}}
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 64 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [4] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  }, {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}

// -----

// A map has no room for heads beside three axes.
tile.kernel @hopper_attend_22 attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 256 : index
  // expected-error @+1 {{'hopper.attend' op expected 1 to 256 heads in a tile, and one head on grids of three axes, got 2 on 3 axes}}
  hopper.attend %q[%b, %h] at(%t, %t, %t) of(%n, %n, %n) base %zero box [4, 4, 4] keys 64 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [64] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %l: index, %m: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64, heads = 2 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
