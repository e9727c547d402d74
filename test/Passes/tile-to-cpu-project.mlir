// RUN: lacuna-opt %s --lacuna-tile-to-cpu=vector-width=8 | FileCheck %s
// RUN: lacuna-opt %s --lacuna-tile-to-cpu=vector-width=8 --lacuna-cpu-to-llvm | FileCheck %s --check-prefix=LLVM

// The matrix becomes f32 once a program; four rows share each vector of its features, and a result is rounded once.
// CHECK-LABEL: func.func @features_body(
// CHECK:         call @fill
// CHECK:         arith.extf {{.*}} : bf16 to f32
// CHECK:         call @load_channels_last
// CHECK:         %[[W:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-4: vector.fma {{.*}}, %[[W]], {{.*}} : vector<8xf32>
// CHECK-NOT:     vector.fma
// CHECK:         arith.truncf {{.*}} : f32 to bf16
// CHECK:         memref.store {{.*}} : memref<?x4x?x16xbf16>
// CHECK-NOT:     tile.
// LLVM-LABEL: llvm.func @features_body(
tile.kernel @features attributes {inputs = 2, outputs = 1} plan {
^bb0(%x: tensor<?x4x?x64xbf16>, %w: tensor<2x64x16xbf16>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%x: tensor<?x4x?x64xbf16>, %w: tensor<2x64x16xbf16>, %o: memref<?x4x?x16xbf16>, %b: index, %h: index, %t: index):
  %c0 = arith.constant 0 : index
  tile.project %x, %w[%b, %h] at (%t, %c0) tile [128, 16] into %o
      : tensor<?x4x?x64xbf16>, tensor<2x64x16xbf16>, memref<?x4x?x16xbf16>
  tile.end
}
