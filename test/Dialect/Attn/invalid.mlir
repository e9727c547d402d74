// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Each function breaks one rule of docs/dialects/attn.md and has its label in its name.

// Encodings could hide a layout that kernels do not read.
func.func @shape_1_encoding(%q: tensor<1x8x?x64xf32, "blocked">, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query without an encoding, got}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32, "blocked">, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Tiles have constant widths.
func.func @shape_2_dynamic_head_dimension(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x?xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected value to have a constant head dimension from 1 to 512, got ?}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x?xf32> -> tensor<1x8x?x?xf32>
  return
}

// -----

// One channel too many.
func.func @shape_2_head_dimension(%q: tensor<1x8x?x513xf32>, %k: tensor<1x2x?x513xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query to have a constant head dimension from 1 to 512, got 513}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x513xf32>, tensor<1x2x?x513xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// The batch of the keys.
func.func @attend_1_batch(%q: tensor<2x8x?x64xf32>, %k: tensor<3x2x?x64xf32>, %v: tensor<3x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query and key to share the batch, got 2 and 3}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<2x8x?x64xf32>, tensor<3x2x?x64xf32>, tensor<3x2x?x32xf32> -> tensor<2x8x?x32xf32>
  return
}

// -----

// A dynamic key batch does not hide that query and value disagree.
func.func @attend_1_batch_through_dynamic(%q: tensor<2x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<3x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query and value to share the batch, got 2 and 3}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<2x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<3x2x?x32xf32> -> tensor<2x8x?x32xf32>
  return
}

// -----

// Keys and values come in pairs, head by head.
func.func @attend_2_heads(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x4x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected key and value to have the same number of heads, got 2 and 4}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x4x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// And token by token.
func.func @attend_3_length(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x16x64xf32>, %v: tensor<1x2x17x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected key and value to have the same length, got 16 and 17}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x17x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// The product of query and key runs over the head dimension.
func.func @attend_4_head_dimension(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x32xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query and key to share the head dimension, got 64 and 32}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x32xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Case E4: with 3 heads on 2 some query head would read a key head that is not there.
func.func @attend_5_heads(%q: tensor<1x3x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected the number of query heads to be a multiple of the number of key heads, got 3 and 2}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x3x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x3x?x32xf32>
  return
}

// -----

// No key head serves no query head.
func.func @attend_5_no_key_heads(%q: tensor<1x8x?x64xf32>, %k: tensor<1x0x?x64xf32>, %v: tensor<1x0x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected the number of query heads to be a multiple of the number of key heads, got 8 and 0}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x0x?x64xf32>, tensor<1x0x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// One element type for all four tensors.
func.func @attend_6_element_type(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xbf16>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query, key, value and output of one element type, got 'f32' and 'bf16'}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xbf16>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// The output has the query's rows and the value's channels.
func.func @attend_7_output(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected an output of type 'tensor<1x8x?x32xf32>', got 'tensor<1x8x?x64xf32>'}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x64xf32>
  return
}

// -----

// The lse has one number per row.
func.func @attend_8_lse(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected an lse of type 'tensor<1x8x?xf32>', got 'tensor<1x2x?xf32>'}}
  %o, %lse = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>, tensor<1x2x?xf32>
  return
}

// -----

// A sink belongs to a query head, not to a key head.
func.func @attend_9_sinks(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %sinks: tensor<2xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected one sink per query head, got 2 sinks and 8 heads}}
  %o = attn.attend %q, %k, %v over %set sinks %sinks : tensor<2xf32>
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// An infinite scale would make NaN of a zero product.
func.func @attend_10_scale(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected a finite scale}}
  %o = "attn.attend"(%q, %q, %q, %set) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>, scale = 0x7F800000 : f32}> ({
  }) : (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, !sparsity.set<1>) -> tensor<1x1x?x64xf32>
  return
}

// -----

