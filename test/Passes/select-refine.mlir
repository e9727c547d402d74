// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse | FileCheck %s

// A warp for each row of lists. Children fill as many places as all nodes of the lists have.
// CHECK-LABEL: tile.kernel @level_children_0
// CHECK:         tile.require %{{.*}}, "expected counts of the lists that ids has, got {0} along an axis of {1}"
// CHECK:         tile.require %{{.*}}, "expected columns of at least 0, got {0}"
// CHECK:         %[[ROOM:.*]] = arith.muli %{{.*}}, %c4
// CHECK:         tile.require %{{.*}}, "expected children of a list of at most {1}, got {0}"
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[R:.*]]) shapes(%[[B]], %c2, %[[R]], %[[ROOM]], %[[B]], %c2, %[[R]])
// CHECK:       ^bb0({{.*}}%[[N:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: memref
// CHECK:         tile.children %{{.*}} by 4 columns %[[N]] into

// Scores are asked for entries alone: the grid has no axis of columns.
// CHECK-LABEL: tile.kernel @level_score_list_1
// CHECK:         tile.require %{{.*}}, "expected query and key rows to share the batch, got {0} and {1}"
// CHECK:         tile.require %{{.*}}, "expected a list for each query row, got {0} along an axis of {1}"
// CHECK:         tile.plan grid(%{{.*}}, %c2, %{{[a-z0-9_]+}}) shapes(
// CHECK:         tile.score_list %{{.*}} scale 1.250000e-01 into %{{.*}} within {
// CHECK:         } force {
// CHECK-LABEL: tile.kernel @level_choose_2
// CHECK-LABEL: tile.kernel @level_pick_3
// CHECK:         tile.require %{{.*}}, "expected places in the lists that ids has, got {0} along an axis of {1}"
// CHECK:         tile.pick
// CHECK-LABEL: tile.kernel @level_without_4
// CHECK:         tile.require %{{.*}}, "expected a list for each row of scores, got {0} along an axis of {1}"
// CHECK:         tile.without
// CHECK-LABEL: func.func @level(
func.func @level(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x?xi32>,
                 %counts: tensor<?x2x?xi32>, %n: index) -> (tensor<?x2x?x?xi32>, tensor<?x2x?x?xf32>) {
  %0:2 = select.children %ids, %counts by 4 columns(%n)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %past = sparsity.affine affine_set<(i, j) : (i floordiv 2 - j >= 0)> from_start
  %own = sparsity.affine affine_set<(i, j) : (i floordiv 2 - j == 0)> from_start
  %1 = select.score_list dot %q, %k at %0#0, %0#1 over %past force %own
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  %2:2 = select.choose top_k(3) %1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  %4 = select.without %1, %2#0, %2#1 : tensor<?x2x?x?xf32>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %3, %4 : tensor<?x2x?x?xi32>, tensor<?x2x?x?xf32>
}

// Without sets every row of keys counts, and known columns need no requirement.
// CHECK-LABEL: tile.kernel @plain_children_0
// CHECK-NOT:     "expected columns
// CHECK:         tile.children %{{.*}} by 2 columns %c100 into
// CHECK-LABEL: tile.kernel @plain_score_list_1
// CHECK:         tile.score_list
// CHECK-NOT:     within
// CHECK:         tile.end
func.func @plain(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x?xi32>,
                 %counts: tensor<?x2x?xi32>) -> tensor<?x2x?x?xf32> {
  %0:2 = select.children %ids, %counts by 2 columns(100)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %1 = select.score_list dot %q, %k at %0#0, %0#1
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  return %1 : tensor<?x2x?x?xf32>
}
