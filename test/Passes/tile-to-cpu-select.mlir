// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-cpu=vector-width=8 | FileCheck %s
// RUN: lacuna-opt %s --split-input-file --lacuna-tile-to-cpu=vector-width=8 --lacuna-cpu-to-llvm | FileCheck %s --check-prefix=LLVM

// A variance takes its tokens twice, in chunks of rows, and vectors run over channels: those of 32 from channel 32 on.
// CHECK-LABEL: func.func @summary_body(
// CHECK:         call @load_channels_last
// CHECK:         vector.load {{.*}} vector<8xf32>
// CHECK:         arith.addf {{.*}} : vector<8xf32>
// CHECK:         arith.divf {{.*}} : vector<8xf32>
// CHECK:         call @load_channels_last
// CHECK:         arith.subf {{.*}} : vector<8xf32>
// CHECK:         vector.fma
// CHECK:         arith.truncf {{.*}} : f32 to bf16
// CHECK:         memref.store {{.*}} : memref<?x2x?x32xbf16>
// CHECK-NOT:     tile.
tile.kernel @summary attributes {inputs = 1, outputs = 1} plan {
^bb0(%k: tensor<?x2x?x64xbf16>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%k: tensor<?x2x?x64xbf16>, %o: memref<?x2x?x32xbf16>, %b: index, %h: index, %t: index):
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %k, %c2 : tensor<?x2x?x64xbf16>
  %i = arith.muli %t, %c64 : index
  tile.summarize variance %k[%b, %h] at(%i) of(%n) box [64] channels [32, 64] into %o[%t]
      : tensor<?x2x?x64xbf16>, memref<?x2x?x32xbf16>
  tile.end
}

// -----

// A dot product is that of attention; rows and keys are then reduced, keys on vectors of rows. Where there is a live region,
// its pairs are kept apart from the scores, for a live score may be -inf.
// CHECK-LABEL: func.func @scores_body(
// CHECK:         call @load_rows_last
// CHECK:         call @load_channels_last
// CHECK:         call @dot(
// CHECK:         call @fill
// CHECK:         arith.cmpi sle, {{.*}} : vector<8xindex>
// CHECK:         arith.maximumf {{.*}} : vector<8xf32>
// CHECK:         arith.addf {{.*}} : f32
// CHECK:         memref.store {{.*}} : memref<?x2x?x?xf32>
tile.kernel @scores attributes {inputs = 2, outputs = 1} plan {
^bb0(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>, %o: memref<?x2x?x?xf32>, %b: index, %h: index, %t: index, %u: index):
  tile.score_blocks dot %q, %k[%b, %h] at(%t, %u) tile [128, 128] rows 128 by sum columns 32 by max group 2
      scale 1.250000e-01 into %o live {
  ^bb0(%head: index, %i: index, %j: index):
    %past = arith.cmpi sle, %j, %i : index
    tile.yield %past : i1
  } : tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, memref<?x2x?x?xf32>
  tile.end
}

// -----

// A bound of a box has a product of its own, and rows stand alone: no sum over them.
// CHECK-LABEL: func.func @bounds_body(
// CHECK-NOT:     call @dot
// CHECK:         call @pair_scores(
// CHECK-LABEL: func.func private @pair_scores(
// CHECK:         arith.maximumf {{.*}} : vector<8xf32>
tile.kernel @bounds attributes {inputs = 2, outputs = 1} plan {
^bb0(%q: tensor<?x2x?x16xf16>, %k: tensor<?x2x?x16xf16>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%q: tensor<?x2x?x16xf16>, %k: tensor<?x2x?x16xf16>, %o: memref<?x2x?x?xf32>, %b: index, %h: index, %t: index, %u: index):
  tile.score_blocks box %q, %k with %k : tensor<?x2x?x16xf16>[%b, %h] at(%t, %u) tile [128, 128]
      rows 1 by sum columns 1 by sum group 1 scale 1.000000e+00 into %o
      : tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>, memref<?x2x?x?xf32>
  tile.end
}

// -----

