// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --canonicalize | FileCheck %s --check-prefixes=CHECK,CANONICAL

// CHECK-LABEL: func.func @project(
// CHECK:         select.project %{{.*}}, %{{.*}} : tensor<?x8x?x128xbf16>, tensor<2x128x64xbf16> -> tensor<?x8x?x64xbf16>
// CHECK:         select.project %{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x64x16xbf16> -> tensor<?x?x?x16xf32>
// A projection is never left out of its own accord, not even a square one.
// CHECK:         select.project %{{.*}}, %{{.*}} : tensor<1x4x9x3xf32>, tensor<1x3x3xf32> -> tensor<1x4x9x3xf32>
func.func @project(%x: tensor<?x8x?x128xbf16>, %w: tensor<2x128x64xbf16>, %y: tensor<?x?x?x64xbf16>, %v: tensor<?x64x16xbf16>,
                   %z: tensor<1x4x9x3xf32>, %u: tensor<1x3x3xf32>)
    -> (tensor<?x8x?x64xbf16>, tensor<?x?x?x16xf32>, tensor<1x4x9x3xf32>) {
  %0 = select.project %x, %w : tensor<?x8x?x128xbf16>, tensor<2x128x64xbf16> -> tensor<?x8x?x64xbf16>
  %1 = select.project %y, %v : tensor<?x?x?x64xbf16>, tensor<?x64x16xbf16> -> tensor<?x?x?x16xf32>
  %2 = select.project %z, %u : tensor<1x4x9x3xf32>, tensor<1x3x3xf32> -> tensor<1x4x9x3xf32>
  return %0, %1, %2 : tensor<?x8x?x64xbf16>, tensor<?x?x?x16xf32>, tensor<1x4x9x3xf32>
}

// Nobody reads the features.
// CANONICAL-LABEL: func.func @unused(
// CANONICAL-NEXT:    return
func.func @unused(%x: tensor<1x1x9x8xf32>, %w: tensor<1x8x8xf32>) {
  %0 = select.project %x, %w : tensor<1x1x9x8xf32>, tensor<1x8x8xf32> -> tensor<1x1x9x8xf32>
  return
}
