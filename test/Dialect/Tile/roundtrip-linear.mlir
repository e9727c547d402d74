// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// CHECK-LABEL: func.func @linear(
// CHECK:         tile.linear_state softmax %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] size 128 at %{{.*}} width 32 into %{{.*}}, %{{.*}} : tensor<1x2x?x64xf32>
// CHECK:         tile.linear_prefix %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}}, %{{.*}} : tensor<1x2x?x64x32xf32>
// CHECK:         tile.linear_fold %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] by 4 into %{{.*}}, %{{.*}} : tensor<1x2x?x64x32xf32>
// CHECK:         tile.linear_read elu %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [64, 32] first %{{.*}} from %{{.*}} to %{{.*}} undivided into %{{.*}}, %{{.*}} member {
// CHECK:           tile.yield %{{.*}} : i1
// CHECK:         tile.gated_merge(%{{.*}}, %{{.*}} : tensor<1x2x?x32xf32>, tensor<1x2x?x32xf32>), (%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>) [%{{.*}}, %{{.*}}] at %{{.*}} rows 64 into %{{.*}} : memref<1x2x?x32xf32>
func.func @linear(%k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %h: tensor<1x2x?x64x32xf32>, %z: tensor<1x2x?x64xf32>,
                  %mh: memref<1x2x?x64x32xf32>, %mz: memref<1x2x?x64xf32>, %o: memref<1x2x?x32xf32>, %l: memref<1x2x?xf32>,
                  %g: tensor<2xf32>, %i: index) {
  tile.linear_state softmax %k, %v[%i, %i, %i] size 128 at %i width 32 into %mh, %mz
      : tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  tile.linear_prefix %h, %z[%i, %i, %i] into %mh, %mz
      : tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  tile.linear_fold %h, %z[%i, %i, %i] by 4 into %mh, %mz
      : tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x64x32xf32>, memref<1x2x?x64xf32>
  tile.linear_read elu %k, %h, %z[%i, %i] at (%i, %i) tile [64, 32] first %i from %i to %i undivided into %o, %l member {
  ^bb0(%r: index, %c: index):
    %live = arith.cmpi eq, %r, %c : index
    tile.yield %live : i1
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64x32xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x32xf32>, memref<1x2x?xf32>
  tile.gated_merge (%v, %v : tensor<1x2x?x32xf32>, tensor<1x2x?x32xf32>), (%g, %g : tensor<2xf32>, tensor<2xf32>) [%i, %i] at %i rows 64
      into %o : memref<1x2x?x32xf32>
  return
}
