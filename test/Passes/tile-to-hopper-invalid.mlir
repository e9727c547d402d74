// RUN: lacuna-opt %s --split-input-file --verify-diagnostics --lacuna-tile-to-hopper

// The copy engine and the matrix instructions take 16-bit elements.
tile.kernel @tile_to_hopper_2_element attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x64x64xf32>, %k: tensor<1x1x64x64xf32>, %v: tensor<1x1x64x64xf32>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x64xf32>, %k: tensor<1x1x64x64xf32>, %v: tensor<1x1x64x64xf32>,
     %o: memref<1x1x64x64xf32>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  // expected-error @+1 {{'tile.load' op expected f16 or bf16 elements on this target, got 'f32'}}
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf32> -> <64x64xf32>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf32> -> <64x64xf32>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf32> -> <64x64xf32>
  %s = tile.dot %rows, %keys scale 0.125 : <64x64xf32>, <64x64xf32> -> <64x64xf32>
  %capped = tile.score %s[%b, %h] query (%zero) of (%n) base %zero box [64] key (%zero) of (%n) base %zero box [64] {
  ^bb0(%x: f32, %sb: index, %sh: index, %i: index, %j: index):
    %y = math.tanh %x : f32
    tile.yield %y : f32
  } : <64x64xf32>
  %a1, %m1, %l1 = tile.softmax_step %capped, %values into %acc, %max, %sum : <64x64xf32>, <64x64xf32>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a1, %m1, %l1 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf32>
  tile.end
}

// -----

// Panels of the copy engine and matrix shapes bound the channels.
tile.kernel @tile_to_hopper_3_head_dimension attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x64x24xf16>, %k: tensor<1x1x64x24xf16>, %v: tensor<1x1x64x24xf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x24xf16>, %k: tensor<1x1x64x24xf16>, %v: tensor<1x1x64x24xf16>,
     %o: memref<1x1x64x24xf16>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  // expected-error @+1 {{'tile.load' op expected a head dimension of 32 to 256 in steps of 8 on this target, got 24}}
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x24xf16> -> <64x24xf16>
  %acc, %max, %sum = tile.begin : <64x24xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x24xf16> -> <64x24xf16>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x24xf16> -> <64x24xf16>
  %s = tile.dot %rows, %keys scale 0.125 : <64x24xf16>, <64x24xf16> -> <64x64xf32>
  %capped = tile.score %s[%b, %h] query (%zero) of (%n) base %zero box [64] key (%zero) of (%n) base %zero box [64] {
  ^bb0(%x: f32, %sb: index, %sh: index, %i: index, %j: index):
    %y = math.tanh %x : f32
    tile.yield %y : f32
  } : <64x64xf32>
  %a1, %m1, %l1 = tile.softmax_step %capped, %values into %acc, %max, %sum : <64x64xf32>, <64x24xf16>, <64x24xf32>, <64xf32>
  %out, %lse = tile.finish %a1, %m1, %l1 : <64x24xf32>, <64xf32> -> <64x24xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x24xf32>, memref<1x1x64x24xf16>
  tile.end
}

// -----

// Keys of all segments go through one ring.
tile.kernel @tile_to_hopper_4_keys attributes {inputs = 3, outputs = 1} plan {
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
  // expected-error @+1 {{'tile.load' op expected key tiles of all segments to hold as many keys on this target, got 64 and 32}}
  %more_keys = tile.load %k[%b, %h] at (%zero, %zero) of (%n, %n) base %n box [4, 8] : tensor<1x1x64x64xf16> -> <32x64xf16>
  %more_values = tile.load %v[%b, %h] at (%zero, %zero) of (%n, %n) base %n box [4, 8] : tensor<1x1x64x64xf16> -> <32x64xf16>
  %more_scores = tile.dot %rows, %more_keys scale 0.125 : <64x64xf16>, <32x64xf16> -> <64x32xf32>
  %a2, %m2, %l2 = tile.softmax_step %more_scores, %more_values into %a1, %m1, %l1 : <64x32xf32>, <32x64xf16>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a2, %m2, %l2 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}

// -----

