// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// One op is the body of a kernel.
// CHECK-LABEL: tile.kernel @means
// CHECK:         tile.summarize mean %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}) of(%{{.*}}) box [128] channels [0, 64] into %{{.*}}[%{{.*}}] : tensor<?x2x?x64xf32>, memref<?x2x?x64xf32>
tile.kernel @means attributes {inputs = 1, outputs = 1} plan {
^bb0(%k: tensor<?x2x?x64xf32>):
  %n = arith.constant 2 : index
  tile.plan grid(%n, %n, %n) shapes(%n, %n, %n, %n)
} body {
^bb0(%k: tensor<?x2x?x64xf32>, %m: memref<?x2x?x64xf32>, %b: index, %h: index, %r: index):
  %n = arith.constant 256 : index
  tile.summarize mean %k[%b, %h] at (%r) of (%n) box [128] channels [0, 64] into %m[%r]
      : tensor<?x2x?x64xf32>, memref<?x2x?x64xf32>
  tile.end
}

// CHECK-LABEL: func.func @summaries(
// CHECK:         tile.summarize radius %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) box [4, 8] channels [16, 32] into
// CHECK:         tile.fold %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] by 4 into %{{.*}} : tensor<1x2x?x64xf32>, memref<1x2x?x256xf32>
// CHECK:         tile.fold %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] by 4 reversed into
func.func @summaries(%k: tensor<1x2x?x64xf32>, %r: memref<1x2x?x1xf32>, %f: memref<1x2x?x256xf32>,
                     %b: index, %h: index, %i: index) {
  tile.summarize radius %k[%b, %h] at (%i, %i) of (%i, %i) box [4, 8] channels [16, 32] into %r[%i]
      : tensor<1x2x?x64xf32>, memref<1x2x?x1xf32>
  tile.fold %k[%b, %h, %i] by 4 into %f : tensor<1x2x?x64xf32>, memref<1x2x?x256xf32>
  tile.fold %k[%b, %h, %i] by 4 reversed into %f : tensor<1x2x?x64xf32>, memref<1x2x?x256xf32>
  return
}

// CHECK-LABEL: func.func @scores(
// CHECK:         tile.score_blocks dot %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [128, 64] rows 128 by max columns 1 by sum group 4 scale 1.250000e-01 into %{{[a-z0-9]+}} : tensor
// CHECK:         tile.score_blocks ball %{{.*}}, %{{.*}} with %{{.*}} : tensor<1x2x?x1xf32>[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [8, 64] rows 1 by sum columns 0 by log_sum_exp group 1
// CHECK-SAME:      scale 2.000000e+00 lse %{{.*}} : tensor<1x8x?xf32> weights %{{.*}} : tensor<1x8x?xf32> into %{{.*}} live {
// CHECK:           ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:             tile.yield %{{.*}} : i1
// CHECK:         } function {
// CHECK:           ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:             tile.yield %{{.*}} : f32
func.func @scores(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %c: tensor<1x2x?x1xf32>,
                  %l: tensor<1x8x?xf32>, %s: memref<1x2x?x?xf32>, %t: memref<1x8x?xf32>,
                  %b: index, %h: index, %i: index) {
  tile.score_blocks dot %q, %k[%b, %h] at (%i, %i) tile [128, 64] rows 128 by max columns 1 by sum
      group 4 scale 0.125 into %s : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x2x?x?xf32>
  tile.score_blocks ball %q, %k with %c : tensor<1x2x?x1xf32> [%b, %h] at (%i, %i) tile [8, 64]
      rows 1 by sum columns 0 by log_sum_exp group 1 scale 2.0 lse %l : tensor<1x8x?xf32>
      weights %l : tensor<1x8x?xf32> into %t live {
  ^bb0(%head: index, %row: index, %column: index):
    %past = arith.cmpi sle, %column, %row : index
    tile.yield %past : i1
  } function {
  ^bb0(%x: f32, %bb: index, %hh: index, %row: index, %column: index):
    tile.yield %x : f32
  } : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, memref<1x8x?xf32>
  return
}

