// RUN: lacuna-opt %s --lacuna-split-segments --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// The algebra moves into the entries; one use of a set gives one table.
// CHECK-LABEL: func.func @algebra(
func.func @algebra(%q: tensor<1x2x?x16xf32>, %n: index, %f: index, %class: tensor<?xindex>) -> tensor<1x2x?x16xf32> {
  // CHECK-DAG: %[[TEXT:.*]] = sparsity.sequence [%{{.*}}]
  // CHECK-DAG: %[[GRID:.*]] = sparsity.grid [%{{.*}}, 8]
  // CHECK-DAG: %[[TOKENS:.*]] = sparsity.concat %[[TEXT]], %[[GRID]]
  %text = sparsity.sequence [%n]
  %grid = sparsity.grid [%f, 8]
  %tokens = sparsity.concat %text, %grid : !sparsity.domain<1>, !sparsity.domain<2>
  %near = sparsity.window left(4) right(4)
  %first = sparsity.affine affine_set<(i, a, b) : (-a >= 0)> : !sparsity.set<1 to 2>
  %every = sparsity.all : !sparsity.set<2 to 1>
  %box = sparsity.radius [1, 1] in %grid : !sparsity.domain<2>
  %s = sparsity.segments %tokens [[%near, %first], [%every, %box]] : !sparsity.domain<1, 2>
  %past = sparsity.causal in %tokens : !sparsity.domain<1, 2>
  %none = sparsity.none in %tokens : !sparsity.domain<1, 2>
  %t = sparsity.subtract %s, %past : !sparsity.set<1, 2>
  %u = sparsity.per_head %class [%s, %none, %t] : !sparsity.set<1, 2>
  // The entries of one row and column: text to grid is after the text, so nothing is taken away.
  // CHECK-DAG: %[[FIRST:.*]] = sparsity.affine #{{.*}} : !sparsity.set<1 to 2>
  // CHECK-DAG: %[[NEVER:.*]] = sparsity.none : !sparsity.set<1 to 2>
  // CHECK-DAG: %[[ACROSS:.*]] = sparsity.per_head %{{.*}} [%[[FIRST]], %[[NEVER]], %[[FIRST]]] : !sparsity.set<1 to 2>
  // CHECK: %[[SET:.*]] = sparsity.segments %[[TOKENS]] {{\[}}[%{{.*}}, %[[ACROSS]]], [%{{.*}}, %{{.*}}]] : !sparsity.domain<1, 2>
  // CHECK: attn.attend %{{.*}} over %[[SET]]
  %o = attn.attend %q, %q, %q over %u : !sparsity.set<1, 2> : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// -----

// Causal order between segments is the order of the tokens.
// CHECK-LABEL: func.func @causal(
func.func @causal(%q: tensor<1x2x?x16xf32>, %n: index) -> tensor<1x2x?x16xf32> {
  // CHECK-DAG: %[[D:.*]] = sparsity.causal{{$}}
  // CHECK-DAG: %[[ALL:.*]] = sparsity.all{{$}}
  // CHECK-DAG: %[[NONE:.*]] = sparsity.none{{$}}
  // CHECK: sparsity.segments %{{.*}} {{\[}}[%[[D]], %[[NONE]]], [%[[ALL]], %[[D]]]]
  %text = sparsity.sequence [%n]
  %tokens = sparsity.concat %text, %text : !sparsity.domain<1>, !sparsity.domain<1>
  %past = sparsity.causal in %tokens : !sparsity.domain<1, 1>
  %o = attn.attend %q, %q, %q over %past : !sparsity.set<1, 1> : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// -----

// Near miss: a set on one segment stays as it is.
// CHECK-LABEL: func.func @lone(
func.func @lone(%q: tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32> {
  // CHECK-NOT: sparsity.segments
  // CHECK: %[[SET:.*]] = sparsity.causal
  // CHECK: attn.attend %{{.*}} over %[[SET]]
  %past = sparsity.causal
  %o = attn.attend %q, %q, %q over %past : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// -----

// A table needs the sizes of the segments.
func.func @no_domain(%q: tensor<1x2x?x16xf32>) -> tensor<1x2x?x16xf32> {
  // expected-error @+1 {{expected a set over a concatenation to name its domain}}
  %all = sparsity.all : !sparsity.set<1, 2>
  %o = attn.attend %q, %q, %q over %all : !sparsity.set<1, 2> : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}
