// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles),lacuna-attn-to-map,canonicalize)' | FileCheck %s
// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles),lacuna-attn-to-map{elements},canonicalize)' | FileCheck %s --check-prefix=ELEMENTS

// Each row of the map is cleared, then the loops of attention write the tiles that they visit.
// CHECK-LABEL: tile.kernel @window_set_0
// CHECK:       body
// CHECK:         scf.for
// CHECK:           memref.store %c0_i8
// CHECK:         tile.for_each partial {{.*}} box [64]
// CHECK:           memref.store %c1_i8
// CHECK:         tile.for_each full {{.*}} box [64]
// CHECK:           memref.store %c2_i8
// CHECK-LABEL: func.func @window({{.*}} -> tensor<?x?x?x?xi8>

// With one cell per pair nothing is partial.
// ELEMENTS-LABEL: tile.kernel @window_set_0
// ELEMENTS:       body
// ELEMENTS-NOT:     tile.for_each partial
// ELEMENTS:         tile.for_each live {{.*}} box [1] {{.*}} box [1]
// ELEMENTS:           memref.store %c2_i8
func.func @window(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>,
                  %left: index) -> tensor<?x8x?x64xf32> {
  %set = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %k, %v over %set scale 0.125
    : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x8x?x64xf32>
  return %o : tensor<?x8x?x64xf32>
}