// Consumers multiply by the scale once, in the exponent.
tile.kernel @tile_to_hopper_7_scale attributes {inputs = 3, outputs = 1} plan {
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
  // expected-error @+1 {{'tile.dot' op expected one scale per kernel on this target, got 1.250000e-01 and 2.500000e-01}}
  %more_scores = tile.dot %rows, %keys scale 0.25 : <64x64xf16>, <64x64xf16> -> <64x64xf32>
  %a2, %m2, %l2 = tile.softmax_step %more_scores, %values into %a1, %m1, %l1 : <64x64xf32>, <64x64xf16>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a2, %m2, %l2 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}

// -----

// Consumers have one rule for all tiles.
tile.kernel @tile_to_hopper_8_skips attributes {inputs = 3, outputs = 2} plan {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one, %one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>,
     %o: memref<1x1x64x64xf16>, %taken: memref<1x1x1x1xi8>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %s = tile.dot %rows, %keys scale 0.125 : <64x64xf16>, <64x64xf16> -> <64x64xf32>
  %x = tile.skip %s, %max[%b, %h] query (%zero) of (%n) rows 64 key (%zero) margin 1.0 into %taken : <64x64xf32>, <64xf32>, memref<1x1x1x1xi8>
  %a1, %m1, %l1 = tile.softmax_step %x, %values into %acc, %max, %sum : <64x64xf32>, <64x64xf16>, <64x64xf32>, <64xf32>
  // expected-error @+1 {{'tile.softmax_step' op expected all tiles of a kernel to be skipped in one way on this target}}
  %a2, %m2, %l2 = tile.softmax_step %s, %values into %a1, %m1, %l1 : <64x64xf32>, <64x64xf16>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a2, %m2, %l2 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}

// -----

// A warpgroup has 64 rows.
tile.kernel @tile_to_hopper_9_rows attributes {inputs = 3, outputs = 2} plan {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one, %one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>,
     %o: memref<1x1x64x64xf16>, %taken: memref<1x1x1x1xi8>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %s = tile.dot %rows, %keys scale 0.125 : <64x64xf16>, <64x64xf16> -> <64x64xf32>
  // expected-error @+1 {{'tile.skip' op expected blocks of 64 queries of a sequence on this target, got 32 and 1 axes}}
  %x = tile.skip %s, %max[%b, %h] query (%zero) of (%n) rows 32 key (%zero) margin 1.0 into %taken : <64x64xf32>, <64xf32>, memref<1x1x1x1xi8>
  %a2, %m2, %l2 = tile.softmax_step %x, %values into %acc, %max, %sum : <64x64xf32>, <64x64xf16>, <64x64xf32>, <64xf32>
  %out, %lse = tile.finish %a2, %m2, %l2 : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}

// -----

// Who sees no key has no consumers that would clear marks.
tile.kernel @tile_to_hopper_10_no_key attributes {inputs = 3, outputs = 2} plan {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one, %one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x64x64xf16>, %v: tensor<1x1x64x64xf16>,
     %o: memref<1x1x64x64xf16>, %taken: memref<1x1x1x1xi8>, %b: index, %h: index, %t: index):
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  %rows = tile.load %q[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %acc, %max, %sum = tile.begin : <64x64xf32>, <64xf32>, <64xf32>
  %keys = tile.load %k[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %values = tile.load %v[%b, %h] at (%zero) of (%n) base %zero box [64] : tensor<1x1x64x64xf16> -> <64x64xf16>
  %s = tile.dot %rows, %keys scale 0.125 : <64x64xf16>, <64x64xf16> -> <64x64xf32>
  tile.unmark %taken[%b, %h] query (%zero) tile 64 rows 64 : memref<1x1x1x1xi8>
  // expected-error @+1 {{'tile.finish' op expected marks of attention that sees a key on this target}}
  %out, %lse = tile.finish %acc, %max, %sum : <64x64xf32>, <64xf32> -> <64x64xf32>
  tile.store %out, %o[%b, %h] at (%zero) of (%n) base %zero box [64] : <64x64xf32>, memref<1x1x64x64xf16>
  tile.end
}
