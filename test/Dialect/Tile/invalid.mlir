// RUN: lacuna-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Each function or kernel breaks one rule of docs/dialects/tile.md and has its label in its name.

// A tile has rows, and columns or not.
// expected-error @+1 {{expected a tile of one or two extents, got 3}}
func.func private @tile_1_rank() -> !tile.tile<2x2x2xf32>

// -----

// An empty tile is no tile.
// expected-error @+1 {{expected positive tile extents, got 0}}
func.func private @tile_1_extent() -> !tile.tile<0xf32>

// -----

// Integers are not scores.
// expected-error @+1 {{expected f16, bf16 or f32 elements, got 'i8'}}
func.func private @tile_1_element() -> !tile.tile<4xi8>

// -----

// Arguments are inputs, outputs, then the grid.
// expected-error @+1 {{'tile.kernel' op expected the body to have at least 2 inputs and 1 outputs as arguments, got 1}}
tile.kernel @kernel_1_arguments attributes {inputs = 2, outputs = 1} plan {
  tile.plan grid() shapes()
} body {
^bb0(%b: index):
  tile.end
}

// -----

// The plan has the inputs and nothing else.
// expected-error @+1 {{'tile.kernel' op expected the plan to have the 1 inputs as arguments, got 0}}
tile.kernel @kernel_2_plan attributes {inputs = 1, outputs = 0} plan {
  tile.plan grid() shapes()
} body {
^bb0(%b: index):
  tile.end
}

// -----

// Both regions see the same inputs.
// expected-error @+1 {{'tile.kernel' op expected plan and body to agree on input 0, got 'f32' and 'index'}}
tile.kernel @kernel_2_types attributes {inputs = 1, outputs = 0} plan {
^bb0(%x: f32):
  tile.plan grid() shapes()
} body {
^bb0(%x: index):
  tile.end
}

// -----

// Outputs are memory.
// expected-error @+1 {{'tile.kernel' op expected output 0 to be a memref, got 'tensor<4xf32>'}}
tile.kernel @kernel_3_output attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 4 : index
  tile.plan grid() shapes(%n)
} body {
^bb0(%o: tensor<4xf32>):
  tile.end
}

// -----

// A grid point is named by numbers.
// expected-error @+1 {{'tile.kernel' op expected grid coordinates of type index, got 'i32'}}
tile.kernel @kernel_4_grid attributes {inputs = 0, outputs = 0} plan {
  tile.plan grid() shapes()
} body {
^bb0(%b: i32):
  tile.end
}

// -----

// Each region has its own end.
// expected-error @+1 {{'tile.kernel' op expected the plan to end with tile.plan}}
tile.kernel @kernel_5_plan attributes {inputs = 0, outputs = 0} plan {
  tile.end
} body {
  tile.end
}

// -----

// The other way round.
// expected-error @+1 {{'tile.kernel' op expected the body to end with tile.end}}
tile.kernel @kernel_5_body attributes {inputs = 0, outputs = 0} plan {
  tile.plan grid() shapes()
} body {
  tile.plan grid() shapes()
}

// -----

// An extent for each coordinate.
tile.kernel @kernel_6_grid attributes {inputs = 0, outputs = 0} plan {
  // expected-error @+1 {{'tile.plan' op expected an extent for each of the body's 1 grid coordinates, got 0}}
  tile.plan grid() shapes()
} body {
^bb0(%b: index):
  tile.end
}

// -----

// All extents of all outputs.
tile.kernel @kernel_7_shapes attributes {inputs = 0, outputs = 1} plan {
  %n = arith.constant 4 : index
  // expected-error @+1 {{'tile.plan' op expected the 2 extents of all outputs, got 1}}
  tile.plan grid() shapes(%n)
} body {
^bb0(%o: memref<?x?xf32>):
  tile.end
}

// -----

// In the body it is too late to refuse.
tile.kernel @require_1_place attributes {inputs = 0, outputs = 0} plan {
  tile.plan grid() shapes()
} body {
  %true = arith.constant true
  // expected-error @+1 {{'tile.require' op expected to stand in a plan, where a launch can still be refused}}
  tile.require %true, "no"
  tile.end
}

