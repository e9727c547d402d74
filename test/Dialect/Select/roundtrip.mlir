// RUN: lacuna-opt %s | lacuna-opt | FileCheck %s
// RUN: lacuna-opt %s --mlir-print-op-generic | lacuna-opt | FileCheck %s

// Every kind of summary: a row per block, or one number.
// CHECK-LABEL: func.func @summaries(
// CHECK:         select.summarize mean %{{.*}} block [128] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
// CHECK:         select.summarize sum %{{.*}} block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xf32>
// CHECK:         select.summarize min
// CHECK:         select.summarize max
// CHECK:         select.summarize variance %{{.*}} block [64] channels [32, 96] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x64xf32>
// CHECK:         select.summarize first
// CHECK:         select.summarize radius %{{.*}} block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x1xf32>
// CHECK:         select.summarize norm
// CHECK:         select.summarize similarity
// CHECK:         select.summarize count
func.func @summaries(%k: tensor<?x8x?x128xbf16>) {
  %0 = select.summarize mean %k block [128] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
  %1 = select.summarize sum %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xf32>
  %2 = select.summarize min %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
  %3 = select.summarize max %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
  %4 = select.summarize variance %k block [64] channels [32, 96]
      : tensor<?x8x?x128xbf16> -> tensor<?x8x?x64xf32>
  %5 = select.summarize first %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x128xbf16>
  %6 = select.summarize radius %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x1xf32>
  %7 = select.summarize norm %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x1xf32>
  %8 = select.summarize similarity %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x1xf32>
  %9 = select.summarize count %k block [64] : tensor<?x8x?x128xbf16> -> tensor<?x8x?x1xf32>
  return
}

// Blocks of a grid name it behind the tokens' type, as lists do.
// CHECK-LABEL: func.func @cubes(
// CHECK:         select.summarize mean %{{.*}} block [4, 4, 4] in %{{.*}} : tensor<1x2x?x64xf32>, !sparsity.domain<3> -> tensor<1x2x?x64xf32>
func.func @cubes(%k: tensor<1x2x?x64xf32>, %t: index, %h: index, %w: index) -> tensor<1x2x?x64xf32> {
  %video = sparsity.grid [%t, %h, %w]
  %m = select.summarize mean %k block [4, 4, 4] in %video
      : tensor<1x2x?x64xf32>, !sparsity.domain<3> -> tensor<1x2x?x64xf32>
  return %m : tensor<1x2x?x64xf32>
}

// CHECK-LABEL: func.func @folds(
// CHECK:         select.fold %{{.*}} by 16 : tensor<1x2x64x8xf16> -> tensor<1x2x4x128xf16>
// CHECK:         select.fold %{{.*}} by 16 reversed : tensor<1x2x64x8xf16> -> tensor<1x2x?x128xf16>
func.func @folds(%q: tensor<1x2x64x8xf16>) {
  %0 = select.fold %q by 16 : tensor<1x2x64x8xf16> -> tensor<1x2x4x128xf16>
  %1 = select.fold %q by 16 reversed : tensor<1x2x64x8xf16> -> tensor<1x2x?x128xf16>
  return
}

// The shortest form, whole numbers as numbers, and every clause in the order of the grammar.
// CHECK-LABEL: func.func @scores(
// CHECK:         select.score dot %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
// CHECK:         select.score dot %{{.*}}, %{{.*}} over %{{[0-9]+}} : tensor<1x8x?x64xf32>,
// CHECK:         select.score dot %{{.*}}, %{{.*}} over %{{[0-9]+}} scale 2 : tensor
// CHECK:         select.score ball %{{.*}}, %{{.*}} with %{{.*}} : tensor<1x2x?x1xf32> over %{{[0-9]+}} scale 1.250000e-01
// CHECK-SAME:      lse %{{.*}} : tensor<1x8x?xf32> weights %{{.*}} : tensor<1x8x?xf32>
// CHECK-SAME:      rows 128 by max columns 4 by log_sum_exp group 4 from_start function (%[[S:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK:           math.tanh %[[S]] : f32
// CHECK:           select.yield %{{.*}} : f32
// CHECK:         } {note = "kept"} : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x?xf32>
func.func @scores(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>, %c: tensor<1x2x?x1xf32>,
                  %lse: tensor<1x8x?xf32>) {
  %past = sparsity.causal
  %0 = select.score dot %q, %k : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
  // The set's type may be spelled.
  %1 = select.score dot %q, %k over %past : !sparsity.set<1>
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
  %2 = select.score dot %q, %k over %past scale 2
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
  %3 = select.score ball %q, %k with %c : tensor<1x2x?x1xf32> over %past scale 0.125
      lse %lse : tensor<1x8x?xf32> weights %lse : tensor<1x8x?xf32>
      rows 128 by max columns 4 by log_sum_exp group 4 from_start
      function (%s, %b, %h, %i, %j) {
    %t = math.tanh %s : f32
    select.yield %t : f32
  } {note = "kept"} : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x?xf32>
  return
}

// Rows of a group are reduced as said, also when each row is a block; a sum of one row need not be
// spelled.
// CHECK-LABEL: func.func @blocks_of_one(
// CHECK:         select.score dot %{{.*}}, %{{.*}} rows 1 by max group 4 :
// CHECK:         select.score dot %{{[a-z0-9]+}}, %{{[a-z0-9]+}} group 4 :
func.func @blocks_of_one(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>) {
  %0 = select.score dot %q, %k rows 1 by max group 4
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x?xf32>
  %1 = select.score dot %q, %k rows 1 by sum columns 1 by sum group 4
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x?xf32>
  return
}

