// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// CHECK-LABEL: func.func @states(
// CHECK:         attn.linear_state softmax %{{.*}}, %{{.*}} block [128] : tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
// CHECK:         attn.linear_prefix %{{.*}}, %{{.*}} : tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
// CHECK:         attn.linear_fold %{{.*}}, %{{.*}} by 4 : tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
func.func @states(%k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> (tensor<?x2x?x64x32xf32>, tensor<?x2x?x64x32xf32>) {
  %h, %z = attn.linear_state softmax %k, %v block [128]
      : tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
  %p, %pz = attn.linear_prefix %h, %z : tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
  %f, %fz = attn.linear_fold %h, %z by 4 : tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
      -> tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32>
  return %p, %f : tensor<?x2x?x64x32xf32>, tensor<?x2x?x64x32xf32>
}

// Numbers of states that the types know: the last block may be short, and there is a sum before each and one of all.
// CHECK-LABEL: func.func @counted(
func.func @counted(%k: tensor<1x2x300x64xf16>) -> (tensor<1x2x4x64x64xf32>, tensor<1x2x2x64x64xf32>) {
  %h, %z = attn.linear_state identity %k, %k block [128]
      : tensor<1x2x300x64xf16>, tensor<1x2x300x64xf16> -> tensor<1x2x3x64x64xf32>, tensor<1x2x3x64xf32>
  %p, %pz = attn.linear_prefix %h, %z : tensor<1x2x3x64x64xf32>, tensor<1x2x3x64xf32>
      -> tensor<1x2x4x64x64xf32>, tensor<1x2x4x64xf32>
  %f, %fz = attn.linear_fold %h, %z by 2 : tensor<1x2x3x64x64xf32>, tensor<1x2x3x64xf32>
      -> tensor<1x2x2x64x64xf32>, tensor<1x2x2x64xf32>
  return %p, %f : tensor<1x2x4x64x64xf32>, tensor<1x2x2x64x64xf32>
}

// CHECK-LABEL: func.func @read(
// CHECK:         attn.linear_read relu %{{.*}}, %{{.*}}, %{{.*}} over %{{[0-9a-z]+}} : tensor<?x8x?x64xf32>
// CHECK:         attn.linear_read exp %{{.*}}, %{{.*}}, %{{.*}} over %{{[0-9a-z]+}} query [64] undivided : tensor<?x8x?x64xf32>
// CHECK-SAME:      -> tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
// CHECK:         attn.gated_merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<?x8x?x32xf32>, tensor<8xf32>
// CHECK:         attn.gated_merge (%{{.*}}, %{{.*}}) : tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
func.func @read(%q: tensor<?x8x?x64xf32>, %h: tensor<?x2x?x64x32xf32>, %z: tensor<?x2x?x64xf32>, %g: tensor<8xf32>)
    -> tensor<?x8x?x32xf32> {
  %set = sparsity.all
  %o, %l = attn.linear_read relu %q, %h, %z over %set
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
  %u, %ul = attn.linear_read exp %q, %h, %z over %set query [64] undivided
      : tensor<?x8x?x64xf32>, tensor<?x2x?x64x32xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
  %m = attn.gated_merge (%o, %g), (%u, %g) : tensor<?x8x?x32xf32>, tensor<8xf32>
  %n = attn.gated_merge (%m, %l) : tensor<?x8x?x32xf32>, tensor<?x8x?xf32>
  return %n : tensor<?x8x?x32xf32>
}