// CHECK-LABEL: func.func @choices(
// CHECK:         tile.restrict %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} within {
// CHECK:         } force {
// CHECK:         } : tensor<1x2x?x?xf32>, memref<1x2x?x?xf32>
// CHECK:         tile.choose top_k(16) %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) scope row floor 1 cap 64 into %{{.*}}, %{{.*}} : tensor
// CHECK:         tile.choose share(1.250000e-01) %{{.*}} at(%{{.*}}) scope batch into
// CHECK:         tile.choose top_k(%{{.*}} : tensor<1x2x?xi32>) %{{.*}} at(
// CHECK:         tile.choose top_k(%{{[a-z0-9]+}}) %{{.*}} at(%{{.*}}, %{{.*}}) scope head
// CHECK:         tile.sample(16) %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] seed %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} : tensor
// CHECK:         tile.margin(32) %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} : tensor
// CHECK:         tile.gate(4.000000e-01) %{{.*}}[%{{.*}}] low 64 high 32 into %{{.*}} : tensor
func.func @choices(%s: tensor<1x2x?x?xf32>, %v: tensor<1x2x?xf32>, %ks: tensor<1x2x?xi32>,
                   %t: memref<1x2x?x?xf32>, %ids: memref<1x2x?x?xi32>, %counts: memref<1x2x?xi32>,
                   %m: memref<1x2x?xf32>, %b: index, %h: index, %i: index) {
  tile.restrict %s[%b, %h, %i] into %t within {
  ^bb0(%row: index, %column: index):
    %past = arith.cmpi sle, %column, %row : index
    tile.yield %past : i1
  } force {
  ^bb0(%row: index, %column: index):
    %self = arith.cmpi eq, %column, %row : index
    tile.yield %self : i1
  } : tensor<1x2x?x?xf32>, memref<1x2x?x?xf32>
  tile.choose top_k(16) %s at (%b, %h, %i) scope row floor 1 cap 64 into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.choose share(0.125) %s at (%b) scope batch into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.choose top_k(%ks : tensor<1x2x?xi32>) %s at (%b, %h, %i) scope row into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.choose top_k(%i) %s at (%b, %h) scope head into %ids, %counts
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.sample(16) %s[%b, %h, %i] seed %i into %ids, %counts, %t
      : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>, memref<1x2x?x?xf32>
  tile.margin(32) %s[%b, %h, %i] into %m : tensor<1x2x?x?xf32>, memref<1x2x?xf32>
  tile.gate(0.4) %v[%b] low 64 high 32 into %counts : tensor<1x2x?xf32>, memref<1x2x?xi32>
  return
}

// CHECK-LABEL: func.func @formats(
// CHECK:         tile.list_of_mask %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}}, %{{.*}} : tensor<1x2x?x?xi8>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
// CHECK:         tile.list_of_mask %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] cut transposed into
// CHECK:         tile.mask_of_list %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi8>
// CHECK:         tile.list_of_csr %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] cut into %{{.*}}, %{{.*}} : tensor<1x2x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
// CHECK:         tile.csr_of_list %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] into %{{.*}}, %{{.*}} : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?xi32>, memref<1x2x?xi32>
func.func @formats(%mask: tensor<1x2x?x?xi8>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>,
                   %m: memref<1x2x?x?xi8>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  tile.list_of_mask %mask[%b, %b, %b] into %i, %c : tensor<1x2x?x?xi8>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.list_of_mask %mask[%b, %b, %b] cut transposed into %i, %c
      : tensor<1x2x?x?xi8>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.mask_of_list %ids, %counts[%b, %b, %b] into %m
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi8>
  tile.list_of_csr %counts, %counts[%b, %b, %b] cut into %i, %c
      : tensor<1x2x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.csr_of_list %ids, %counts[%b, %b] into %c, %c
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?xi32>, memref<1x2x?xi32>
  return
}

