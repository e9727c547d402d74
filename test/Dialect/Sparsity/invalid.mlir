// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Every function breaks the rule that its name begins with.

// expected-error @+1 {{expected each segment to have one to four axes, got 5}}
func.func private @domain_1_axes(!sparsity.domain<5>)

// -----

// expected-error @+1 {{expected each segment to have one to four axes, got 0}}
func.func private @domain_1_set(!sparsity.set<1 to 0>)

// -----

func.func @domain_2_sequence(%n: index) {
  // expected-error @+1 {{'sparsity.sequence' op expected 1 size, got 2}}
  %d = sparsity.sequence [%n, 4]
  return
}

// -----

func.func @domain_2_grid(%n: index) {
  // expected-error @+1 {{'sparsity.grid' op expected 2 to 4 sizes, got 1}}
  %d = sparsity.grid [%n]
  return
}

// -----

func.func @domain_3_negative_size(%n: index) {
  // expected-error @+1 {{'sparsity.grid' op expected sizes of at least 0, got -4}}
  %d = sparsity.grid [%n, -4]
  return
}

// -----

func.func @domain_4_nothing() {
  // expected-error @+2 {{'sparsity.concat' op expected at least one domain}}
  // expected-error @+1 {{failed to infer returned types}}
  %d = "sparsity.concat"() : () -> !sparsity.domain<1>
  return
}

// -----

func.func @set_1_other_type(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.all' op expected a set of type '!sparsity.set<2>' in this domain, got '!sparsity.set<3>'}}
  %s = sparsity.all in %g : !sparsity.domain<2> : !sparsity.set<3>
  return
}

// -----

func.func @set_2_two_segments() {
  // expected-error @+1 {{'sparsity.affine' op expected one segment of queries and one of keys, got '!sparsity.set<1, 2>'}}
  %s = sparsity.affine affine_set<(i, j) : (i - j >= 0)> : !sparsity.set<1, 2>
  return
}

// -----

func.func @number_1_both(%n: index) {
  // expected-error @+1 {{'sparsity.prefix' op expected count to be a constant or an operand, got both}}
  %s = "sparsity.prefix"(%n) {count_value = 4 : i64} : (index) -> !sparsity.set<1>
  return
}

// -----

func.func @number_1_neither() {
  // expected-error @+1 {{'sparsity.stride' op expected step as a constant or an operand, got neither}}
  %s = "sparsity.stride"() : () -> !sparsity.set<1>
  return
}

// -----

func.func @number_2_huge() {
  // expected-error @+1 {{'sparsity.window' op expected left of at most 281474976710656, got 9223372036854775807}}
  %s = sparsity.window left(9223372036854775807)
  return
}

// -----

func.func @number_3_missing_operand(%n: index) {
  %g = sparsity.grid [%n, 4]
  // expected-error @+1 {{'sparsity.radius' op expected 1 operands for radii, got 0}}
  %s = "sparsity.radius"(%g) {static_radii = array<i64: 2, -9223372036854775808>} : (!sparsity.domain<2>) -> !sparsity.set<2>
  return
}

// -----

func.func @number_type(%n: f32) {
  // expected-error @+1 {{'sparsity.window' op operand #0 must be index or 1D tensor of index or 32-bit signless integer or 64-bit signless integer values, but got 'f32'}}
  %s = sparsity.window left(%n : f32)
  return
}

// -----

func.func @list_1_empty() {
  // expected-error @+1 {{'sparsity.slashes' op expected list to have at least one entry}}
  %s = sparsity.slashes []
  return
}

// -----

func.func @list_2_both() {
  // expected-error @+1 {{'sparsity.rows' op expected a count or a list, got both}}
  %s = "sparsity.rows"() {count_value = 4 : i64, list = array<i64: 2>} : () -> !sparsity.set<1>
  return
}

// -----

func.func @affine_1_dimensions() {
  // expected-error @+1 {{'sparsity.affine' op expected 2 dimensions, one per query and key axis, got 3}}
  %s = sparsity.affine affine_set<(i, j, k) : (i - j >= 0)>
  return
}

// -----

func.func @affine_1_symbols(%n: index) {
  // expected-error @+1 {{'sparsity.affine' op expected a number for each of 2 symbols, got 1}}
  %s = sparsity.affine affine_set<(i, j)[a, b] : (i - j >= a + b)> [%n]
  return
}

// -----

func.func @affine_2_product(%n: index) {
  // expected-error @+1 {{'sparsity.affine' op expected affine constraints, got}}
  %s = sparsity.affine affine_set<(i, j)[a] : (i * a - j >= 0)> [%n]
  return
}

// -----

func.func @affine_2_negative_divisor() {
  // expected-error @+1 {{'sparsity.affine' op expected positive constant divisors, got}}
  %s = "sparsity.affine"() <{constraints = affine_set<(i, j) : (i floordiv -2 - j >= 0)>, operandSegmentSizes = array<i32: 0, 0>, static_numbers = array<i64>}> : () -> !sparsity.set<1>
  return
}

// -----

func.func @affine_2_divisor(%n: index) {
  // expected-error @+1 {{'sparsity.affine' op expected affine constraints, got}}
  %s = sparsity.affine affine_set<(i, j)[a] : (i floordiv a - j >= 0)> [%n]
  return
}

// -----

func.func @where_1_arguments() {
  // expected-error @+1 {{'sparsity.where' op expected 4 arguments (batch, head, query axes, key axes), got 2}}
  %s = sparsity.where (%i, %j) {
    %live = arith.cmpi eq, %i, %j : index
    sparsity.yield %live : i1
  }
  return
}

// -----

func.func @where_1_types() {
  // expected-error @+1 {{'sparsity.where' op expected arguments of type index, got 'i32'}}
  %s = "sparsity.where"() ({
  ^bb0(%b: index, %h: index, %i: i32, %j: i32):
    %live = arith.cmpi eq, %i, %j : i32
    "sparsity.yield"(%live) : (i1) -> ()
  }) : () -> !sparsity.set<1>
  return
}

// -----

func.func @where_1_no_block() {
  // expected-error @+1 {{'sparsity.where' op expected a predicate of one block, got 0}}
  %s = "sparsity.where"() ({}) : () -> !sparsity.set<1>
  return
}

// -----

func.func @where_2_no_yield() {
  // expected-error @+1 {{'sparsity.where' op expected the predicate to end with 'sparsity.yield'}}
  %s = sparsity.where (%b, %h, %i, %j) {
    %live = arith.cmpi eq, %i, %j : index
  }
  return
}

// -----

func.func @where_3_side_effects(%m: memref<4xi1>) {
  // expected-error @+1 {{'sparsity.where' op expected a predicate without side effects, got 'memref.load'}}
  %s = sparsity.where (%b, %h, %i, %j) {
    %live = memref.load %m[%i] : memref<4xi1>
    sparsity.yield %live : i1
  }
  return
}
