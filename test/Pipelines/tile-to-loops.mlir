// RUN: lacuna-opt %s --lacuna-spec-to-tile --lacuna-tile-to-loops | FileCheck %s

// RUN: lacuna-opt %s --lacuna-spec-to-tile --lacuna-tile-to-loops | grep -v func.func > %t.small
// RUN: sed -e s/255/4095/ -e s/4096/1048576/ %s > %t.mlir
// RUN: lacuna-opt %t.mlir --lacuna-spec-to-tile --lacuna-tile-to-loops | grep -v func.func > %t.large
// RUN: diff %t.small %t.large

// The length and the width of the window are values of the kernel: other
// defaults change the function's line and nothing else, and no number of a
// spec's sizes occurs in the kernel.
// CHECK-LABEL: tile.kernel @windowed_attend_0
// CHECK-NOT:     sparsity
// CHECK-NOT:     {{4096|255}}
// Full tiles first, then those at the window's left border, then the diagonal.
// CHECK:         scf.for
// CHECK-NOT:       tile.mask
// CHECK:           scf.yield
// CHECK:         scf.for
// CHECK:           tile.mask
// CHECK:         scf.for
// CHECK:           tile.mask
// CHECK-NOT:     tile.for_each
// CHECK:         tile.end
// CHECK-LABEL: func.func @windowed(
// CHECK-SAME:      lacuna.default = 255
func.func @windowed(%q: tensor<1x1x?x64xf32>, %left: index {lacuna.default = 255 : index})
    -> tensor<1x1x?x64xf32> attributes {lacuna.sizes = {n = 4096}} {
  %set = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}
