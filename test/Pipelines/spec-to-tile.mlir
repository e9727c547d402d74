// RUN: lacuna-opt %s --lacuna-spec-to-tile | FileCheck %s
// RUN: lacuna-opt %s --lacuna-spec-to-tile='query-tile=32 key-tile=16' | FileCheck %s --check-prefix=SMALL

// A causal window whose width is a run-time value: the loop over full tiles
// comes first and has no mask; the one over partial tiles goes on from its
// state and has the only one of the kernel.
// CHECK-LABEL: tile.kernel @windowed_attend_0
// CHECK:       } body {
// CHECK-NOT:     tile.mask
// CHECK:         %[[FULL:.*]]:3 = tile.for_each full
// CHECK-NOT:       tile.mask
// CHECK:           tile.softmax_step
// CHECK-NOT:       tile.mask
// CHECK:         tile.for_each partial {{.*}} init(%[[FULL]]#0, %[[FULL]]#1, %[[FULL]]#2 :
// CHECK:           tile.mask
// CHECK-NOT:     tile.mask
// CHECK:         tile.end
// CHECK-LABEL: func.func @windowed(
// CHECK-NEXT:    tile.launch @windowed_attend_0(
// CHECK-NEXT:    return

// SMALL-LABEL: tile.kernel @windowed_attend_0
// SMALL:         tile.for_each full {{.*}} box [32] key of({{.*}}) box [16]
func.func @windowed(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>,
                    %left: index) -> tensor<?x8x?x64xf32> {
  %set = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %k, %v over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}

// Classes that are computed: a full tile of the core needs no look at its pairs.
// CHECK-LABEL: tile.kernel @opaque_attend_0_classes
// CHECK:         tile.for_each full
// CHECK-NOT:       tile.classify
// CHECK:           memref.store %c2_i8
// CHECK:         tile.for_each partial
// CHECK:           %[[C:.*]] = tile.classify
// CHECK:           memref.store %[[C]]
// CHECK-LABEL: tile.kernel @opaque_attend_0 attributes
// CHECK:         tile.for_each full {{.*}} classes(
// CHECK-NOT:       tile.mask
// CHECK:         tile.for_each partial {{.*}} classes(
// CHECK:           tile.mask
func.func @opaque(%q: tensor<1x1x?x64xf32>, %colour: tensor<?xi32>) -> tensor<1x1x?x64xf32> {
  %near = sparsity.window left(64) right(0)
  %red = sparsity.where (%b, %h, %i, %j) {
    %c = tensor.extract %colour[%j] : tensor<?xi32>
    %zero = arith.constant 0 : i32
    %is = arith.cmpi eq, %c, %zero : i32
    sparsity.yield %is : i1
  }
  %set = sparsity.union %near, %red
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}
