// RUN: lacuna-opt %s --lacuna-select-to-tile --canonicalize --cse | FileCheck %s

// A block of tokens per grid point; the last block may be shorter.
// CHECK-LABEL: tile.kernel @pick_summarize_0
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c2
// CHECK:         %[[MORE:.*]] = arith.addi %[[N]], %c63
// CHECK:         %[[BLOCKS:.*]] = arith.divui %[[MORE]], %c64
// CHECK:         tile.plan grid(%{{.*}}, %c2, %[[BLOCKS]]) shapes(%{{.*}}, %c2, %[[BLOCKS]], %c16)
// CHECK:         tile.summarize mean %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}) of(%{{.*}}) box [64] channels [0, 16] into

// A tile of whole blocks of scores per grid point. The set is a predicate of rows and columns, and
// the default scale that of the channels.
// CHECK-LABEL: tile.kernel @pick_score_2
// CHECK:         tile.require %{{.*}}, "expected query and key rows to share the batch, got {0} and {1}"
// CHECK:         tile.plan grid(%{{.*}}, %c2, %{{.*}}, %{{.*}}) shapes(
// CHECK:         tile.score_blocks dot %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) tile [128, 128] rows 2 by max columns 1 by sum group 2 scale 2.500000e-01 into %{{.*}} live {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:           arith.cmpi sge
// CHECK:           tile.yield
// CHECK-LABEL: tile.kernel @pick_restrict_3
// CHECK:         tile.restrict %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %{{.*}} force {

// The capacity is the number, as far as there are columns.
// CHECK-LABEL: tile.kernel @pick_choose_4
// CHECK:         tile.require %{{.*}}, "expected at most 2147483647 columns of scores, got {0}"
// CHECK:         %[[CAPACITY:.*]] = arith.minsi %{{.*}}, %c4
// CHECK:         tile.plan grid(%[[B:.*]], %c2, %[[R:.*]]) shapes(%[[B]], %c2, %[[R]], %[[CAPACITY]], %[[B]], %c2, %[[R]])
// CHECK:         tile.choose top_k(4) %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) scope row floor 1 into

// CHECK-LABEL: func.func @pick(
// CHECK:         %[[KEYS:.*]] = tile.launch @pick_summarize_0(%{{.*}}, %{{.*}})
// CHECK:         %[[QUERIES:.*]] = tile.launch @pick_summarize_1(%{{.*}}, %{{.*}})
// CHECK:         %[[SCORES:.*]] = tile.launch @pick_score_2(%{{.*}}, %{{.*}}, %[[QUERIES]], %[[KEYS]])
// CHECK:         %[[FORCED:.*]] = tile.launch @pick_restrict_3(%{{.*}}, %{{.*}}, %[[SCORES]])
// CHECK:         tile.launch @pick_choose_4(%{{.*}}, %{{.*}}, %[[FORCED]])
func.func @pick(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>) -> (tensor<?x2x?x?xi32>, tensor<?x2x?xi32>) {
  %km = select.summarize mean %k block [64] channels [0, 16] : tensor<?x2x?x32xf32> -> tensor<?x2x?x16xf32>
  %qm = select.summarize mean %q block [64] channels [0, 16] : tensor<?x4x?x32xf32> -> tensor<?x4x?x16xf32>
  %past = sparsity.causal
  %s = select.score dot %qm, %km over %past rows 2 by max group 2
      : tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x2x?x?xf32>
  %first = sparsity.prefix 1
  %t = select.restrict %s force %first : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(4) %t floor 1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  return %ids, %counts : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
}

// Cubes: an axis of the grid for each axis of the domain, whose tokens are counted at the launch.
// CHECK-LABEL: tile.kernel @cubes_summarize_0
// CHECK:         tile.require %{{.*}}, "expected sizes of a domain to be at least 0, got {0}"
// CHECK:         tile.require %{{.*}}, "expected as many tokens as the domain has, got {1} tokens in a domain of {0}"
// CHECK:         tile.summarize first %{{.*}}[%{{.*}}, %{{.*}}] at(%{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) box [4, 8] channels [0, 32] into
func.func @cubes(%k: tensor<1x2x?x32xf16>, %h: index, %w: index) -> tensor<1x2x?x32xf16> {
  %plane = sparsity.grid [%h, %w]
  %m = select.summarize first %k block [4, 8] in %plane
      : tensor<1x2x?x32xf16>, !sparsity.domain<2> -> tensor<1x2x?x32xf16>
  return %m : tensor<1x2x?x32xf16>
}

