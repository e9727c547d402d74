// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s 
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s 

// Integer sets are printed as aliases, at the top.
// CHECK: #[[BAND:.*]] = affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, -d0 + s0 + d1 >= 0)>
// CHECK: #[[PAST:.*]] = affine_set<(d0, d1) : (d0 - d1 >= 0)>

// Domains: sizes are constants or index values.
// CHECK-LABEL: func.func @domains(
func.func @domains(%n: index, %f: index) {
  // CHECK: %[[TEXT:.*]] = sparsity.sequence [%{{.*}}]{{$}}
  %text = sparsity.sequence [%n]
  // CHECK: %[[VIDEO:.*]] = sparsity.grid [%{{.*}}, 32, 64]{{$}}
  %video = sparsity.grid [%f, 32, 64]
  // CHECK: sparsity.concat %[[TEXT]], %[[VIDEO]] : !sparsity.domain<1>, !sparsity.domain<3>{{$}}
  %tokens = sparsity.concat %text, %video : !sparsity.domain<1>, !sparsity.domain<3>
  return
}

// Sets over a sequence spell no type.
// CHECK-LABEL: func.func @sequences(
func.func @sequences(%n: index, %h: tensor<?xi32>, %x: tensor<?xindex>) {
  // CHECK: sparsity.all{{$}}
  %0 = sparsity.all
  // CHECK: sparsity.none{{$}}
  %1 = sparsity.none
  // CHECK: sparsity.causal{{$}}
  %2 = sparsity.causal
  // CHECK: sparsity.causal from_start{{$}}
  %3 = sparsity.causal from_start
  // CHECK: sparsity.window left(%{{.*}}) right(0){{$}}
  %4 = sparsity.window left(%n) right(0)
  // CHECK: sparsity.window left(%{{.*}} : tensor<?xi32>) from_start{{$}}
  %5 = sparsity.window left(%h : tensor<?xi32>) from_start
  // CHECK: sparsity.window right(-2){{$}}
  %6 = sparsity.window right(-2)
  // CHECK: sparsity.prefix 4{{$}}
  %7 = sparsity.prefix 4
  // CHECK: sparsity.prefix %{{.*}} : tensor<?xindex>{{$}}
  %8 = sparsity.prefix %x : tensor<?xindex>
  // CHECK: sparsity.suffix %{{[a-z0-9]+}}{{$}}
  %9 = sparsity.suffix %n
  // CHECK: sparsity.rows [0, 5]{{$}}
  %10 = sparsity.rows [0, 5]
  // CHECK: sparsity.rows 3 from_start{{$}}
  %11 = sparsity.rows 3 from_start
  // CHECK: sparsity.columns [3, 17]{{$}}
  %12 = sparsity.columns [3, 17]
  // CHECK: sparsity.slashes [0, 64]{{$}}
  %13 = sparsity.slashes [0, 64]
  // CHECK: sparsity.stride 8{{$}}
  %14 = sparsity.stride 8
  // CHECK: sparsity.dilated left(16) right(0) step(%{{.*}}){{$}}
  %15 = sparsity.dilated left(16) right(0) step(%n)
  // CHECK: sparsity.block_diagonal 128{{$}}
  %16 = sparsity.block_diagonal 128
  // CHECK: sparsity.block_diagonal %{{.*}} : tensor<?xi32> from_start{{$}}
  %17 = sparsity.block_diagonal %h : tensor<?xi32> from_start
  // CHECK: sparsity.dyadic fenwick base 64{{$}}
  %18 = sparsity.dyadic fenwick base 64
  // CHECK: sparsity.dyadic distance base 64 fanout 4 near(256) levels 9 only [0, 8] columns 1 causal from_start{{$}}
  %19 = sparsity.dyadic distance base 64 fanout 4 near(256) levels 9 only [0, 8] columns 1 causal from_start
  // CHECK: sparsity.documents %{{.*}}, %{{.*}} causal : tensor<?xi32>, tensor<?xindex>{{$}}
  %20 = sparsity.documents %h, %x causal : tensor<?xi32>, tensor<?xindex>
  return
}