// A set between two segments is one entry of a larger one.
func.func @attend_11_segments(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %set: !sparsity.set<1 to 2>) {
  // expected-error @+1 {{'attn.attend' op expected a set whose queries and keys lie in the same segments, got '!sparsity.set<1 to 2>'}}
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<1 to 2>
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// A set has no value at run time: its ops must be in sight.
func.func @attend_12_argument(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %set: !sparsity.set<1>) {
  // expected-error @+1 {{'attn.attend' op expected a set that set ops define, got one from outside}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// The same below an algebra op, whose own rule says so first.
func.func @attend_12_nested_argument(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %other: !sparsity.set<1>) {
  %all = sparsity.all
  // expected-error @+1 {{'sparsity.union' op expected operands that set ops define, got a block argument}}
  %set = sparsity.union %all, %other
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Nodes that are seen through columns weigh more than one pair.
func.func @attend_17_columns(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  // expected-note @+1 {{the hierarchy is this}}
  %far = sparsity.dyadic fenwick base 64 columns 1
  %sink = sparsity.prefix 1
  %set = sparsity.union %far, %sink
  // expected-error @+1 {{'attn.attend' op expected a hierarchy with columns to be the whole set, got it as an operand of other sets}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// A sequence has one axis.
func.func @attend_13_axes(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query_tile to have an extent for each of the 1 axes, got 2}}
  %o = attn.attend %q, %k, %v over %set {query_tile = array<i64: 8, 8>}
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Zero is no extent.
func.func @attend_13_extents(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected key_tile to have positive extents and at most 4096 tokens per tile, got [0]}}
  %o = attn.attend %q, %k, %v over %set {key_tile = array<i64: 0>}
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Nor are more tokens than a tile may have.
func.func @attend_13_tokens(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected key_tile to have positive extents and at most 4096 tokens per tile, got [4097]}}
  %o = attn.attend %q, %k, %v over %set {key_tile = array<i64: 4097>}
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Five arguments have names of their own.
func.func @attend_14_arguments(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{expected a score region of five arguments (score, batch, head, query position, key position), got 2}}
  %o = attn.attend %q, %q, %q over %set score (%s, %b) {
    attn.yield %s : f32
  } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

// The generic form checks their types too.
func.func @attend_14_types(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected a score region with arguments of types ('f32', 'index', 'index', 'index', 'index'), got ('f32')}}
  %o = "attn.attend"(%q, %q, %q, %set) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%s: f32):
    "attn.yield"(%s) : (f32) -> ()
  }) : (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, !sparsity.set<1>) -> tensor<1x1x?x64xf32>
  return
}

// -----

// A region that ends otherwise returns no score.
func.func @attend_15_yield(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected the score region to end with attn.yield}}
  %o = attn.attend %q, %q, %q over %set score (%s, %b, %h, %i, %j) {
    llvm.unreachable
  } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

// A score is computed once, twice or never: nobody may see how often.
func.func @attend_16_effects(%q: tensor<1x1x?x64xf32>, %log: memref<?xf32>) {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set score (%s, %b, %h, %i, %j) {
    // expected-error @+1 {{expected ops without side effects in a score region, got 'memref.store'}}
    memref.store %s, %log[%j] : memref<?xf32>
    attn.yield %s : f32
  } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

// The parser wants three types.
func.func @attend_types(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{expected the types of query, key and value, got 1 types}}
  %o = attn.attend %q, %q, %q over %set : tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return
}

// -----

// One output and at most one lse.
func.func @attend_results(%q: tensor<1x1x?x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{result group starting at #1 requires 0 or 1 element, but found 2}}
  %o:3 = attn.attend %q, %q, %q over %set : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>, tensor<1x1x?xf32>
  return
}

// -----

// Tokens need batch, heads, length and channels.
func.func @attend_rank(%q: tensor<8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op operand #0 must be 4D tensor of 16-bit float or bfloat16 type or 32-bit float values, but got 'tensor<8x?x64xf32>'}}
  %o = attn.attend %q, %k, %v over %set
      : tensor<8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return
}

// -----

// Nothing merged has no shape.
func.func @merge_1_no_part() {
  // expected-error @+1 {{'attn.merge' op expected at least one part}}
  %o, %lse = "attn.merge"() : () -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>)
  return
}

// -----

// All parts look like the result.
func.func @merge_2_types(%o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>, %o1: tensor<1x1x?x32xf32>) {
  // expected-error @+1 {{'attn.merge' op expected parts of the result's types 'tensor<1x1x?x64xf32>' and 'tensor<1x1x?xf32>', got 'tensor<1x1x?x32xf32>' and 'tensor<1x1x?xf32>'}}
  %o, %lse = "attn.merge"(%o0, %o1, %l0, %l0) : (tensor<1x1x?x64xf32>, tensor<1x1x?x32xf32>, tensor<1x1x?xf32>, tensor<1x1x?xf32>) -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>)
  return
}

// -----

