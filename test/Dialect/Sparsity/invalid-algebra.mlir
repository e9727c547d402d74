// RUN: lacuna-opt %s --split-input-file --verify-diagnostics

// Every function breaks the rule that its name begins with.

func.func @algebra_1_two_domains(%n: index) {
  // expected-note @+1 {{one is this}}
  %a = sparsity.grid [%n, 4]
  // expected-note @+1 {{the other is this}}
  %b = sparsity.grid [%n, 8]
  %s = sparsity.causal in %a : !sparsity.domain<2>
  %t = sparsity.causal in %b : !sparsity.domain<2>
  // expected-error @+1 {{'sparsity.union' op expected operands over one domain, got two}}
  %u = sparsity.union %s, %t : !sparsity.set<2>
  return
}

// -----

// Grids that say the same are one domain.
func.func @algebra_1_equal_domains(%n: index) {
  %a = sparsity.grid [%n, 4]
  %b = sparsity.grid [%n, 4]
  %s = sparsity.causal in %a : !sparsity.domain<2>
  %t = sparsity.causal in %b : !sparsity.domain<2>
  %u = sparsity.union %s, %t : !sparsity.set<2>
  return
}

// -----

func.func @algebra_2_argument(%t: !sparsity.set<1>) {
  // expected-error @+1 {{'sparsity.complement' op expected operands that set ops define, got a block argument}}
  %u = sparsity.complement %t
  return
}

// -----

// Ten doublings: 2 + 4 + ... + 1024 uses.
func.func @algebra_3_size() {
  %0 = sparsity.causal
  %1 = sparsity.union %0, %0
  %2 = sparsity.union %1, %1
  %3 = sparsity.union %2, %2
  %4 = sparsity.union %3, %3
  %5 = sparsity.union %4, %4
  %6 = sparsity.union %5, %5
  %7 = sparsity.union %6, %6
  %8 = sparsity.union %7, %7
  %9 = sparsity.union %8, %8
  // expected-error @+1 {{'sparsity.union' op expected an expression of at most 1024 sets}}
  %10 = sparsity.union %9, %9
  return
}

// -----

func.func @per_head_1_neither() {
  %a = sparsity.causal
  // expected-error @+1 {{'sparsity.per_head' op expected classes as an operand or as a list, got neither}}
  %s = "sparsity.per_head"(%a) <{operandSegmentSizes = array<i32: 0, 1>}> : (!sparsity.set<1>) -> !sparsity.set<1>
  return
}

// -----

func.func @per_head_2_nothing() {
  // expected-error @+1 {{'sparsity.per_head' op expected at least one set}}
  %s = sparsity.per_head [0] []
  return
}

// -----

func.func @per_head_3_class() {
  %a = sparsity.causal
  // expected-error @+1 {{'sparsity.per_head' op expected classes below 1, got 1}}
  %s = sparsity.per_head [0, 1] [%a]
  return
}

// -----

func.func @segments_1_count(%n: index) {
  %t = sparsity.sequence [%n]
  %d = sparsity.concat %t, %t : !sparsity.domain<1>, !sparsity.domain<1>
  %a = sparsity.causal
  // expected-error @+1 {{'sparsity.segments' op expected 2 rows of 2 sets, got 2 sets}}
  %s = sparsity.segments %d [[%a, %a]] : !sparsity.domain<1, 1>
  return
}

// -----

func.func @segments_1_ragged(%n: index) {
  %t = sparsity.sequence [%n]
  %d = sparsity.concat %t, %t : !sparsity.domain<1>, !sparsity.domain<1>
  %a = sparsity.causal
  // expected-error @+1 {{expected rows of equal length, got 2 and 1}}
  %s = sparsity.segments %d [[%a, %a], [%a]] : !sparsity.domain<1, 1>
  return
}

// -----

func.func @segments_1_lone(%n: index) {
  %g = sparsity.grid [%n, 4]
  %c = sparsity.causal in %g : !sparsity.domain<2>
  // expected-error @+1 {{'sparsity.segments' op expected a domain of at least two segments, got 1}}
  %s = sparsity.segments %g [[%c]] : !sparsity.domain<2>
  return
}

// -----

func.func @algebra_2_other_op(%t: !sparsity.set<1>, %c: i1) {
  %x = arith.select %c, %t, %t : !sparsity.set<1>
  // expected-error @+1 {{'sparsity.complement' op expected operands that set ops define, got the result of 'arith.select'}}
  %u = sparsity.complement %x
  return
}

// -----

func.func @per_head_2_type(%n: index) {
  %g = sparsity.grid [%n, 4]
  %c = sparsity.causal in %g : !sparsity.domain<2>
  // expected-error @+1 {{'sparsity.per_head' op expected sets of type '!sparsity.set<1>', got '!sparsity.set<2>'}}
  %s = "sparsity.per_head"(%c) <{operandSegmentSizes = array<i32: 0, 1>, class_values = array<i64: 0>}> : (!sparsity.set<2>) -> !sparsity.set<1>
  return
}

// -----

func.func @per_head_3_no_head() {
  %c = sparsity.causal
  // expected-error @+1 {{'sparsity.per_head' op expected a class for at least one head}}
  %s = sparsity.per_head [] [%c]
  return
}

// -----

func.func @parse_segments_type(%n: index) {
  %c = sparsity.causal
  // expected-error @+1 {{expected a domain type, got 'index'}}
  %s = sparsity.segments %n [[%c]] : index
  return
}

// -----

func.func @segments_2_type(%n: index) {
  %t = sparsity.sequence [%n]
  %g = sparsity.grid [%n, 4]
  %d = sparsity.concat %t, %g : !sparsity.domain<1>, !sparsity.domain<2>
  %a = sparsity.causal
  // expected-error @+1 {{'sparsity.segments' op expected a set of type '!sparsity.set<1 to 2>' in row 0, column 1, got '!sparsity.set<1>'}}
  %s = "sparsity.segments"(%d, %a, %a, %a, %a) : (!sparsity.domain<1, 2>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>) -> !sparsity.set<1, 2>
  return
}

// -----

func.func @segments_3_other_domain(%n: index) {
  %g = sparsity.grid [%n, 4]
  %other = sparsity.grid [%n, 8]
  %d = sparsity.concat %g, %g : !sparsity.domain<2>, !sparsity.domain<2>
  %c = sparsity.causal in %g : !sparsity.domain<2>
  %a = sparsity.causal in %other : !sparsity.domain<2>
  // expected-error @+1 {{'sparsity.segments' op expected the set in row 1, column 0 to be over the domain of its segment}}
  %s = sparsity.segments %d [[%c, %c], [%a, %c]] : !sparsity.domain<2, 2>
  return
}
