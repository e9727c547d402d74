// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// The shortest form: a sequence's set needs no type.
// CHECK-LABEL: func.func @plain(
// CHECK:         attn.attend %{{.*}}, %{{.*}}, %{{.*}} over %{{[0-9a-z]+}} : tensor<1x8x?x64xf32>
func.func @plain(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>)
    -> tensor<1x8x?x32xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %k, %v over %set
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x8x?x32xf32>
  return %o : tensor<1x8x?x32xf32>
}

// Every clause, in the order of the grammar.
// CHECK-LABEL: func.func @everything(
// CHECK:         attn.attend {{.*}} over %{{.*}} sinks %{{.*}} : tensor<8xf32>
// CHECK-SAME:      scale 1.250000e-01 from_start score (
// CHECK:           math.tanh
// CHECK:           attn.yield %{{.*}} : f32
// CHECK:         } {key_tile = array<i64: 32>, query_tile = array<i64: 16>} : tensor<?x8x?x64xbf16>
func.func @everything(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %sinks: tensor<8xf32>)
    -> (tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>) {
  %set = sparsity.window left(7) right(0)
  %o, %lse = attn.attend %q, %k, %k over %set sinks %sinks : tensor<8xf32> scale 0.125 from_start
      score (%s, %b, %h, %i, %j) {
    %t = math.tanh %s : f32
    attn.yield %t : f32
  } {key_tile = array<i64: 32>, query_tile = array<i64: 16>}
      : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>
      -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>
}

// A set over a grid shows its type; tiles have an extent per axis.
// CHECK-LABEL: func.func @grid(
// CHECK:         attn.attend {{.*}} over %{{.*}} : !sparsity.set<2> {key_tile = array<i64: 8, 8>, query_tile = array<i64: 4, 16>}
func.func @grid(%q: tensor<1x1x?x64xf16>, %w: index) -> tensor<1x1x?x64xf16> {
  %plane = sparsity.grid [%w, 64]
  %set = sparsity.all in %plane : !sparsity.domain<2>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2>
      {key_tile = array<i64: 8, 8>, query_tile = array<i64: 4, 16>}
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}

// CHECK-LABEL: func.func @merge(
// CHECK:         attn.merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
func.func @merge(%o0: tensor<1x8x?x64xf32>, %l0: tensor<1x8x?xf32>, %o1: tensor<1x8x?x64xf32>,
                 %l1: tensor<1x8x?xf32>) -> (tensor<1x8x?x64xf32>, tensor<1x8x?xf32>) {
  %o, %lse = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
  return %o, %lse : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
}

// Blocks that are skipped by a look at their scores, and the marks of those that are not.
// CHECK-LABEL: func.func @skip(
// CHECK:         attn.attend {{.*}} over %{{.*}} from_start skip query [64] key [128] below %{{.*}} : tensor<?x8x?xf32> margin 1.200000e+01 score (
// CHECK:         } : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xi8>
func.func @skip(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %least: tensor<?x8x?xf32>)
    -> (tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xi8>) {
  %set = sparsity.causal
  %o, %lse, %taken = attn.attend %q, %k, %k over %set from_start
      skip query [64] key [128] below %least : tensor<?x8x?xf32> margin 12.0
      score (%s, %b, %h, %i, %j) {
    %t = math.tanh %s : f32
    attn.yield %t : f32
  } : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>
      -> tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xi8>
  return %o, %lse, %taken : tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?x?xi8>
}

// Either rule alone; marks need no lse.
// CHECK-LABEL: func.func @skip_one_rule(
// CHECK:         attn.attend {{.*}} skip query [16] key [32] margin 0.000000e+00 : {{.*}} -> tensor<1x1x100x32xf32>, tensor<1x1x7x4xi8>
// CHECK:         attn.attend {{.*}} skip query [64] key [64] below %{{.*}} : tensor<1x1x100xf32> : {{.*}} -> tensor<1x1x100x32xf32>{{$}}
func.func @skip_one_rule(%q: tensor<1x1x100x32xf32>, %least: tensor<1x1x100xf32>)
    -> (tensor<1x1x100x32xf32>, tensor<1x1x7x4xi8>, tensor<1x1x100x32xf32>) {
  %set = sparsity.all
  %o, %taken = attn.attend %q, %q, %q over %set skip query [16] key [32] margin 0.0
      : tensor<1x1x100x32xf32>, tensor<1x1x100x32xf32>, tensor<1x1x100x32xf32>
      -> tensor<1x1x100x32xf32>, tensor<1x1x7x4xi8>
  %p = attn.attend %q, %q, %q over %set skip query [64] key [64] below %least : tensor<1x1x100xf32>
      : tensor<1x1x100x32xf32>, tensor<1x1x100x32xf32>, tensor<1x1x100x32xf32> -> tensor<1x1x100x32xf32>
  return %o, %taken, %p : tensor<1x1x100x32xf32>, tensor<1x1x7x4xi8>, tensor<1x1x100x32xf32>
}