// One weight per row.
func.func @merge_3_lse(%o0: tensor<1x2x?x64xf32>, %l0: tensor<1x1x?xf32>) {
  // expected-error @+1 {{'attn.merge' op expected an lse of type 'tensor<1x2x?xf32>', got 'tensor<1x1x?xf32>'}}
  %o, %lse = attn.merge (%o0, %l0) : tensor<1x2x?x64xf32>, tensor<1x1x?xf32>
  return
}

// -----

// Its tensors of tokens obey the rules of all.
func.func @shape_2_merge(%o0: tensor<1x1x?x?xf32>, %l0: tensor<1x1x?xf32>) {
  // expected-error @+1 {{'attn.merge' op expected output to have a constant head dimension from 1 to 512, got ?}}
  %o, %lse = attn.merge (%o0, %l0) : tensor<1x1x?x?xf32>, tensor<1x1x?xf32>
  return
}

// -----

// Nothing is skipped, so there is nothing to mark.
func.func @attend_18_marks_without_skip(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected limits, margins and marks of blocks to come with 'skip'}}
  %o, %taken = attn.attend %q, %k, %k over %set : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>, tensor<1x8x4x2xi8>
  return
}

// -----

// The margin of what?
func.func @attend_18_margin_without_skip(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected limits, margins and marks of blocks to come with 'skip'}}
  %o = attn.attend %q, %k, %k over %set {margin = 1.0 : f32} : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// Blocks alone do not say which of them are skipped.
func.func @attend_18_no_rule(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected 'skip' to say what is skipped: 'below' limits of rows, or a 'margin' to the largest score}}
  %o = attn.attend %q, %k, %k over %set skip query [64] key [64] : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// Blocks are those of a sequence.
func.func @attend_19_grid(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %w = arith.constant 10 : index
  %h = arith.constant 20 : index
  %plane = sparsity.grid [%h, %w]
  %set = sparsity.all in %plane : !sparsity.domain<2>
  // expected-error @+1 {{'attn.attend' op expected a set of one sequence where blocks are skipped, got '!sparsity.set<2>'}}
  %o = attn.attend %q, %k, %k over %set : !sparsity.set<2> skip query [64] key [64] margin 1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// A node that is seen through columns has no scores of its keys.
func.func @attend_19_hierarchy(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.dyadic fenwick base 64 columns 1
  // expected-error @+1 {{'attn.attend' op expected no hierarchy with columns where blocks are skipped}}
  %o = attn.attend %q, %k, %k over %set skip query [64] key [64] margin 1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// One extent for the one axis.
func.func @attend_20_axes(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected key blocks that are skipped to have one extent from 1 to 4096, got [64, 2]}}
  %o = attn.attend %q, %k, %k over %set skip query [64] key [64, 2] margin 1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// A block of no query.
func.func @attend_20_extent(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected query blocks that are skipped to have one extent from 1 to 4096, got [0]}}
  %o = attn.attend %q, %k, %k over %set skip query [0] key [64] margin 1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// A margin below 0 would skip the block with the largest score.
func.func @attend_21_margin(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected a finite margin of at least 0, got -1.000000e+00}}
  %o = attn.attend %q, %k, %k over %set skip query [64] key [64] margin -1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// One limit per row of each query head.
func.func @attend_22_limits(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>, %t: tensor<1x2x200xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected a limit per row of the query, of type 'tensor<1x8x200xf32>', got 'tensor<1x2x200xf32>'}}
  %o = attn.attend %q, %k, %k over %set skip query [64] key [64] below %t : tensor<1x2x200xf32> : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>
  return
}

// -----

// A byte for each pair of blocks, the last ones short.
func.func @attend_23_marks(%q: tensor<1x8x200x64xf32>, %k: tensor<1x2x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+1 {{'attn.attend' op expected marks of type 'tensor<1x8x4x2xi8>', got 'tensor<1x8x3x2xi8>'}}
  %o, %taken = attn.attend %q, %k, %k over %set skip query [64] key [128] margin 1.0 : tensor<1x8x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x8x200x64xf32>, tensor<1x8x3x2xi8>
  return
}

// -----

// Output, lse, marks: no fourth.
func.func @four_results(%q: tensor<1x8x200x64xf32>) {
  %set = sparsity.all
  // expected-error @+3 {{expected the types of one to three results, got 4}}
  %o:4 = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x8x200x64xf32>, tensor<1x8x200x64xf32>, tensor<1x8x200x64xf32> -> tensor<1x8x200x64xf32>, tensor<1x8x200xf32>, tensor<1x8x4x4xi8>, tensor<1x8x4x4xi8>
  return
}