// CHECK-LABEL: func.func @candidates(
// CHECK:         tile.children %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] by 4 columns %{{.*}} into %{{.*}}, %{{.*}} : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
// CHECK:         tile.score_list %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] scale 1.250000e-01 into %{{.*}} within {
// CHECK:         } force {
// CHECK:         } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xf32>
// CHECK:         tile.pick %{{.*}}, %{{.*}} at %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} :
// CHECK:         tile.without %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} :
func.func @candidates(%q: tensor<1x2x?x64xf16>, %s: tensor<1x2x?x?xf32>, %ids: tensor<1x2x?x?xi32>, %counts: tensor<1x2x?xi32>,
                      %t: memref<1x2x?x?xf32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  tile.children %ids, %counts[%b, %b, %b] by 4 columns %b into %i, %c
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.score_list %q, %q at %ids, %counts[%b, %b, %b] scale 0.125 into %t within {
  ^bb0(%r: index, %j: index):
    %y = arith.cmpi sle, %j, %r : index
    tile.yield %y : i1
  } force {
  ^bb0(%r: index, %j: index):
    %y = arith.cmpi eq, %j, %r : index
    tile.yield %y : i1
  } : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xf32>
  tile.pick %ids, %counts at %ids[%b, %b, %b] into %i
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, tensor<1x2x?x?xi32>, memref<1x2x?x?xi32>
  tile.without %s, %ids, %counts[%b, %b, %b] into %t
      : tensor<1x2x?x?xf32>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xf32>
  return
}

// What passes make of several kernels.
// CHECK-LABEL: func.func @together(
// CHECK:         tile.summarize sum %{{.*}} box [4] channels [0, 64] unit 32 of(%{{.*}}) into %{{.*}}[%{{.*}}] partial %{{.*}} : memref<1x2x?x64xf32> : tensor
// CHECK:         tile.choose top_k(16) %{{.*}} scope row into %{{.*}}, %{{.*}} restricted %{{.*}} : memref<1x2x?x?xf32> within {
// CHECK:         } : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
// CHECK:         tile.refine share(5.000000e-01) %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] by 4 columns %{{.*}} most 64 scale 1.250000e-01 floor 1 cap 9 into %{{.*}}, %{{.*}} children %{{.*}} : memref<1x2x?x?xi32> child_counts %{{.*}} : memref<1x2x?xi32> scores %{{.*}} : memref<1x2x?x?xf32> places %{{.*}} : memref<1x2x?x?xi32> force {
func.func @together(%q: tensor<1x2x?x64xf32>, %m: memref<1x2x?x64xf32>, %s: tensor<1x2x?x?xf32>, %ids: tensor<1x2x?x?xi32>,
                    %counts: tensor<1x2x?xi32>, %t: memref<1x2x?x?xf32>, %i: memref<1x2x?x?xi32>, %c: memref<1x2x?xi32>, %b: index) {
  tile.summarize sum %q[%b, %b] at (%b) of (%b) box [4] channels [0, 64] unit 32 of (%b) into %m[%b] partial %m : memref<1x2x?x64xf32>
      : tensor<1x2x?x64xf32>, memref<1x2x?x64xf32>
  tile.choose top_k(16) %s at (%b, %b, %b) scope row into %i, %c restricted %t : memref<1x2x?x?xf32> within {
  ^bb0(%r: index, %j: index):
    %y = arith.cmpi sle, %j, %r : index
    tile.yield %y : i1
  } : tensor<1x2x?x?xf32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  tile.refine share(0.5) %q, %q at %ids, %counts[%b, %b, %b] by 4 columns %b most 64 scale 0.125 floor 1 cap 9 into %i, %c
      children %i : memref<1x2x?x?xi32> child_counts %c : memref<1x2x?xi32> scores %t : memref<1x2x?x?xf32>
      places %i : memref<1x2x?x?xi32> force {
  ^bb0(%r: index, %j: index):
    %y = arith.cmpi eq, %j, %r : index
    tile.yield %y : i1
  } : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, memref<1x2x?x?xi32>, memref<1x2x?xi32>
  return
}

// CHECK-LABEL: func.func @project(
// CHECK:         tile.project %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [128, 64] into %{{.*}} : tensor<1x4x?x128xbf16>, tensor<2x128x64xbf16>, memref<1x4x?x64xf32>
func.func @project(%x: tensor<1x4x?x128xbf16>, %w: tensor<2x128x64xbf16>, %f: memref<1x4x?x64xf32>, %b: index) {
  tile.project %x, %w[%b, %b] at (%b, %b) tile [128, 64] into %f
      : tensor<1x4x?x128xbf16>, tensor<2x128x64xbf16>, memref<1x4x?x64xf32>
  return
}
