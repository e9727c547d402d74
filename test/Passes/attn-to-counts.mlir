// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles),lacuna-attn-to-counts,canonicalize)' | FileCheck %s

// A window is the same for every batch and head, so that one of each is counted, whatever the extents
// are. Pairs come from tiles of one query and one key, tiles from the shapes that attention uses.
// CHECK-LABEL: tile.kernel @window_set_0
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCH:.*]] = arith.minsi %{{.*}}, %[[ONE]]
// CHECK:         tile.plan grid(%[[BATCH]],
// CHECK:       body
// CHECK:         scf.for
// CHECK:           tile.for_each live {{.*}} box [1] {{.*}} box [1]
// CHECK:         tile.for_each live {{.*}} box [64] {{.*}} box [64]
// CHECK:         tile.for_each full {{.*}} box [64] {{.*}} box [64]
// CHECK-COUNT-5: memref.store
// CHECK-LABEL: func.func @window(
// CHECK-NOT:     attn.attend
// CHECK:         %[[COUNTS:.*]] = tile.launch @window_set_0(
// CHECK:         return %[[COUNTS]] : tensor<?x?x?x5xi64>
func.func @window(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>,
                  %left: index) -> tensor<?x8x?x64xf32> {
  %set = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %k, %v over %set scale 0.125
    : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// A width per head needs every head, and a tensor that is long enough.
// CHECK-LABEL: tile.kernel @per_head_set_0
// CHECK:         %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK:         tile.require %{{.*}}, "expected a value for each query head, got {0} values and {1} heads"
// CHECK:         tile.plan grid(%{{.*}}, %[[EIGHT]],
func.func @per_head(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>,
                    %left: tensor<?xindex>) -> tensor<?x8x?x64xf32> {
  %set = sparsity.window left(%left : tensor<?xindex>) right(0)
  %o = attn.attend %q, %k, %v over %set scale 0.125
    : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}