// Neighbouring channels are copied as vectors where they are neighbours in memory; tokens behind the last become 0.
// CHECK-LABEL: func.func @fold_body(
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK:             vector.load {{.*}} strided<[1], offset: ?>>, vector<8xf16>
// CHECK:           } else {
// CHECK-NOT:         vector.load
// CHECK:         } else {
// CHECK:           memref.store
tile.kernel @fold attributes {inputs = 1, outputs = 1} plan {
^bb0(%k: tensor<?x2x?x16xf16>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%k: tensor<?x2x?x16xf16>, %o: memref<?x2x?x64xf16>, %b: index, %h: index, %r: index):
  tile.fold %k[%b, %h, %r] by 4 reversed into %o : tensor<?x2x?x16xf16>, memref<?x2x?x64xf16>
  tile.end
}

// -----

// What is shut out wins over what is forced.
// CHECK-LABEL: func.func @restrict_body(
// CHECK:         %[[FORCED:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         arith.select %{{.*}}, %[[FORCED]], %{{.*}} : f32
tile.kernel @restrict attributes {inputs = 1, outputs = 1} plan {
^bb0(%s: tensor<?x2x?x?xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1)
} body {
^bb0(%s: tensor<?x2x?x?xf32>, %o: memref<?x2x?x?xf32>, %b: index, %h: index, %r: index):
  tile.restrict %s[%b, %h, %r] into %o within {
  ^bb0(%i: index, %j: index):
    %past = arith.cmpi sle, %j, %i : index
    tile.yield %past : i1
  } force {
  ^bb0(%i: index, %j: index):
    %own = arith.cmpi eq, %i, %j : index
    tile.yield %own : i1
  } : tensor<?x2x?x?xf32>, memref<?x2x?x?xf32>
  tile.end
}

// -----

// A choice is a call with one address: that of 40 words, from the scores' address and extents to the row.
// CHECK-LABEL: func.func @choose_body(
// CHECK:         %[[WORDS:.*]] = memref.alloca() {{.*}} : memref<40xi64>
// CHECK-COUNT-40: memref.store %{{.*}}, %[[WORDS]]
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[WORDS]]
// CHECK:         call @lacuna_choose(%[[ADDRESS]]) : (index) -> ()
// CHECK:       func.func private @lacuna_choose(index)
// LLVM:        llvm.func @lacuna_choose(i64)
tile.kernel @choose attributes {inputs = 1, outputs = 2} plan {
^bb0(%s: tensor<?x4x?x?xf32>):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1, %c1, %c1, %c1)
} body {
^bb0(%s: tensor<?x4x?x?xf32>, %ids: memref<?x4x?x?xi32>, %counts: memref<?x4x?xi32>, %b: index, %h: index, %r: index):
  tile.choose top_k(4) %s at(%b, %h, %r) scope row floor 2 into %ids, %counts
      : tensor<?x4x?x?xf32>, memref<?x4x?x?xi32>, memref<?x4x?xi32>
  tile.end
}

// -----

// CHECK-LABEL: func.func @others_body(
// CHECK:         call @lacuna_sample(
// CHECK:         call @lacuna_margin(
// CHECK:         call @lacuna_gate(
tile.kernel @others attributes {inputs = 3, outputs = 5} plan {
^bb0(%s: tensor<?x4x?x?xf32>, %m: tensor<?x4x?xf32>, %seed: index):
  %c1 = arith.constant 1 : index
  tile.plan grid(%c1, %c1, %c1) shapes(%c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1, %c1)
} body {
^bb0(%s: tensor<?x4x?x?xf32>, %m: tensor<?x4x?xf32>, %seed: index, %ids: memref<?x4x?x?xi32>, %counts: memref<?x4x?xi32>,
     %weights: memref<?x4x?x?xf32>, %margin: memref<?x4x?xf32>, %numbers: memref<?x4x?xi32>, %b: index, %h: index, %r: index):
  tile.sample(16) %s[%b, %h, %r] seed %seed into %ids, %counts, %weights
      : tensor<?x4x?x?xf32>, memref<?x4x?x?xi32>, memref<?x4x?xi32>, memref<?x4x?x?xf32>
  tile.margin(3) %s[%b, %h, %r] into %margin : tensor<?x4x?x?xf32>, memref<?x4x?xf32>
  tile.gate(0.4) %m[%b] low 4 high 8 into %numbers : tensor<?x4x?xf32>, memref<?x4x?xi32>
  tile.end
}
