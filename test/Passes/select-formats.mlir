// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse | FileCheck %s

// Marked columns of each row; the list has room for all of them.
// CHECK-LABEL: tile.kernel @list_list_of_mask_0
// CHECK:         %[[R:.*]] = tensor.dim %[[MASK:.*]], %c2
// CHECK:         %[[C:.*]] = tensor.dim %[[MASK]], %c3
// CHECK:         tile.require %{{.*}}, "expected columns of at most {1}, got {0}"(%[[C]], %{{.*}})
// CHECK:         %[[B:.*]] = tensor.dim %[[MASK]], %c0
// CHECK:         tile.plan grid(%[[B]], %c2, %[[R]]) shapes(%[[B]], %c2, %[[R]], %[[C]], %[[B]], %c2, %[[R]])
// CHECK:         tile.list_of_mask %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into
func.func @list(%mask: tensor<?x2x?x?xi8>) -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %0:2 = select.list_of_mask %mask : tensor<?x2x?x?xi8> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %0#0, %0#1 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// A run-time capacity is checked, and no list is longer than there are columns.
// CHECK-LABEL: tile.kernel @short_list_of_mask_0
// CHECK:         tile.require %{{.*}}, "expected a capacity of at least 0, got {0}"
// CHECK:         tile.require %{{.*}}, "expected a capacity of at most {1}, got {0}"
// CHECK:         arith.minsi
// CHECK:         tile.list_of_mask {{.*}} cut into
func.func @short(%mask: tensor<?x2x?x?xi8>, %n: index) -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %0:2 = select.list_of_mask %mask capacity(%n) cut : tensor<?x2x?x?xi8> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %0#0, %0#1 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// A transposed list goes through a map.
// CHECK-LABEL: tile.kernel @inverse_mask_of_list_0
// CHECK:         "expected counts of the lists that ids has, got {0} along an axis of {1}"
// CHECK:         tile.mask_of_list
// CHECK-LABEL: tile.kernel @inverse_list_of_mask_1
// CHECK:         tile.list_of_mask {{.*}} transposed into
// CHECK-LABEL: func.func @inverse(
// CHECK:         %[[MAP:.*]] = tile.launch @inverse_mask_of_list_0(
// CHECK:         tile.launch @inverse_list_of_mask_1({{.*}}%[[MAP]])
func.func @inverse(%ids: tensor<?x2x?x?xi32>, %counts: tensor<?x2x?xi32>, %n: index)
    -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %0:2 = select.transpose %ids, %counts columns(%n)
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %0#0, %0#1 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// Rows after each other: a program for each list.
// CHECK-LABEL: tile.kernel @rows_csr_of_list_0
// CHECK:         tile.require %{{.*}}, "expected entries of the rows together of at most {1}, got {0}"
// CHECK:         tile.csr_of_list %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] into
// CHECK-LABEL: tile.kernel @rows_list_of_csr_1
// CHECK:         tile.require %{{.*}}, "expected one row pointer more than rows, got {0}"
// CHECK:         %[[ROWS:.*]] = arith.subi %{{.*}}, %c1
// CHECK:         tile.plan grid(%{{.*}}, %c2, %[[ROWS]]) shapes(%{{.*}}, %c2, %[[ROWS]], %c8,
// CHECK:         tile.list_of_csr
func.func @rows(%ids: tensor<?x2x?x?xi32>, %counts: tensor<?x2x?xi32>)
    -> (tensor<?x2x?x8xi32>, tensor<?x2x?xi32>) {
  %0:2 = select.csr_of_list %ids, %counts
      : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?xi32>, tensor<?x2x?xi32>
  %1:2 = select.list_of_csr %0#0, %0#1 capacity(8)
      : tensor<?x2x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x8xi32>, tensor<?x2x?xi32>
  return %1#0, %1#1 : tensor<?x2x?x8xi32>, tensor<?x2x?xi32>
}
