// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse --lacuna-fuse-refinements --cse | FileCheck %s

// Eight nodes are kept, and their children are 32 at most. Requirements stay in their order.
// CHECK-LABEL: tile.kernel @level_refine
// CHECK:         tile.require %{{.*}}, "expected columns of at least 0, got {0}"
// CHECK:         tile.require %{{.*}}, "expected query and key rows to share the batch, got {0} and {1}"
// CHECK:         tile.require %{{.*}}, "expected a list for each query row, got {0} along an axis of {1}"
// CHECK:         tile.require %{{.*}}, "expected at most 2147483647 columns of scores, got {0}"
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[R:.*]]) shapes(
// CHECK:         tile.refine top_k(3) %arg0, %arg1 at %arg4, %arg5[%arg8, %arg9, %arg10] by 4 columns %arg3 most 32 scale 1.250000e-01 into %arg7, %arg6 within {
// CHECK:         } force {
// CHECK-LABEL: func.func @level(
// CHECK-NEXT:    %[[TOP:.*]]:2 = tile.launch @level_choose_0
// CHECK-NEXT:    %[[KEPT:.*]]:2 = tile.launch @level_refine(%arg0, %arg1, %arg2, %arg3, %[[TOP]]#0, %[[TOP]]#1)
// CHECK-NEXT:    return %[[KEPT]]#1, %[[KEPT]]#0
func.func @level(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %top: tensor<?x2x?x?xf32>, %n: index)
    -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %ids, %counts = select.choose top_k(8) %top : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %0:2 = select.children %ids, %counts by 4 columns(%n)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %past = sparsity.affine affine_set<(i, j) : (i floordiv 2 - j >= 0)> from_start
  %own = sparsity.affine affine_set<(i, j) : (i floordiv 2 - j == 0)> from_start
  %1 = select.score_list dot %q, %k at %0#0, %0#1 over %past force %own
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  %2:2 = select.choose top_k(3) %1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  return %3, %2#1 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// The next level starts from what the first kept; what lies between is written where it is used.
// CHECK-LABEL: tile.kernel @two_refine
// CHECK:         most 16 {{.*}} into %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-LABEL: tile.kernel @two_refine_0
// CHECK:         most 6 {{.*}} children %{{.*}} : memref<?x2x?x?xi32> child_counts %{{.*}} : memref<?x2x?xi32> scores %{{.*}} : memref<?x2x?x?xf32> places %
// CHECK-LABEL: func.func @two(
// CHECK-NEXT:    tile.launch @two_refine(
// CHECK-NEXT:    tile.launch @two_refine_0(
// CHECK-NEXT:    return
func.func @two(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x8xi32>, %counts: tensor<?x2x?xi32>)
    -> (tensor<?x2x?x?xi32>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xf32>, tensor<?x2x?x?xi32>) {
  %0:2 = select.children %ids, %counts by 2 columns(100)
      : tensor<?x2x?x8xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %1 = select.score_list dot %q, %k at %0#0, %0#1
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  %2:2 = select.choose share(0.5) %1 cap 3 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  %4:2 = select.children %3, %2#1 by 2 columns(200)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %5 = select.score_list dot %q, %k at %4#0, %4#1
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  %6:2 = select.choose top_k(2) %5 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %7 = select.pick %4#0, %4#1 at %6#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  return %7, %4#0, %4#1, %5, %6#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xf32>, tensor<?x2x?x?xi32>
}

// Lists of any length, and longer ones than a warp has room for.
// CHECK-LABEL: func.func @any(
// CHECK-NEXT:    tile.launch @any_children_0
// CHECK-NEXT:    tile.launch @any_score_list_1
// CHECK-NEXT:    tile.launch @any_choose_2
// CHECK-NEXT:    tile.launch @any_pick_3
func.func @any(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x?xi32>, %counts: tensor<?x2x?xi32>)
    -> tensor<?x2x?x?xi32> {
  %0:2 = select.children %ids, %counts by 2 columns(100)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %1 = select.score_list dot %q, %k at %0#0, %0#1
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xf32>
  %2:2 = select.choose top_k(8) %1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  return %3 : tensor<?x2x?x?xi32>
}
// CHECK-LABEL: func.func @long(
// CHECK-NEXT:    tile.launch @long_children_0
// CHECK-NEXT:    tile.launch @long_score_list_1
func.func @long(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x257xi32>, %counts: tensor<?x2x?xi32>)
    -> tensor<?x2x?x?xi32> {
  %0:2 = select.children %ids, %counts by 2 columns(1000)
      : tensor<?x2x?x257xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x514xi32>, tensor<?x2x?xi32>
  %1 = select.score_list dot %q, %k at %0#0, %0#1
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x514xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x514xf32>
  %2:2 = select.choose top_k(8) %1 : tensor<?x2x?x514xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x514xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  return %3 : tensor<?x2x?x?xi32>
}

// Places in another list are no places of children.
// CHECK-LABEL: func.func @other(
// CHECK-NEXT:    tile.launch @other_children_0
// CHECK-NEXT:    tile.launch @other_score_list_1
func.func @other(%q: tensor<?x2x?x64xf16>, %k: tensor<?x2x?x64xf16>, %ids: tensor<?x2x?x8xi32>, %counts: tensor<?x2x?xi32>)
    -> tensor<?x2x?x?xi32> {
  %0:2 = select.children %ids, %counts by 2 columns(100)
      : tensor<?x2x?x8xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x16xi32>, tensor<?x2x?xi32>
  %1 = select.score_list dot %q, %k at %0#0, %counts
      : tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x16xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x16xf32>
  %2:2 = select.choose top_k(8) %1 : tensor<?x2x?x16xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %3 = select.pick %0#0, %0#1 at %2#0
      : tensor<?x2x?x16xi32>, tensor<?x2x?xi32>, tensor<?x2x?x?xi32> -> tensor<?x2x?x?xi32>
  return %3 : tensor<?x2x?x?xi32>
}
