// RUN: lacuna-opt %s --lacuna-assign-tiles | FileCheck %s
// RUN: lacuna-opt %s --lacuna-assign-tiles='query-tile=32 key-tile=128' | FileCheck %s --check-prefix=ASKED
// RUN: not lacuna-opt %s --lacuna-assign-tiles=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not lacuna-opt %s --lacuna-assign-tiles=query-tile=48 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not lacuna-opt %s --lacuna-assign-tiles=query-tile=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not lacuna-opt %s --lacuna-assign-tiles=key-tile=4,4,4 2>&1 | FileCheck %s --check-prefix=AXES

// TARGET: error: expected target cpu{{.*}}, got abacus
// One number is shared among the axes of a grid, so it must be a power of two.
// ODD: 'attn.attend' op expected a power of two for query-tile to share among axes, got 48
// ZERO: 'attn.attend' op expected positive extents for query-tile, got 0
// AXES: 'attn.attend' op expected one number or one per axis for key-tile, got 3 for 1 axes

// CHECK-LABEL: func.func @sequence(
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 64>
// ASKED-LABEL: func.func @sequence(
// ASKED:         key_tile = array<i64: 128>, query_tile = array<i64: 32>
func.func @sequence(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.causal
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// What the spec says already stays.
// CHECK-LABEL: func.func @kept(
// CHECK:         key_tile = array<i64: 64>, query_tile = array<i64: 16>
// ASKED-LABEL: func.func @kept(
// ASKED:         key_tile = array<i64: 128>, query_tile = array<i64: 16>
func.func @kept(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.causal
  %o = attn.attend %q, %q, %q over %set {query_tile = array<i64: 16>}
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// Run-time sizes: as even as possible, later axes first.
// CHECK-LABEL: func.func @grids(
// CHECK:         key_tile = array<i64: 8, 8>, query_tile = array<i64: 8, 8>
// CHECK:         key_tile = array<i64: 4, 4, 4>, query_tile = array<i64: 4, 4, 4>
// CHECK:         key_tile = array<i64: 2, 2, 4, 4>, query_tile = array<i64: 2, 2, 4, 4>
// ASKED-LABEL: func.func @grids(
// ASKED:         key_tile = array<i64: 8, 16>, query_tile = array<i64: 4, 8>
func.func @grids(%q: tensor<1x1x?x64xf32>, %n: index)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>) {
  %d2 = sparsity.grid [%n, %n]
  %d3 = sparsity.grid [%n, %n, %n]
  %d4 = sparsity.grid [%n, %n, %n, %n]
  %s2 = sparsity.all in %d2 : !sparsity.domain<2>
  %s3 = sparsity.all in %d3 : !sparsity.domain<3>
  %s4 = sparsity.all in %d4 : !sparsity.domain<4>
  %o2 = attn.attend %q, %q, %q over %s2 : !sparsity.set<2>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  %o3 = attn.attend %q, %q, %q over %s3 : !sparsity.set<3>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  %o4 = attn.attend %q, %q, %q over %s4 : !sparsity.set<4>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o2, %o3, %o4 : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
}

// A constant axis takes no more than the next power of two and leaves the rest
// to the others; if all are short the last one is padded.
// CHECK-LABEL: func.func @short_axes(
// CHECK:         key_tile = array<i64: 4, 2, 8>, query_tile = array<i64: 4, 2, 8>
// CHECK:         key_tile = array<i64: 4, 16>, query_tile = array<i64: 4, 16>
func.func @short_axes(%q: tensor<1x1x?x64xf32>, %n: index)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>) {
  %d3 = sparsity.grid [%n, 2, 64]
  %d2 = sparsity.grid [3, 5]
  %s3 = sparsity.all in %d3 : !sparsity.domain<3>
  %s2 = sparsity.all in %d2 : !sparsity.domain<2>
  %o3 = attn.attend %q, %q, %q over %s3 : !sparsity.set<3>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  %o2 = attn.attend %q, %q, %q over %s2 : !sparsity.set<2>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o3, %o2 : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
}

// Segments of a concatenation have their boxes one after the other.
// CHECK-LABEL: func.func @segments(
// CHECK:         key_tile = array<i64: 64, 8, 8>, query_tile = array<i64: 64, 8, 8>
func.func @segments(%q: tensor<1x1x?x64xf32>, %n: index) -> tensor<1x1x?x64xf32> {
  %text = sparsity.sequence [%n]
  %image = sparsity.grid [%n, %n]
  %tokens = sparsity.concat %text, %image : !sparsity.domain<1>, !sparsity.domain<2>
  %set = sparsity.all in %tokens : !sparsity.domain<1, 2>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<1, 2>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}
