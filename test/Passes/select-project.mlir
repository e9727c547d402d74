// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse | FileCheck %s

// Programs take 128 rows and up to 128 features: 200 are two programs, 16 are one.
// CHECK-LABEL: tile.kernel @wide_project_0
// CHECK:         tile.require %{{.*}}, "expected the number of heads to be a multiple of the number of matrices, got {0} and {1}"
// CHECK:         tile.plan grid(%{{.*}}, %{{.*}}, %{{.*}}, %c2) shapes(%{{.*}}, %{{.*}}, %{{.*}}, %c200)
// CHECK:         tile.project %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [128, 128] into
// CHECK-LABEL: func.func @wide(
// CHECK:         tile.launch @wide_project_0(
func.func @wide(%x: tensor<?x?x?x64xbf16>, %w: tensor<?x64x200xbf16>) -> tensor<?x?x?x200xbf16> {
  %0 = select.project %x, %w : tensor<?x?x?x64xbf16>, tensor<?x64x200xbf16> -> tensor<?x?x?x200xbf16>
  return %0 : tensor<?x?x?x200xbf16>
}

// Heads and matrices that are known need no requirement.
// CHECK-LABEL: tile.kernel @narrow_project_0
// CHECK-NOT:     tile.require
// CHECK:         tile.plan grid(%{{.*}}, %c4, %{{.*}}, %c1) shapes(%{{.*}}, %c4, %{{.*}}, %c16)
// CHECK:         tile.project {{.*}} tile [128, 16] into
func.func @narrow(%x: tensor<?x4x?x64xbf16>, %w: tensor<2x64x16xbf16>) -> tensor<?x4x?x16xf32> {
  %0 = select.project %x, %w : tensor<?x4x?x64xbf16>, tensor<2x64x16xbf16> -> tensor<?x4x?x16xf32>
  return %0 : tensor<?x4x?x16xf32>
}
