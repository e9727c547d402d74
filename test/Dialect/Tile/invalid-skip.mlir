// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each kernel breaks one rule of docs/dialects/tile.md and has its label in its name.

// Marks are bytes.
tile.kernel @marks_1_bytes attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi32>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected marks of type i8 with four axes, got 'memref<1x1x?x?xi32>'}}
  %left = tile.skip %s, %m[%b, %h] query (%i) of (%n) rows 64 key (%i) margin 1.0 into %taken : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi32>
  tile.end
}

// -----

// Batch, head, query block, key block.
tile.kernel @marks_1_axes attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.unmark' op expected marks of type i8 with four axes, got 'memref<1x?x?xi8>'}}
  tile.unmark %taken[%b, %h] query (%i) tile 64 rows 64 : memref<1x?x?xi8>
  tile.end
}

// -----

// Row values are no scores.
tile.kernel @skip_1_scores attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected f32 scores of rows and keys, got '!tile.tile<64xf32>'}}
  %left = tile.skip %m, %m[%b, %h] query (%i) of (%n) rows 64 key (%i) margin 1.0 into %taken : !tile.tile<64xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
  tile.end
}

// -----

// A maximum for each row of scores.
tile.kernel @skip_1_maximum attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %x, %short, %y = tile.begin : !tile.tile<32x32xf32>, !tile.tile<32xf32>, !tile.tile<32xf32>
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected maximum of type '!tile.tile<64xf32>', got '!tile.tile<32xf32>'}}
  %left = tile.skip %s, %short[%b, %h] query (%i) of (%n) rows 64 key (%i) margin 1.0 into %taken : !tile.tile<64x32xf32>, !tile.tile<32xf32>, memref<1x1x?x?xi8>
  tile.end
}

// -----

// Blocks do not reach over a tile's border.
tile.kernel @skip_2_rows attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected a tile of whole blocks, got 64 rows for blocks of 48}}
  %left = tile.skip %s, %m[%b, %h] query (%i) of (%n) rows 48 key (%i) margin 1.0 into %taken : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
  tile.end
}

// -----

// Nor do those that are unmarked.
tile.kernel @skip_2_unmark attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.unmark' op expected a tile of whole blocks, got 32 rows for blocks of 64}}
  tile.unmark %taken[%b, %h] query (%i) tile 32 rows 64 : memref<1x1x?x?xi8>
  tile.end
}

// -----

// Something must say what is skipped.
tile.kernel @skip_3_rule attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected limits of rows, or a margin}}
  %left = tile.skip %s, %m[%b, %h] query (%i) of (%n) rows 64 key (%i) into %taken : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
  tile.end
}

// -----

// Who reads them otherwise could tell skipped scores from others.
tile.kernel @skip_4_user attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%taken: memref<1x1x?x?xi8>, %b: index, %h: index, %i: index):
  %n = arith.constant 128 : index
  %s, %m, %l = tile.begin : !tile.tile<64x32xf32>, !tile.tile<64xf32>, !tile.tile<64xf32>
  // expected-error @+1 {{'tile.skip' op expected the result to go to softmax steps only, got 'tile.finish'}}
  %left = tile.skip %s, %m[%b, %h] query (%i) of (%n) rows 64 key (%i) margin 1.0 into %taken : !tile.tile<64x32xf32>, !tile.tile<64xf32>, memref<1x1x?x?xi8>
  %o, %e = tile.finish %left, %m, %l : !tile.tile<64x32xf32>, !tile.tile<64xf32> -> !tile.tile<64x32xf32>
  tile.end
}

// -----

// Marks are made where memory is written.
func.func @body_1_skip(%taken: memref<1x1x?x?xi8>, %i: index) {
  // expected-error @+1 {{'tile.unmark' op expected to stand in the body of a tile.kernel}}
  tile.unmark %taken[%i, %i] query (%i) tile 64 rows 64 : memref<1x1x?x?xi8>
  return
}
