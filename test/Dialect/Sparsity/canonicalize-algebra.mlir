// RUN: lacuna-opt %s --canonicalize --cse | FileCheck %s

// A window and the past are one window.
// CHECK-LABEL: func.func @window_and_past(
// CHECK: %[[W:.*]] = sparsity.window left(%{{.*}}) right(0)
// CHECK-NEXT: return %[[W]]
func.func @window_and_past(%n: index) -> !sparsity.set<1> {
  %w = sparsity.window left(%n) right(5)
  %c = sparsity.causal
  %s = sparsity.intersect %w, %c
  return %s : !sparsity.set<1>
}

// Near misses: other positions, and an end that is known at run time only.
// CHECK-LABEL: func.func @unlike_windows(
// CHECK-COUNT-2: sparsity.intersect
func.func @unlike_windows(%n: index) -> (!sparsity.set<1>, !sparsity.set<1>) {
  %w = sparsity.window left(4) right(5)
  %c = sparsity.causal from_start
  %s = sparsity.intersect %w, %c
  %v = sparsity.window right(%n)
  %t = sparsity.intersect %w, %v
  return %s, %t : !sparsity.set<1>, !sparsity.set<1>
}

// Windows that do not meet have nothing in common.
// CHECK-LABEL: func.func @disjoint_windows(
// CHECK: sparsity.none
func.func @disjoint_windows() -> !sparsity.set<1> {
  %a = sparsity.window left(4) right(0)
  %b = sparsity.window left(9) right(-5)
  %s = sparsity.intersect %a, %b
  return %s : !sparsity.set<1>
}

// Windows that touch become one.
// CHECK-LABEL: func.func @touching_windows(
// CHECK: %[[W:.*]] = sparsity.window left(9) right(0)
// CHECK-NEXT: return %[[W]]
func.func @touching_windows() -> !sparsity.set<1> {
  %a = sparsity.window left(4) right(0)
  %b = sparsity.window left(9) right(-5)
  %s = sparsity.union %a, %b
  return %s : !sparsity.set<1>
}

// Near miss: distance 5 lies between them.
// CHECK-LABEL: func.func @apart_windows(
// CHECK: sparsity.union
func.func @apart_windows() -> !sparsity.set<1> {
  %a = sparsity.window left(4) right(0)
  %b = sparsity.window left(9) right(-6)
  %s = sparsity.union %a, %b
  return %s : !sparsity.set<1>
}

// The past holds every window that ends at the query.
// CHECK-LABEL: func.func @window_or_past(
// CHECK: %[[C:.*]] = sparsity.causal
// CHECK-NEXT: return %[[C]]
func.func @window_or_past(%n: index) -> !sparsity.set<1> {
  %w = sparsity.window left(%n) right(0)
  %c = sparsity.causal
  %s = sparsity.union %w, %c
  return %s : !sparsity.set<1>
}