// Sets over a grid name their domain, which gives the type.
// CHECK-LABEL: func.func @grids(
func.func @grids(%f: index, %r: tensor<?xi32>) {
  %video = sparsity.grid [%f, 32, 64]
  %frames = sparsity.grid [%f, 1560]
  // CHECK: sparsity.all in %{{.*}} : !sparsity.domain<3>{{$}}
  %0 = sparsity.all in %video : !sparsity.domain<3>
  // CHECK: sparsity.causal in %{{.*}} : !sparsity.domain<3>{{$}}
  %1 = sparsity.causal in %video : !sparsity.domain<3>
  // CHECK: sparsity.radius [2, %{{.*}}, %{{.*}} : tensor<?xi32>] in %{{.*}} : !sparsity.domain<3>{{$}}
  %2 = sparsity.radius [2, %f, %r : tensor<?xi32>] in %video : !sparsity.domain<3>
  // CHECK: sparsity.radius [3, 3] border(shift) causal [0] dilation [1, 2] unit [1, 8] from_start in %{{.*}} : !sparsity.domain<2>{{$}}
  %3 = sparsity.radius [3, 3] border(shift) causal [0] dilation [1, 2] unit [1, 8] from_start in %frames : !sparsity.domain<2>
  // CHECK: sparsity.radius 7 norm(l2) in %{{.*}} : !sparsity.domain<3>{{$}}
  %4 = sparsity.radius 7 norm(l2) in %video : !sparsity.domain<3>
  // CHECK: sparsity.bands 256 levels 5 near 2 in %{{.*}} : !sparsity.domain<2>{{$}}
  %5 = sparsity.bands 256 levels 5 near 2 in %frames : !sparsity.domain<2>
  // CHECK: sparsity.block_diagonal [4, %{{.*}}, 8] in %{{.*}} : !sparsity.domain<3>{{$}}
  %6 = sparsity.block_diagonal [4, %f, 8] in %video : !sparsity.domain<3>
  return
}

// Sets that the user writes: a formula, and a region.
// CHECK-LABEL: func.func @written(
func.func @written(%w: index, %color: tensor<?xi32>) {
  // CHECK: sparsity.affine #[[BAND]] [%{{.*}}]{{$}}
  %0 = sparsity.affine affine_set<(i, j)[w] : (i - j >= 0, w - i + j >= 0)> [%w]
  // CHECK: sparsity.affine #[[PAST]] from_start{{$}}
  %1 = sparsity.affine affine_set<(i, j) : (i - j >= 0)> from_start
  // CHECK: sparsity.affine #[[PAST]] from_start within_keys{{$}}
  %within = sparsity.affine affine_set<(i, j) : (i - j >= 0)> from_start within_keys
  // CHECK: sparsity.affine #{{.*}} : !sparsity.set<1 to 2>{{$}}
  %2 = sparsity.affine affine_set<(i, a, b) : (i >= 0)> : !sparsity.set<1 to 2>
  // CHECK: sparsity.where (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
  // CHECK-NEXT: %[[LIVE:.*]] = arith.cmpi eq, %[[I]], %[[J]] : index
  // CHECK-NEXT: sparsity.yield %[[LIVE]] : i1
  // CHECK-NEXT: }
  %3 = sparsity.where (%b, %h, %i, %j) {
    %live = arith.cmpi eq, %i, %j : index
    sparsity.yield %live : i1
  }
  return
}