// -----

// Holes of the message are filled from the values.
tile.kernel @require_2_hole attributes {inputs = 0, outputs = 0} plan {
  %true = arith.constant true
  %n = arith.constant 4 : index
  // expected-error @+1 {{'tile.require' op expected each hole of the message to name one of the 1 values, got {1}}}
  tile.require %true, "expected {0}, got {1}" (%n)
  tile.plan grid() shapes()
} body {
  tile.end
}

// -----

// A launch names a kernel.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_1_symbol(%x: index) {
  // expected-error @+1 {{'tile.launch' op expected the name of a tile.kernel, got @launch_1_symbol}}
  %r = tile.launch @launch_1_symbol(%x) : (index) -> tensor<?xf32>
  return
}

// -----

// All its inputs.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_2_count(%x: index) {
  // expected-error @+1 {{'tile.launch' op expected the 1 inputs of the kernel, got 0}}
  %r = tile.launch @k() : () -> tensor<?xf32>
  return
}

// -----

// Of its types.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_2_type(%x: f32) {
  // expected-error @+1 {{'tile.launch' op expected input 0 of type 'index', got 'f32'}}
  %r = tile.launch @k(%x) : (f32) -> tensor<?xf32>
  return
}

// -----

// All its outputs.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_3_count(%x: index) {
  // expected-error @+1 {{'tile.launch' op expected the 1 outputs of the kernel, got 0}}
  "tile.launch"(%x) <{kernel = @k, operandSegmentSizes = array<i32: 1, 0>}> : (index) -> ()
  return
}

// -----

// Of their shapes.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_3_type(%x: index) {
  // expected-error @+1 {{'tile.launch' op expected output 0 to be a tensor of the shape of 'memref<?xf32>', got 'tensor<?xf16>'}}
  %r = tile.launch @k(%x) : (index) -> tensor<?xf16>
  return
}

// -----

// What is overwritten has the type of the result.
tile.kernel @k attributes {inputs = 1, outputs = 1} plan {
^bb0(%x: index):
  tile.plan grid() shapes(%x)
} body {
^bb0(%x: index, %o: memref<?xf32>):
  tile.end
}
func.func @launch_4_into(%x: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{'tile.launch' op expected one tensor of the same type per output behind 'into'}}
  %r = tile.launch @k(%x) into (%t : tensor<4xf32>) : (index) -> tensor<?xf32>
  return
}

// -----

// A box has an extent per axis.
func.func @box_1_axes(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected the token box to have one extent per axis and one to four axes, got 2 extents for 1 axes}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [8, 8] : tensor<1x1x?x16xf32> -> !tile.tile<64x16xf32>
  return
}

// -----

// None of them 0.
func.func @box_2_extent(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected the token box to have positive extents and at most 4096 tokens, got [0]}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [0] : tensor<1x1x?x16xf32> -> !tile.tile<64x16xf32>
  return
}

// -----

// And a bound on their product.
func.func @box_2_tokens(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected the token box to have positive extents and at most 4096 tokens, got [64, 65]}}
  %t = tile.load %s[%b, %h] at (%i, %i) of (%n, %n) base %n box [64, 65] : tensor<1x1x?x16xf32> -> !tile.tile<64x16xf32>
  return
}

// -----

// A box starts somewhere on each axis.
func.func @box_3_at(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected one token coordinate per axis, got 2 for 1 axes}}
  %t = tile.load %s[%b, %h] at (%i, %i) of (%n) base %n box [64] : tensor<1x1x?x16xf32> -> !tile.tile<64x16xf32>
  return
}

// -----

// Rows are tokens.
func.func @memory_1_rows(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected a tile of 64 rows, the tokens of the box, got 32}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [64] : tensor<1x1x?x16xf32> -> !tile.tile<32x16xf32>
  return
}

// -----

// A vector of a matrix would need a channel.
func.func @memory_2_rank(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected batch and head before the 1 axes of the tile, got 'tensor<1x1x?x16xf32>'}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [64] : tensor<1x1x?x16xf32> -> !tile.tile<64xf32>
  return
}

// -----