// A log-sum-exp is a score whose one block are all keys. What a head or a batch entry shares is one grid
// point.
// CHECK-LABEL: tile.kernel @rest_fold_0
// CHECK:         tile.plan grid(%c1, %c4, %[[ROWS:.*]]) shapes(%c1, %c4, %[[ROWS]], %c64)
// CHECK:         tile.fold {{.*}} by 2 reversed into
// CHECK-LABEL: tile.kernel @rest_log_sum_exp_1
// CHECK:         tile.score_blocks dot {{.*}} rows 1 by sum columns 0 by log_sum_exp group 1
// CHECK-LABEL: tile.kernel @rest_margin_2
// CHECK:         tile.margin(4)
// CHECK-LABEL: tile.kernel @rest_gate_3
// CHECK:         tile.plan grid(%c1) shapes(
// CHECK:         tile.gate(5.000000e-01) %{{.*}}[%{{.*}}] low 8 high 4 into
// CHECK-LABEL: tile.kernel @rest_choose_4
// CHECK:         tile.plan grid(%c1, %c4) shapes(
// CHECK:         tile.choose share(2.500000e-01) %{{.*}} at(%{{.*}}, %{{.*}}) scope head into
// CHECK-LABEL: tile.kernel @rest_sample_5
// CHECK:         tile.sample(4) {{.*}} seed %{{.*}} into
func.func @rest(%q: tensor<1x4x?x32xf32>, %s: tensor<1x4x?x?xf32>, %seed: index)
    -> (tensor<1x4x?x64xf32>, tensor<1x4x?xf32>, tensor<1x4x?xi32>, tensor<1x4x?x?xi32>, tensor<1x4x?x?xi32>) {
  %f = select.fold %q by 2 reversed : tensor<1x4x?x32xf32> -> tensor<1x4x?x64xf32>
  %l = select.log_sum_exp %q, %q : tensor<1x4x?x32xf32>, tensor<1x4x?x32xf32> -> tensor<1x4x?xf32>
  %m = select.margin(4) %s : tensor<1x4x?x?xf32> -> tensor<1x4x?xf32>
  %k = select.gate(0.5) %m low 8 high 4 : tensor<1x4x?xf32> -> tensor<1x4x?xi32>
  %best:2 = select.choose share(0.25) %s scope head
      : tensor<1x4x?x?xf32> -> tensor<1x4x?x?xi32>, tensor<1x4x?xi32>
  %ids, %counts, %weights = select.sample(4) %s seed %seed
      : tensor<1x4x?x?xf32> -> tensor<1x4x?x?xi32>, tensor<1x4x?xi32>, tensor<1x4x?x?xf32>
  return %f, %l, %k, %best#0, %ids : tensor<1x4x?x64xf32>, tensor<1x4x?xf32>, tensor<1x4x?xi32>,
      tensor<1x4x?x?xi32>, tensor<1x4x?x?xi32>
}

// A function without such ops is as it was.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    return
func.func @nothing(%c: i1) {
  return
}

// Blocks that appended tokens touch: the grid has as many, and the first of them starts at a multiple of the block.
// CHECK-LABEL: tile.kernel @appended_summarize_0
// CHECK:         %[[ALL:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         tile.require %{{.*}}, "expected summaries from a token of at least 0, got {0}"
// CHECK:         %[[BEFORE:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         %[[SOME:.*]] = arith.subi %[[ALL]], %[[BEFORE]]
// CHECK:         %[[ROWS:.*]] = arith.maxsi %[[SOME]], %c0
// CHECK:         tile.plan grid(%{{.*}}, %c2, %[[ROWS]]) shapes(%{{.*}}, %c2, %[[ROWS]], %c64)
// CHECK:       ^bb0({{.*}}%[[R:[a-z0-9]+]]: index):
// CHECK-DAG:     %[[LOCAL:.*]] = arith.muli %[[R]], %c8
// CHECK-DAG:     %[[FIRST:.*]] = arith.muli %{{.*}}, %c8
// CHECK:         %[[AT:.*]] = arith.addi %[[LOCAL]], %[[FIRST]]
// CHECK:         tile.summarize mean %{{.*}} at(%[[AT]]) {{.*}} into %{{.*}}[%[[R]]]
func.func @appended(%k: tensor<?x2x?x64xf16>, %n: index) -> tensor<?x2x?x64xf16> {
  %0 = select.summarize mean %k block [8] from(%n) whole : tensor<?x2x?x64xf16> -> tensor<?x2x?x64xf16>
  return %0 : tensor<?x2x?x64xf16>
}