// The algebra prints its type only where that is not a sequence.
// CHECK-LABEL: func.func @algebra(
func.func @algebra(%n: index, %class: tensor<?xindex>, %small: tensor<8xi32>) {
  %a = sparsity.causal
  %b = sparsity.prefix 4
  // CHECK: sparsity.union %[[A:.*]], %[[B:.*]]{{$}}
  %0 = sparsity.union %a, %b
  // CHECK: sparsity.intersect %[[A]], %[[B]]{{$}}
  %1 = sparsity.intersect %a, %b
  // CHECK: sparsity.subtract %[[A]], %[[B]]{{$}}
  %2 = sparsity.subtract %a, %b
  // CHECK: sparsity.complement %[[A]]{{$}}
  %3 = sparsity.complement %a
  // CHECK: sparsity.per_head %{{[a-z0-9]+}} [%[[A]], %[[B]]]{{$}}
  %4 = sparsity.per_head %class [%a, %b]
  // CHECK: sparsity.per_head %{{[a-z0-9]+}} : tensor<8xi32> [%[[A]], %[[B]]]{{$}}
  %5 = sparsity.per_head %small : tensor<8xi32> [%a, %b]
  // CHECK: sparsity.per_head [0, 0, 1, 1] [%[[A]], %[[B]]]{{$}}
  %6 = sparsity.per_head [0, 0, 1, 1] [%a, %b]
  %g = sparsity.grid [%n, 8]
  %c = sparsity.causal in %g : !sparsity.domain<2>
  // CHECK: sparsity.union %[[C:.*]], %[[C]] : !sparsity.set<2>{{$}}
  %7 = sparsity.union %c, %c : !sparsity.set<2>
  // CHECK: sparsity.per_head [0] [%[[C]]] : !sparsity.set<2>{{$}}
  %8 = sparsity.per_head [0] [%c] : !sparsity.set<2>
  return
}

// One set per pair of segments; the types follow from the domain.
// CHECK-LABEL: func.func @segments(
func.func @segments(%n: index, %f: index) {
  %text = sparsity.sequence [%n]
  %grid = sparsity.grid [%f, 8]
  %tokens = sparsity.concat %text, %grid : !sparsity.domain<1>, !sparsity.domain<2>
  %a = sparsity.causal
  // CHECK: sparsity.none : !sparsity.set<1 to 2>{{$}}
  %b = sparsity.none : !sparsity.set<1 to 2>
  %c = sparsity.all : !sparsity.set<2 to 1>
  %d = sparsity.causal in %grid : !sparsity.domain<2>
  // CHECK: sparsity.segments %[[T:.*]] {{\[\[}}%[[A:.*]], %[[B:.*]]], [%[[C:.*]], %[[D:.*]]]] : !sparsity.domain<1, 2>{{$}}
  %s = sparsity.segments %tokens [[%a, %b], [%c, %d]] : !sparsity.domain<1, 2>
  // CHECK: sparsity.complement %{{.*}} : !sparsity.set<1, 2>{{$}}
  %t = sparsity.complement %s : !sparsity.set<1, 2>
  return
}

// A list prints its group only when heads share one; its type follows from the domain.
// CHECK-LABEL: func.func @lists(
func.func @lists(%ids: tensor<?x16x?x?xi32>, %counts: tensor<?x16x?xi32>,
                 %shared: tensor<1x4x?x8xi64>, %some: tensor<1x4x?xindex>, %n: index, %c: index) {
  // CHECK: sparsity.blocks %{{.*}}, %{{.*}} query [128] key [64] : tensor<?x16x?x?xi32>, tensor<?x16x?xi32>{{$}}
  %0 = sparsity.blocks %ids, %counts query [128] key [64] : tensor<?x16x?x?xi32>, tensor<?x16x?xi32>
  %video = sparsity.grid [%n, 32, 32]
  // CHECK: sparsity.blocks %{{.*}}, %{{.*}} query [4, 4, 4] key [2, 8, 8] group 4 in %{{.*}} : tensor<1x4x?x8xi64>, tensor<1x4x?xindex>, !sparsity.domain<3>{{$}}
  %1 = sparsity.blocks %shared, %some query [4, 4, 4] key [2, 8, 8] group 4 in %video
      : tensor<1x4x?x8xi64>, tensor<1x4x?xindex>, !sparsity.domain<3>
  // CHECK: sparsity.blocks %{{.*}} query [128] key [64] : tensor
  %2 = sparsity.blocks %ids, %counts query [128] key [64] group 1 : tensor<?x16x?x?xi32>, tensor<?x16x?xi32>
  // CHECK: sparsity.key_block(%[[C:.*]]) of [128] : <1>{{$}}
  %3 = sparsity.key_block (%c) of [128] : !sparsity.set<1>
  // CHECK: sparsity.key_block(%[[C]], %[[C]]) of [4, 8] : <1 to 2>{{$}}
  %4 = sparsity.key_block (%c, %c) of [4, 8] : !sparsity.set<1 to 2>
  return
}