// CHECK-LABEL: func.func @companions(
// CHECK:         select.score box %{{.*}}, %{{.*}} with %{{.*}} : tensor<1x2x?x64xf32> :
// CHECK:         select.score quadratic %{{.*}}, %{{.*}} with %{{.*}} : tensor<1x2x?x64xf32> :
func.func @companions(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>) {
  %0 = select.score box %q, %k with %k : tensor<1x2x?x64xf32>
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
  %1 = select.score quadratic %q, %k with %k : tensor<1x2x?x64xf32>
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// CHECK-LABEL: func.func @lse(
// CHECK:         select.log_sum_exp %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?xf32>
// CHECK:         select.log_sum_exp %{{.*}}, %{{.*}} over %{{[0-9]+}} scale 5.000000e-01 :
func.func @lse(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>) {
  %past = sparsity.causal
  %0 = select.log_sum_exp %q, %k : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?xf32>
  %1 = select.log_sum_exp %q, %k over %past scale 0.5
      : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?xf32>
  return
}

// CHECK-LABEL: func.func @restrict(
// CHECK:         select.restrict %{{.*}} within %{{[0-9]+}} : tensor<?x8x?x?xf32>
// CHECK:         select.restrict %{{.*}} force %{{[0-9]+}} : tensor<?x8x?x?xf32>
// CHECK:         select.restrict %{{.*}} within %{{[0-9]+}} force %{{[0-9]+}} : tensor<?x8x?x?xf32>
func.func @restrict(%s: tensor<?x8x?x?xf32>) {
  %past = sparsity.causal
  %sink = sparsity.prefix 1
  %0 = select.restrict %s within %past : tensor<?x8x?x?xf32>
  %1 = select.restrict %s force %sink : tensor<?x8x?x?xf32>
  %2 = select.restrict %s within %past : !sparsity.set<1> force %sink : !sparsity.set<1> : tensor<?x8x?x?xf32>
  return
}

// Constants of every rule, and numbers of every type.
// CHECK-LABEL: func.func @choices(
// CHECK:         select.choose top_k(16) %{{.*}} : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
// CHECK:         select.choose share(2.500000e-01) %{{.*}} floor 2 cap 9 scope head :
// CHECK:         select.choose top_p(9.000000e-01) %{{.*}} floor 4 :
// CHECK:         select.choose above(-3) %{{.*}} cap 256 :
// CHECK:         select.choose near_max(-2.300000e+00) %{{[a-z0-9]+}} :
// CHECK:         select.choose deviation(1) %{{[a-z0-9]+}} :
// CHECK:         select.choose top_k(%{{[a-z0-9]+}}) %{{.*}} scope batch :
// CHECK:         select.choose top_k(%{{[a-z0-9]+}} : tensor<1x8x?xi32>) %{{[a-z0-9]+}} :
// CHECK:         select.choose top_p(%{{[a-z0-9]+}} : f32) %{{[a-z0-9]+}} :
func.func @choices(%s: tensor<1x8x?x?xf32>, %k: index, %ks: tensor<1x8x?xi32>, %p: f32) {
  %0:2 = select.choose top_k(16) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %1:2 = select.choose share(0.25) %s floor 2 cap 9 scope head
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %2:2 = select.choose top_p(0.9) %s floor 4 : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %3:2 = select.choose above(-3) %s cap 256 : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %4:2 = select.choose near_max(-2.3) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %5:2 = select.choose deviation(1.0) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %6:2 = select.choose top_k(%k) %s scope batch
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %7:2 = select.choose top_k(%ks : tensor<1x8x?xi32>) %s
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %8:2 = select.choose top_p(%p : f32) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return
}

// CHECK-LABEL: func.func @others(
// CHECK:         select.sample(16) %{{.*}} seed %{{.*}} : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>, tensor<1x8x?x?xf32>
// CHECK:         select.margin(32) %{{.*}} : tensor<1x8x?x?xf32> -> tensor<1x8x?xf32>
// CHECK:         select.gate(4.000000e-01) %{{.*}} low 64 high 32 : tensor<1x8x?xf32> -> tensor<1x8x?xi32>
func.func @others(%s: tensor<1x8x?x?xf32>, %seed: index) {
  %0:3 = select.sample(16) %s seed %seed
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>, tensor<1x8x?x?xf32>
  %m = select.margin(32) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?xf32>
  %k = select.gate(0.4) %m low 64 high 32 : tensor<1x8x?xf32> -> tensor<1x8x?xi32>
  return
}

// CHECK-LABEL: func.func @appended(
// CHECK:         select.summarize mean %{{.*}} block [128] from(%{{.*}}) : tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
// CHECK:         select.summarize mean %{{.*}} block [128] channels [0, 32] from(%{{.*}}) whole : tensor<1x8x?x64xf16> -> tensor<1x8x?x32xf16>
// CHECK:         select.summarize max %{{.*}} block [128] whole : tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
func.func @appended(%k: tensor<1x8x?x64xf16>, %n: index) {
  %0 = select.summarize mean %k block [128] from(%n) : tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  %1 = select.summarize mean %k block [128] channels [0, 32] from(%n) whole : tensor<1x8x?x64xf16> -> tensor<1x8x?x32xf16>
  %2 = select.summarize max %k block [128] whole : tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return
}
