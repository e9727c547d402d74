// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-separate-results))' | FileCheck %s

tile.kernel @f attributes {inputs = 1, outputs = 2} plan {
^bb0(%q: tensor<?xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1) shapes(%c1, %c1)
} body {
^bb0(%q: tensor<?xf32>, %o: memref<?xf32>, %l: memref<?xf32>, %t: index):
  tile.end
}

// One value twice: the launch runs again.
// CHECK-LABEL: func.func @twice(
// CHECK:         %[[A:.*]]:2 = tile.launch @f(%arg0)
// CHECK:         %[[B:.*]]:2 = tile.launch @f(%arg0)
// CHECK:         return %[[A]]#0, %[[A]]#1, %[[B]]#0
func.func @twice(%q: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %o:2 = tile.launch @f(%q) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %o#0, %o#1, %o#0 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// A launch overwrites a part of what another made, which is returned, too; and the whole twice.
// CHECK-LABEL: func.func @continued(
// CHECK:         %[[A:.*]]:2 = tile.launch @f(%arg0) :
// CHECK:         %[[A3:.*]]:2 = tile.launch @f(%arg0) :
// CHECK:         %[[A2:.*]]:2 = tile.launch @f(%arg0) :
// CHECK:         %[[B:.*]]:2 = tile.launch @f(%arg0) into(%[[A]]#0, %[[A]]#1
// CHECK:         %[[B2:.*]]:2 = tile.launch @f(%arg0) into(%[[A3]]#0, %[[A3]]#1
// CHECK:         return %[[A2]]#0, %[[B]]#0, %[[B2]]#0
func.func @continued(%q: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a:2 = tile.launch @f(%q) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %b:2 = tile.launch @f(%q) into(%a#0, %a#1 : tensor<?xf32>, tensor<?xf32>) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %a#0, %b#0, %b#0 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// Near miss: two outputs of one launch are two places, and what is made in between needs none.
// CHECK-LABEL: func.func @different(
// CHECK-COUNT-2: tile.launch
// CHECK-NOT:     tile.launch
// CHECK:         return
func.func @different(%q: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a:2 = tile.launch @f(%q) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %b:2 = tile.launch @f(%q) into(%a#0, %a#1 : tensor<?xf32>, tensor<?xf32>) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %b#0, %b#1 : tensor<?xf32>, tensor<?xf32>
}
