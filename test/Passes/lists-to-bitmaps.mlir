// RUN: lacuna-opt %s --lacuna-lists-to-bitmaps --canonicalize --cse | FileCheck %s

// One byte a pair in place of a look at every entry; what is beside the list stays.
// CHECK-LABEL: func.func @within(
// CHECK-DAG:     %[[COLUMNS:.*]] = tensor.dim %arg0, %c3
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.ceildivsi %[[COLUMNS]], %c16
// CHECK:         %[[MASK:.*]] = select.mask_of_list %arg1, %arg2 columns(%[[BLOCKS]]) : tensor<?x1x?x?xi32>, tensor<?x1x?xi32> -> tensor<?x1x?x?xi8>
// CHECK:         %[[MAP:.*]] = sparsity.bitmap %[[MASK]] query [4] key [16] group 2 : tensor<?x1x?x?xi8>
// CHECK:         %[[SET:.*]] = sparsity.intersect %[[PAST:.*]], %[[MAP]]
// CHECK:         select.restrict %arg0 within %[[SET]] : tensor<?x2x?x?xf32>
func.func @within(%s: tensor<?x2x?x?xf32>, %ids: tensor<?x1x?x?xi32>, %counts: tensor<?x1x?xi32>) -> tensor<?x2x?x?xf32> {
  %list = sparsity.blocks %ids, %counts query [4] key [16] group 2 : tensor<?x1x?x?xi32>, tensor<?x1x?xi32>
  %past = sparsity.causal
  %set = sparsity.intersect %past, %list
  %t = select.restrict %s within %set : tensor<?x2x?x?xf32>
  return %t : tensor<?x2x?x?xf32>
}

// CHECK-LABEL: func.func @force(
// CHECK:         sparsity.bitmap
// CHECK:         select.restrict %arg0 force %{{.*}} : tensor<?x2x?x?xf32>
func.func @force(%s: tensor<?x2x?x?xf32>, %ids: tensor<?x2x?x?xi32>, %counts: tensor<?x2x?xi32>) -> tensor<?x2x?x?xf32> {
  %list = sparsity.blocks %ids, %counts query [1] key [8] : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %t = select.restrict %s force %list : tensor<?x2x?x?xf32>
  return %t : tensor<?x2x?x?xf32>
}

// Few entries are compared; attention walks its lists.
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     select.mask_of_list
// CHECK:         sparsity.blocks
func.func @few(%s: tensor<?x2x?x?xf32>, %ids: tensor<?x2x?x4xi32>, %counts: tensor<?x2x?xi32>) -> tensor<?x2x?x?xf32> {
  %list = sparsity.blocks %ids, %counts query [1] key [8] : tensor<?x2x?x4xi32>, tensor<?x2x?xi32>
  %t = select.restrict %s within %list : tensor<?x2x?x?xf32>
  return %t : tensor<?x2x?x?xf32>
}

// CHECK-LABEL: func.func @attend(
// CHECK-NOT:     select.mask_of_list
// CHECK:         attn.attend
func.func @attend(%q: tensor<?x2x?x32xf32>, %ids: tensor<?x2x?x?xi32>, %counts: tensor<?x2x?xi32>) -> tensor<?x2x?x32xf32> {
  %list = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %o = attn.attend %q, %q, %q over %list : tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  return %o : tensor<?x2x?x32xf32>
}