// Two half-lines that overlap are everything.
// CHECK-LABEL: func.func @half_lines(
// CHECK: sparsity.all
func.func @half_lines() -> !sparsity.set<1> {
  %a = sparsity.window left(3)
  %c = sparsity.causal
  %s = sparsity.union %a, %c
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @prefixes(
// CHECK-DAG: sparsity.prefix 9
// CHECK-DAG: sparsity.suffix 2
func.func @prefixes() -> (!sparsity.set<1>, !sparsity.set<1>) {
  %a = sparsity.prefix 4
  %b = sparsity.prefix 9
  %s = sparsity.union %a, %b
  %c = sparsity.suffix 2
  %d = sparsity.suffix 7
  %t = sparsity.intersect %c, %d
  return %s, %t : !sparsity.set<1>, !sparsity.set<1>
}

// Empty and full sets vanish or take over.
// CHECK-LABEL: func.func @empty_and_full(
// CHECK-DAG: %[[P:.*]] = sparsity.prefix 4
// CHECK-DAG: %[[NONE:.*]] = sparsity.none
// CHECK-DAG: %[[ALL:.*]] = sparsity.all
// CHECK: return %[[P]], %[[ALL]], %[[P]], %[[NONE]]
func.func @empty_and_full() -> (!sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>) {
  %p = sparsity.prefix 4
  %none = sparsity.none
  %all = sparsity.all
  %0 = sparsity.union %p, %none
  %1 = sparsity.union %p, %all
  %2 = sparsity.intersect %p, %all
  %3 = sparsity.intersect %p, %none
  return %0, %1, %2, %3 : !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>
}

// What a full set becomes on a grid still names the grid.
// CHECK-LABEL: func.func @domain_stays(
// CHECK: %[[G:.*]] = sparsity.grid
// CHECK: sparsity.all in %[[G]]
func.func @domain_stays(%n: index) -> !sparsity.set<2> {
  %g = sparsity.grid [%n, 4]
  %c = sparsity.causal in %g : !sparsity.domain<2>
  %all = sparsity.all : !sparsity.set<2>
  %s = sparsity.union %c, %all : !sparsity.set<2>
  return %s : !sparsity.set<2>
}

// Near miss: the neutral operand is the only one that names the grid.
// CHECK-LABEL: func.func @domain_needed(
// CHECK: sparsity.intersect
func.func @domain_needed(%n: index) -> !sparsity.set<2> {
  %g = sparsity.grid [%n, 4]
  %all = sparsity.all in %g : !sparsity.domain<2>
  %a = sparsity.affine affine_set<(a, b, c, d) : (a - c >= 0)> : !sparsity.set<2>
  %s = sparsity.intersect %a, %all : !sparsity.set<2>
  return %s : !sparsity.set<2>
}

// Nesting is flat, repetition is dropped, also of ops that say the same.
// CHECK-LABEL: func.func @flat(
// CHECK-DAG: %[[P:.*]] = sparsity.prefix %
// CHECK-DAG: %[[T:.*]] = sparsity.stride 3
// CHECK-DAG: %[[C:.*]] = sparsity.causal
// CHECK: sparsity.union %[[P]], %[[T]], %[[C]]
func.func @flat(%n: index) -> !sparsity.set<1> {
  %p = sparsity.prefix %n
  %t = sparsity.stride 3
  %c = sparsity.causal
  %again = sparsity.prefix %n
  %u = sparsity.union %p, %t
  %s = sparsity.union %u, %again, %c
  return %s : !sparsity.set<1>
}

// Absorption, both ways.
// CHECK-LABEL: func.func @absorption(
// CHECK: %[[P:.*]] = sparsity.prefix 4
// CHECK-NEXT: return %[[P]], %[[P]]
func.func @absorption() -> (!sparsity.set<1>, !sparsity.set<1>) {
  %p = sparsity.prefix 4
  %t = sparsity.stride 3
  %i = sparsity.intersect %p, %t
  %s = sparsity.union %p, %i
  %u = sparsity.union %t, %p
  %r = sparsity.intersect %u, %p
  return %s, %r : !sparsity.set<1>, !sparsity.set<1>
}

// Complements move to the leaves, where two cancel and half-lines flip.
// CHECK-LABEL: func.func @de_morgan(
// CHECK-DAG: %[[P:.*]] = sparsity.prefix 4
// CHECK-DAG: %[[FUTURE:.*]] = sparsity.window left(-1)
// CHECK: %[[S:.*]] = sparsity.intersect %[[P]], %[[FUTURE]]
// CHECK-NEXT: return %[[S]]
func.func @de_morgan() -> !sparsity.set<1> {
  %p = sparsity.prefix 4
  %c = sparsity.causal
  %np = sparsity.complement %p
  %u = sparsity.union %np, %c
  %s = sparsity.complement %u
  return %s : !sparsity.set<1>
}

// CHECK-LABEL: func.func @complements(
// CHECK-DAG: %[[NONE:.*]] = sparsity.none
// CHECK-DAG: %[[ALL:.*]] = sparsity.all
// CHECK: return %[[NONE]], %[[ALL]], %[[ALL]], %[[NONE]]
func.func @complements() -> (!sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>) {
  %all = sparsity.all
  %none = sparsity.none
  %p = sparsity.prefix 4
  %np = sparsity.complement %p
  %0 = sparsity.complement %all
  %1 = sparsity.complement %none
  %2 = sparsity.union %p, %np
  %3 = sparsity.subtract %p, %p
  return %0, %1, %2, %3 : !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>, !sparsity.set<1>
}

// A difference is an intersection with a complement.
// CHECK-LABEL: func.func @difference(
// CHECK-DAG: %[[NOT:.*]] = sparsity.complement
// CHECK: sparsity.intersect %{{.*}}, %[[NOT]]
func.func @difference() -> !sparsity.set<1> {
  %p = sparsity.prefix 4
  %t = sparsity.stride 3
  %s = sparsity.subtract %p, %t
  return %s : !sparsity.set<1>
}

// Constant classes become a list, and sets that no head uses leave it.
// CHECK-LABEL: func.func @classes(
// CHECK: sparsity.per_head [0, 0, 1] [%{{.*}}, %{{.*}}]
func.func @classes() -> !sparsity.set<1> {
  %class = arith.constant dense<[2, 2, 0]> : tensor<3xi32>
  %a = sparsity.causal
  %b = sparsity.prefix 4
  %c = sparsity.stride 3
  %s = sparsity.per_head %class : tensor<3xi32> [%a, %b, %c]
  return %s : !sparsity.set<1>
}

// Near miss: a head whose class names no set has no live pair.
// CHECK-LABEL: func.func @class_outside(
// CHECK: sparsity.per_head %
func.func @class_outside() -> !sparsity.set<1> {
  %class = arith.constant dense<[0, 5]> : tensor<2xindex>
  %a = sparsity.causal
  %s = sparsity.per_head %class : tensor<2xindex> [%a]
  return %s : !sparsity.set<1>
}

// One list twice is one list, and one that everything is taken from is empty.
// CHECK-LABEL: func.func @same_list(
// CHECK: %[[L:.*]] = sparsity.blocks
// CHECK-NOT: sparsity.blocks
// CHECK: %[[NONE:.*]] = sparsity.none
// CHECK: return %[[L]], %[[NONE]]
func.func @same_list(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>)
    -> (!sparsity.set<1>, !sparsity.set<1>) {
  %a = sparsity.blocks %ids, %counts query [64] key [64] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %b = sparsity.blocks %ids, %counts query [64] key [64] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %s = sparsity.union %a, %b
  %t = sparsity.subtract %a, %b
  return %s, %t : !sparsity.set<1>, !sparsity.set<1>
}

// Near miss: the same numbers name other blocks.
// CHECK-LABEL: func.func @other_blocks(
// CHECK: %[[A:.*]] = sparsity.blocks %{{.*}} key [64]
// CHECK: %[[B:.*]] = sparsity.blocks %{{.*}} key [32]
// CHECK: sparsity.union %[[A]], %[[B]]
func.func @other_blocks(%ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>) -> !sparsity.set<1> {
  %a = sparsity.blocks %ids, %counts query [64] key [64] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %b = sparsity.blocks %ids, %counts query [64] key [32] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %s = sparsity.union %a, %b
  return %s : !sparsity.set<1>
}
