// RUN: lacuna-opt %s --canonicalize | FileCheck %s

// Single sets. Each function ends in a use of its set, which would otherwise be dead.

// A constant operand becomes part of the op.
// CHECK-LABEL: func.func @constant_operand(
// CHECK: sparsity.window left(255) right(0)
func.func @constant_operand() -> !sparsity.set<1> {
  %c = arith.constant 255 : index
  %z = arith.constant 0 : index
  %s = sparsity.window left(%c) right(%z)
  return %s : !sparsity.set<1>
}

// Near miss: a step of zero has no constant form, only the meaning of run-time steps.
// CHECK-LABEL: func.func @constant_step_zero(
// CHECK: sparsity.stride %
func.func @constant_step_zero() -> !sparsity.set<1> {
  %z = arith.constant 0 : index
  %s = sparsity.stride %z
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @constant_in_list(
// CHECK: sparsity.radius [2, %{{.*}}, 5] in
func.func @constant_in_list(%n: index) -> !sparsity.set<3> {
  %c = arith.constant 5 : index
  %g = sparsity.grid [%n, %n, %n]
  %s = sparsity.radius [2, %n, %c] in %g : !sparsity.domain<3>
  return %s : !sparsity.set<3>
}

// CHECK-LABEL: func.func @open_window(
// CHECK: sparsity.all
func.func @open_window() -> !sparsity.set<1> {
  %s = sparsity.window
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @empty_window(
// CHECK: sparsity.none
func.func @empty_window() -> !sparsity.set<1> {
  %s = sparsity.window left(3) right(-4)
  return %s : !sparsity.set<1>
}

// Near miss: one distance is left.
// CHECK-LABEL: func.func @one_distance(
// CHECK: sparsity.window left(4) right(-4)
func.func @one_distance() -> !sparsity.set<1> {
  %s = sparsity.window left(4) right(-4)
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @past_window(
// CHECK: sparsity.causal from_start
func.func @past_window() -> !sparsity.set<1> {
  %s = sparsity.window right(0) from_start
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @no_keys(
// CHECK: sparsity.none
func.func @no_keys() -> !sparsity.set<1> {
  %s = sparsity.prefix 0
  return %s : !sparsity.set<1>
}

// A count of columns is a prefix; lists are sorted, and neighbouring lines are a window.
// CHECK-LABEL: func.func @lists(
// CHECK-DAG: sparsity.prefix 4
// CHECK-DAG: sparsity.columns [1, 7, 9]
// CHECK-DAG: sparsity.window left(2) right(1)
// CHECK-DAG: sparsity.slashes [0, 2]
func.func @lists() -> (!sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>) {
  %a = sparsity.columns 4
  %b = sparsity.columns [9, 1, 7, 1]
  %c = sparsity.slashes [1, -1, 2, 0]
  %d = sparsity.slashes [2, 0]
  return %a, %b, %c, %d : !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>
}

// CHECK-LABEL: func.func @steps_of_one(
// CHECK-DAG: sparsity.all
// CHECK-DAG: sparsity.window left(%{{.*}}) right(0)
func.func @steps_of_one(%n: index) -> (!sparsity.set<1>, !sparsity.set<1>) {
  %a = sparsity.stride 1
  %b = sparsity.dilated left(%n) right(0) step(1)
  return %a, %b : !sparsity.set<1>, !sparsity.set<1>
}

// All levels of a hierarchy at full resolution are what it tiles; some levels, or nodes seen
// through columns, are not.
// CHECK-LABEL: func.func @hierarchies(
// CHECK-DAG: sparsity.causal
// CHECK-DAG: sparsity.all
// CHECK-DAG: sparsity.dyadic fenwick base 64 only [0, 2]
// CHECK-DAG: sparsity.dyadic fenwick base 64 columns 1
func.func @hierarchies() -> (!sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>) {
  %a = sparsity.dyadic fenwick base 64
  %b = sparsity.dyadic distance base 64
  %c = sparsity.dyadic fenwick base 64 only [0, 2]
  %d = sparsity.dyadic fenwick base 64 columns 1
  return %a, %b, %c, %d : !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>
}

// Radii that reach over the whole grid; the set still names it.
// CHECK-LABEL: func.func @covering_radius(
// CHECK: sparsity.all in %{{.*}} : !sparsity.domain<2>
func.func @covering_radius() -> !sparsity.set<2> {
  %g = sparsity.grid [8, 4]
  %s = sparsity.radius [7, 3] border(shift) in %g : !sparsity.domain<2>
  return %s : !sparsity.set<2>
}

// Near misses: one token short, an axis of run-time size, a causal axis.
// CHECK-LABEL: func.func @not_covering(
// CHECK-COUNT-3: sparsity.radius
func.func @not_covering(%n: index) -> (!sparsity.set<2>, !sparsity.set<2>, !sparsity.set<2>) {
  %g = sparsity.grid [8, 4]
  %h = sparsity.grid [8, %n]
  %a = sparsity.radius [6, 3] in %g : !sparsity.domain<2>
  %b = sparsity.radius [7, 100] in %h : !sparsity.domain<2>
  %c = sparsity.radius [7, 3] causal [0] in %g : !sparsity.domain<2>
  return %a, %b, %c : !sparsity.set<2>, !sparsity.set<2>, !sparsity.set<2>
}

// CHECK-LABEL: func.func @other_coverings(
// CHECK-COUNT-3: sparsity.all in
func.func @other_coverings() -> (!sparsity.set<2>, !sparsity.set<2>, !sparsity.set<2>) {
  %g = sparsity.grid [8, 4]
  %a = sparsity.radius 10 norm(l2) in %g : !sparsity.domain<2>
  %b = sparsity.radius [1, 3] unit [4, 1] in %g : !sparsity.domain<2>
  %c = sparsity.block_diagonal [8, 4] in %g : !sparsity.domain<2>
  return %a, %b, %c : !sparsity.set<2>, !sparsity.set<2>, !sparsity.set<2>
}

// CHECK-LABEL: func.func @impossible_constraints(
// CHECK: sparsity.none
func.func @impossible_constraints() -> !sparsity.set<1> {
  %s = sparsity.affine affine_set<(i, j) : (1 == 0)>
  return %s : !sparsity.set<1>
}
