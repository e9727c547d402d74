// RUN: lacuna-opt %s --lacuna-linear-to-tile --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A program per block of keys and 128 value channels.
// CHECK-LABEL: tile.kernel @past_linear_state_0
// CHECK:         tile.require %{{.*}}, "expected a value for each key, got {0} along an axis of {1}"
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[C:.*]], %c2) shapes(%[[B]], %c2, %[[C]], %c64, %c192, %[[B]], %c2, %[[C]], %c64)
// CHECK:         %[[AT:.*]] = arith.muli %{{.*}}, %c128
// CHECK:         tile.linear_state softmax {{.*}} size 64 at %[[AT]] width 128 into

// One sum more than there are states; the row behind the last of a state is its norms.
// CHECK-LABEL: tile.kernel @past_linear_prefix_1
// CHECK:         tile.require %{{.*}}, "expected norms of as many states as there are, got {0} along an axis of {1}"
// CHECK:         %[[ALL:.*]] = arith.addi %{{.*}}, %c1
// CHECK:         tile.plan grid(%{{.*}}, %c2, %c65) shapes(%{{.*}}, %c2, %[[ALL]], %c64, %c192, %{{.*}}, %c2, %[[ALL]], %c64)
// CHECK:         tile.linear_prefix

// CHECK-LABEL: tile.kernel @past_linear_fold_2
// CHECK:         arith.divui %{{.*}}, %c4
// CHECK:         tile.linear_fold {{.*}} by 4 into

// Rows of a program lie in one tile, of which the first row decides: 192 rows are three programs of 64.
// CHECK-LABEL: tile.kernel @past_linear_read_3
// CHECK:         tile.require %{{.*}}, "expected query and states to share the batch, got {1} and {0}"
// CHECK:         %[[ROW:.*]] = arith.muli %{{.*}}, %c64
// CHECK:         %[[IN:.*]] = arith.remui %[[ROW]], %c192
// CHECK:         %[[FIRST:.*]] = arith.subi %[[ROW]], %[[IN]]
// CHECK:         tile.linear_read softmax {{.*}} at(%[[ROW]], %{{.*}}) tile [64, 128] first %[[FIRST]] from %{{.*}} to %{{.*}} into %{{.*}} member {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %{{.*}}: index):
// CHECK:           tile.yield

// CHECK-LABEL: tile.kernel @past_gated_merge_4
// CHECK:         tile.require %{{.*}}, "expected all parts of a merge to have one shape, got {0} and {1}"
// CHECK:         tile.require %{{.*}}, "expected a gate per row or per head, got {0} along an axis of {1}"
// CHECK:         tile.gated_merge({{.*}} rows 64 into
// CHECK-LABEL: func.func @past(
// CHECK-COUNT-5: tile.launch
func.func @past(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x192xf32>, %o0: tensor<?x4x?x192xf32>,
                %g: tensor<?x4x?xf32>) -> (tensor<?x4x?x192xf32>, tensor<?x2x?x64x192xf32>) {
  %h, %z = attn.linear_state softmax %k, %v block [64]
      : tensor<?x2x?x64xf32>, tensor<?x2x?x192xf32> -> tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32>
  %p, %pz = attn.linear_prefix %h, %z : tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32>
  %f, %fz = attn.linear_fold %h, %z by 4 : tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32>
  %own = sparsity.affine affine_set<(i, c) : (i floordiv 192 - c == 0)> from_start
  %o, %l = attn.linear_read softmax %q, %p, %pz over %own query [192]
      : tensor<?x4x?x64xf32>, tensor<?x2x?x64x192xf32>, tensor<?x2x?x64xf32> -> tensor<?x4x?x192xf32>, tensor<?x4x?xf32>
  %m = attn.gated_merge (%o0, %g), (%o, %g) : tensor<?x4x?x192xf32>, tensor<?x4x?xf32>
  return %m, %f : tensor<?x4x?x192xf32>, tensor<?x2x?x64x192xf32>
}

// -----

// What nobody reads is no kernel.
// CHECK-NOT: tile.kernel
// CHECK-LABEL: func.func @unread(
func.func @unread(%k: tensor<?x2x?x64xf32>) {
  %h, %z = attn.linear_state relu %k, %k block [64]
      : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op expected a single block around linear attention, got 2 blocks}}
func.func @branches(%k: tensor<?x2x?x64xf32>) -> tensor<?x2x?x64x64xf32> {
  %h, %z = attn.linear_state relu %k, %k block [64]
      : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
  cf.br ^end
^end:
  return %h : tensor<?x2x?x64x64xf32>
}

// -----

func.func @inside(%k: tensor<?x2x?x64xf32>, %c: i1, %e: tensor<?x2x?x64x64xf32>) -> tensor<?x2x?x64x64xf32> {
  %r = scf.if %c -> tensor<?x2x?x64x64xf32> {
    // expected-error @+1 {{'attn.linear_state' op expected to stand at the top level of a function}}
    %h, %z = attn.linear_state relu %k, %k block [64]
        : tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x64xf32>, tensor<?x2x?x64xf32>
    scf.yield %h : tensor<?x2x?x64x64xf32>
  } else {
    scf.yield %e : tensor<?x2x?x64x64xf32>
  }
  return %r : tensor<?x2x?x64x64xf32>
}