// All channels come at once.
func.func @memory_3_width(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected a tile as wide as the head dimension, got '!tile.tile<64x8xf32>' and 'tensor<1x1x?x16xf32>'}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [64] : tensor<1x1x?x16xf32> -> !tile.tile<64x8xf32>
  return
}

// -----

// A load converts nothing.
func.func @load_1_elements(%b: index, %h: index, %i: index, %n: index, %s: tensor<1x1x?x16xf32>) {
  // expected-error @+1 {{'tile.load' op expected the source's elements unchanged, got 'f32' and 'f16'}}
  %t = tile.load %s[%b, %h] at (%i) of (%n) base %n box [64] : tensor<1x1x?x16xf32> -> !tile.tile<64x16xf16>
  return
}

// -----

// A store rounds to floats.
func.func @store_1_target(%b: index, %h: index, %i: index, %n: index, %t: !tile.tile<64xf32>, %m: memref<1x1x?xi8>) {
  // expected-error @+1 {{'tile.store' op expected a ranked target of floats, got 'memref<1x1x?xi8>'}}
  tile.store %t, %m[%b, %h] at (%i) of (%n) base %n box [64] : !tile.tile<64xf32>, memref<1x1x?xi8>
  return
}

// -----

// Only a kernel writes.
func.func @body_1_store(%b: index, %h: index, %i: index, %n: index, %t: !tile.tile<64xf32>, %m: memref<1x1x?xf32>) {
  // expected-error @+1 {{'tile.store' op expected to stand in the body of a tile.kernel}}
  tile.store %t, %m[%b, %h] at (%i) of (%n) base %n box [64] : !tile.tile<64xf32>, memref<1x1x?xf32>
  return
}

// -----

// Products run over channels.
func.func @dot_1_rank(%q: !tile.tile<8xf32>, %k: !tile.tile<8x4xf32>) {
  // expected-error @+1 {{'tile.dot' op expected query and key tiles of rows and channels, got '!tile.tile<8xf32>' and '!tile.tile<8x4xf32>'}}
  %t = tile.dot %q, %k scale 1.0 : !tile.tile<8xf32>, !tile.tile<8x4xf32> -> !tile.tile<8x8xf32>
  return
}

// -----

// Of the same number and type.
func.func @dot_2_channels(%q: !tile.tile<8x4xf32>, %k: !tile.tile<8x4xf16>) {
  // expected-error @+1 {{'tile.dot' op expected query and key to have the same channels and elements, got '!tile.tile<8x4xf32>' and '!tile.tile<8x4xf16>'}}
  %t = tile.dot %q, %k scale 1.0 : !tile.tile<8x4xf32>, !tile.tile<8x4xf16> -> !tile.tile<8x8xf32>
  return
}

// -----

// With a scale that keeps zero zero.
func.func @dot_3_scale(%q: !tile.tile<8x4xf32>) {
  // expected-error @+1 {{'tile.dot' op expected a finite scale}}
  %t = tile.dot %q, %q scale 0x7F800000 : !tile.tile<8x4xf32>, !tile.tile<8x4xf32> -> !tile.tile<8x8xf32>
  return
}

// -----

// Scores are query rows by key rows.
func.func @tile_2_scores(%q: !tile.tile<8x4xf32>) {
  // expected-error @+1 {{'tile.dot' op expected scores of type '!tile.tile<8x8xf32>', got '!tile.tile<8x4xf32>'}}
  %t = tile.dot %q, %q scale 1.0 : !tile.tile<8x4xf32>, !tile.tile<8x4xf32> -> !tile.tile<8x4xf32>
  return
}

// -----

