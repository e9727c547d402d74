// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse --lacuna-fold-restrictions --cse | FileCheck %s

// The choice reads the scores; nobody needs the restricted ones.
// CHECK-LABEL: tile.kernel @near_choose_1_0
// CHECK:         tile.require %{{.*}}, "expected at most 2147483647 columns of scores, got {0}"
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[R:.*]]) shapes(%[[B]], %c2, %[[R]], %{{.*}}, %[[B]], %c2, %[[R]])
// CHECK:         tile.choose top_k(16) %arg0 at(%arg3, %arg4, %arg5) scope row into %arg1, %arg2 within {
// CHECK:         } force {
// CHECK:         } : tensor<?x2x?x?xf32>, memref<?x2x?x?xi32>, memref<?x2x?xi32>
// CHECK-LABEL: func.func @near(
// CHECK-NEXT:    %[[LISTS:.*]]:2 = tile.launch @near_choose_1_0(%arg0)
// CHECK-NEXT:    return %[[LISTS]]#0, %[[LISTS]]#1
func.func @near(%s: tensor<?x2x?x?xf32>) -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %past = sparsity.causal
  %own = sparsity.window left(1) right(0)
  %t = select.restrict %s within %past force %own : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(16) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %ids, %counts : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// What else needs restricted scores gets them.
// CHECK-LABEL: tile.kernel @both_choose_1_0
// CHECK:         tile.choose share(1.000000e-01) %arg0 at(%arg4, %arg5, %arg6) scope row into %arg2, %arg3 restricted %arg1 : memref<?x2x?x?xf32> within {
// CHECK-LABEL: func.func @both(
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.launch @both_choose_1_0(%arg0)
// CHECK-NEXT:    return %[[ALL]]#0, %[[ALL]]#1
func.func @both(%s: tensor<?x2x?x?xf32>) -> (tensor<?x2x?x?xf32>, tensor<?x2x?x?xi32>) {
  %past = sparsity.causal
  %t = select.restrict %s within %past : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose share(0.1) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %t, %ids : tensor<?x2x?x?xf32>, tensor<?x2x?x?xi32>
}

// Rows that compete are read again and again.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT:    tile.launch @heads_restrict_0
// CHECK-NEXT:    tile.launch @heads_choose_1
func.func @heads(%s: tensor<?x2x?x?xf32>) -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %past = sparsity.causal
  %t = select.restrict %s within %past : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(16) %t scope head : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %ids, %counts : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// Another op comes first.
// CHECK-LABEL: func.func @before(
// CHECK-NEXT:    tile.launch @before_restrict_0
// CHECK-NEXT:    tile.launch @before_margin_1
// CHECK-NEXT:    tile.launch @before_choose_2
func.func @before(%s: tensor<?x2x?x?xf32>) -> (tensor<?x2x?xf32>, tensor<?x2x?x?xi32>) {
  %past = sparsity.causal
  %t = select.restrict %s within %past : tensor<?x2x?x?xf32>
  %m = select.margin(8) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?xf32>
  %ids, %counts = select.choose top_k(16) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %m, %ids : tensor<?x2x?xf32>, tensor<?x2x?x?xi32>
}
