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
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [64] keys 128 into %o scale 0.125 walk {
    // expected-error @+1 {{'hopper.tile' op expected tiles of 128 keys or of a part of them in steps of 8, got 4}}
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [4] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
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
