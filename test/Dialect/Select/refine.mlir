// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL

// CHECK-LABEL: func.func @level(
// CHECK:         select.children %{{.*}}, %{{.*}} by 4 columns(%{{.*}}) : tensor<1x8x?x3xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x12xi32>, tensor<1x8x?xi32>
// CHECK:         select.children %{{.*}}, %{{.*}} by 2 columns(100) :
// CHECK:         select.score_list dot %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x8x?x12xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x12xf32>
// CHECK:         select.score_list dot %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} over %{{.*}} force %{{.*}} scale 5.000000e-01 :
// CHECK:         select.pick %{{.*}}, %{{.*}} at %{{.*}} : tensor<1x8x?x12xi32>, tensor<1x8x?xi32>, tensor<1x8x?x3xi32> -> tensor<1x8x?x3xi32>
// CHECK:         select.without %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x8x?x12xf32>, tensor<1x8x?x3xi32>, tensor<1x8x?xi32>
func.func @level(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %ids: tensor<1x8x?x3xi32>,
                 %counts: tensor<1x8x?xi32>, %n: index) -> (tensor<1x8x?x3xi32>, tensor<1x8x?x12xf32>) {
  %0:2 = select.children %ids, %counts by 4 columns(%n)
      : tensor<1x8x?x3xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x12xi32>, tensor<1x8x?xi32>
  %1:2 = select.children %ids, %counts by 2 columns(100)
      : tensor<1x8x?x3xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x6xi32>, tensor<1x8x?xi32>
  %2 = select.score_list dot %q, %k at %0#0, %0#1
      : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x8x?x12xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x12xf32>
  %past = sparsity.causal
  %own = sparsity.window left(0) right(0)
  %3 = select.score_list dot %q, %k at %0#0, %0#1 over %past force %own scale 0.5
      : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x8x?x12xi32>, tensor<1x8x?xi32> -> tensor<1x8x?x12xf32>
  %4:2 = select.choose top_k(3) %2 : tensor<1x8x?x12xf32> -> tensor<1x8x?x3xi32>, tensor<1x8x?xi32>
  %5 = select.pick %0#0, %0#1 at %4#0
      : tensor<1x8x?x12xi32>, tensor<1x8x?xi32>, tensor<1x8x?x3xi32> -> tensor<1x8x?x3xi32>
  %6 = select.without %3, %4#0, %4#1 : tensor<1x8x?x12xf32>, tensor<1x8x?x3xi32>, tensor<1x8x?xi32>
  return %5, %6 : tensor<1x8x?x3xi32>, tensor<1x8x?x12xf32>
}

// All pairs count anyway; a set that leaves some out stays.
// CANONICAL-LABEL: func.func @pairs(
// CANONICAL-NOT:     sparsity.all
// CANONICAL:         select.score_list dot %{{.*}} at %{{.*}}, %{{[a-z0-9]+}} :
// CANONICAL:         select.score_list dot %{{.*}} at %{{.*}}, %{{.*}} over %{{.*}} :
func.func @pairs(%q: tensor<1x1x?x64xf16>, %ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>)
    -> (tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>) {
  %all = sparsity.all : !sparsity.set<1>
  %past = sparsity.causal
  %0 = select.score_list dot %q, %q at %ids, %counts over %all
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x?xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xf32>
  %1 = select.score_list dot %q, %q at %ids, %counts over %past
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x?xi32>, tensor<1x1x?xi32> -> tensor<1x1x?x?xf32>
  return %0, %1 : tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>
}