// A score region gets a score and four numbers.
func.func @region_1_score(%b: index, %h: index, %i: index, %n: index, %s: !tile.tile<8x4xf32>) {
  // expected-error @+1 {{'tile.score' op expected a region with arguments of types ('f32', 'index', 'index', 'index', 'index'), got ('f32')}}
  %t = tile.score %s[%b, %h] query (%i) of (%n) base %n box [8] key (%i) of (%n) base %n box [4] {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.tile<8x4xf32>
  return
}

// -----

// And returns a score.
func.func @region_2_score(%b: index, %h: index, %i: index, %n: index, %s: !tile.tile<8x4xf32>) {
  %t = tile.score %s[%b, %h] query (%i) of (%n) base %n box [8] key (%i) of (%n) base %n box [4] {
  ^bb0(%x: f32, %bb: index, %hh: index, %ii: index, %jj: index):
    // expected-error @+1 {{'tile.yield' op expected to yield ('f32'), got ('index')}}
    tile.yield %ii : index
  } : !tile.tile<8x4xf32>
  return
}

// -----

// A mask needs one meaning.
func.func @predicate_1_neither(%b: index, %h: index, %i: index, %n: index, %s: !tile.tile<8x4xf32>) {
  // expected-error @+1 {{'tile.mask' op expected either a set or a predicate region, got neither}}
  %t = tile.mask %s[%b, %h] query (%i) of (%n) box [8] key (%i) of (%n) box [4] : !tile.tile<8x4xf32>
  return
}

// -----

// And no more.
func.func @predicate_1_both(%b: index, %h: index, %i: index, %n: index) {
  %set = sparsity.causal
  // expected-error @+1 {{'tile.classify' op expected either a set or a predicate region, got both}}
  %t = tile.classify[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [8] key (%i) of (%n) box [4] where {
  ^bb0(%ii: index, %jj: index):
    %true = arith.constant true
    tile.yield %true : i1
  }
  return
}

// -----

// A set over a sequence has one coordinate on each side.
func.func @set_1_axes(%b: index, %h: index, %i: index, %n: index) {
  %set = sparsity.causal
  // expected-error @+1 {{'tile.classify' op expected the axes of '!sparsity.set<1>', got 2 query axes and 1 key axes}}
  %t = tile.classify[%b, %h] over %set : !sparsity.set<1> query (%i, %i) of (%n, %n) box [4, 2] key (%i) of (%n) box [4]
  return
}

// -----

// A concatenation has no coordinates.
func.func @set_1_segments(%b: index, %h: index, %i: index, %n: index, %set: !sparsity.set<1, 1>) {
  // expected-error @+1 {{'tile.classify' op expected a set between one query and one key segment, got '!sparsity.set<1, 1>'}}
  %t = tile.classify[%b, %h] over %set : !sparsity.set<1, 1> query (%i) of (%n) box [4] key (%i) of (%n) box [4]
  return
}

// -----

// A predicate is a yes or a no.
func.func @region_2_predicate(%b: index, %h: index, %i: index, %n: index) {
  %t = tile.classify[%b, %h] query (%i) of (%n) box [8] key (%i) of (%n) box [4] where {
  ^bb0(%ii: index, %jj: index):
    // expected-error @+1 {{'tile.yield' op expected to yield ('i1'), got ()}}
    tile.yield
  }
  return
}

// -----

// Full tiles have no mask.
func.func @mask_1_full(%b: index, %h: index, %i: index, %n: index, %s: !tile.tile<8x4xf32>) {
  %set = sparsity.causal
  tile.for_each full %set[%b, %h] query (%i) of (%n) box [8] key of (%n) box [4] {
  ^bb0(%j: index):
    // expected-error @+1 {{'tile.mask' op expected no mask in a loop over full tiles}}
    %t = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [8] key (%j) of (%n) box [4] : !tile.tile<8x4xf32>
    tile.yield
  } : !sparsity.set<1>
  return
}

// -----

// A set is named where its tiles are visited.
func.func @mask_2_place(%b: index, %h: index, %i: index, %n: index, %s: !tile.tile<8x4xf32>) {
  %set = sparsity.causal
  // expected-error @+1 {{'tile.mask' op expected a mask over a set to stand in a loop over live or partial tiles}}
  %t = tile.mask %s[%b, %h] over %set : !sparsity.set<1> query (%i) of (%n) box [8] key (%i) of (%n) box [4] : !tile.tile<8x4xf32>
  return
}

// -----

// The state is f32.
func.func @state_1_accumulator() {
  // expected-error @+1 {{'tile.begin' op expected an f32 accumulator of rows and channels, got '!tile.tile<8x4xf16>'}}
  %a, %m, %s = tile.begin : !tile.tile<8x4xf16>, !tile.tile<8xf32>, !tile.tile<8xf32>
  return
}

// -----

// A maximum per row.
func.func @state_2_maximum() {
  // expected-error @+1 {{'tile.begin' op expected maximum of type '!tile.tile<8xf32>', got '!tile.tile<4xf32>'}}
  %a, %m, %s = tile.begin : !tile.tile<8x4xf32>, !tile.tile<4xf32>, !tile.tile<8xf32>
  return
}

// -----

// Values add up in the accumulator.
func.func @step_1_values(%s: !tile.tile<8x4xf32>, %v: !tile.tile<4x2xf32>, %a: !tile.tile<8x4xf32>, %m: !tile.tile<8xf32>) {
  // expected-error @+1 {{'tile.softmax_step' op expected values as wide as the accumulator, got '!tile.tile<4x2xf32>' and '!tile.tile<8x4xf32>'}}
  %a1, %m1, %l1 = tile.softmax_step %s, %v into %a, %m, %m : !tile.tile<8x4xf32>, !tile.tile<4x2xf32>, !tile.tile<8x4xf32>, !tile.tile<8xf32>
  return
}

// -----

// A value for each score.
func.func @step_2_scores(%s: !tile.tile<8x4xf32>, %v: !tile.tile<2x4xf32>, %a: !tile.tile<8x4xf32>, %m: !tile.tile<8xf32>) {
  // expected-error @+1 {{'tile.softmax_step' op expected scores of type '!tile.tile<8x2xf32>', got '!tile.tile<8x4xf32>'}}
  %a1, %m1, %l1 = tile.softmax_step %s, %v into %a, %m, %m : !tile.tile<8x4xf32>, !tile.tile<2x4xf32>, !tile.tile<8x4xf32>, !tile.tile<8xf32>
  return
}

// -----

// Nothing merged has no value.
func.func @merge_1_parts() {
  // expected-error @+1 {{'tile.merge' op expected at least one part}}
  %o, %l = "tile.merge"() : () -> (!tile.tile<8x4xf32>, !tile.tile<8xf32>)
  return
}

// -----

// Parts have one shape.
func.func @merge_2_shape(%p: !tile.tile<8x2xf32>, %m: !tile.tile<8xf32>) {
  // expected-error @+1 {{'tile.merge' op expected parts of the shape of '!tile.tile<8x4xf32>', got '!tile.tile<8x2xf32>'}}
  %o, %l = tile.merge (%p : !tile.tile<8x2xf32>), (%m : !tile.tile<8xf32>) -> !tile.tile<8x4xf32>, !tile.tile<8xf32>
  return
}

// -----

// One lse per row of the result, from each part.
func.func @merge_2_lse(%p: !tile.tile<8x4xf32>, %m: !tile.tile<4xf32>) {
  // expected-error @+1 {{'tile.merge' op expected each part's lse to be '!tile.tile<8xf32>', got '!tile.tile<4xf32>'}}
  %o, %l = "tile.merge"(%p, %m) : (!tile.tile<8x4xf32>, !tile.tile<4xf32>) -> (!tile.tile<8x4xf32>, !tile.tile<8xf32>)
  return
}

// -----

// The loop hands on what it carries.
func.func @region_1_loop(%b: index, %h: index, %i: index, %n: index, %x: f32) {
  %set = sparsity.causal
  // expected-error @+1 {{'tile.for_each' op expected a region with arguments of types ('index', 'f32'), got ('index')}}
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [8] key of (%n) box [4] init (%x : f32) {
  ^bb0(%j: index):
    tile.yield %x : f32
  } : !sparsity.set<1>
  return
}

// -----

// And returns it.
func.func @region_2_loop(%b: index, %h: index, %i: index, %n: index, %x: f32) {
  %set = sparsity.causal
  %r = tile.for_each live %set[%b, %h] query (%i) of (%n) box [8] key of (%n) box [4] init (%x : f32) {
  ^bb0(%j: index, %y: f32):
    // expected-error @+1 {{'tile.yield' op expected to yield ('f32'), got ()}}
    tile.yield
  } : !sparsity.set<1>
  return
}
