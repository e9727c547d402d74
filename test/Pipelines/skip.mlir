// RUN: lacuna-opt %s --lacuna-spec-to-hopper | FileCheck %s
// RUN: lacuna-opt %s --lacuna-spec-to-tile --lacuna-tile-to-loops | FileCheck %s --check-prefix=CPU

// One ascending walk whose tiles are told apart one by one, and a rule for the consumers; marks are memory of the kernel.
// CHECK-LABEL: tile.kernel @skip_attend_0
// CHECK-NOT:     tile.unmark
// CHECK:         hopper.attend {{.*}} skip into %{{.*}} : memref<?x?x?x?xi8> below %{{.*}} : tensor<?x4x?xf32> margin 1.500000e+00 scale
// CHECK:           scf.for
// CHECK-NEXT:        {{.*}} = arith.cmpi
// CHECK:             scf.if
// CHECK:               hopper.tile kind 0
// CHECK:             } else {
// CHECK:               hopper.tile kind 1
// CHECK:         } elements {
// CPU-LABEL:   tile.kernel @skip_attend_0
// CPU:           tile.unmark
// CPU:           scf.for
// CPU:             scf.if
// CPU-NOT:           tile.mask
// CPU:               tile.skip
// CPU:             } else {
// CPU:               tile.mask
// CPU:               tile.skip
func.func @skip(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>, %t: tensor<?x4x?xf32>)
    -> tensor<?x4x?x128xbf16> {
  %set = sparsity.causal
  %o = attn.attend %q, %k, %v over %set skip query [64] key [128] below %t : tensor<?x4x?xf32> margin 1.5
    : tensor<?x4x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16> -> tensor<?x4x?x128xbf16>
  return %o : tensor<?x4x?x128xbf16>
}
