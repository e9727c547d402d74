// RUN: lacuna-opt %s --canonicalize | FileCheck %s

// Blocks of one token, and folds of one.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME:      %[[K:[a-z0-9]+]]: tensor<?x8x?x64xf16>)
// CHECK-NEXT:    return %[[K]], %[[K]], %[[K]]
func.func @tokens(%k: tensor<?x8x?x64xf16>)
    -> (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) {
  %0 = select.summarize mean %k block [1] : tensor<?x8x?x64xf16> -> tensor<?x8x?x64xf16>
  %1 = select.summarize max %k block [1] channels [0, 64] : tensor<?x8x?x64xf16> -> tensor<?x8x?x64xf16>
  %2 = select.fold %k by 1 reversed : tensor<?x8x?x64xf16> -> tensor<?x8x?x64xf16>
  return %0, %1, %2 : tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>
}

// Another element type, the distance of a token to itself, two tokens and half of the channels are
// something else.
// CHECK-LABEL: func.func @no_tokens(
// CHECK:         select.summarize mean %{{.*}} block [1] : tensor<1x1x9x64xf16> -> tensor<1x1x9x64xf32>
// CHECK:         select.summarize variance %{{.*}} block [1] : tensor<1x1x9x64xf16> -> tensor<1x1x9x64xf16>
// CHECK:         select.summarize mean %{{.*}} block [2] : tensor<1x1x9x64xf16> -> tensor<1x1x5x64xf16>
// CHECK:         select.summarize mean %{{.*}} block [1] channels [32, 64] : tensor<1x1x9x64xf16> -> tensor<1x1x9x32xf16>
// CHECK:         select.fold %{{.*}} by 1 : tensor<1x1x9x64xf16> -> tensor<1x1x?x64xf16>
func.func @no_tokens(%k: tensor<1x1x9x64xf16>)
    -> (tensor<1x1x9x64xf32>, tensor<1x1x9x64xf16>, tensor<1x1x5x64xf16>, tensor<1x1x9x32xf16>,
        tensor<1x1x?x64xf16>) {
  %0 = select.summarize mean %k block [1] : tensor<1x1x9x64xf16> -> tensor<1x1x9x64xf32>
  %1 = select.summarize variance %k block [1] : tensor<1x1x9x64xf16> -> tensor<1x1x9x64xf16>
  %2 = select.summarize mean %k block [2] : tensor<1x1x9x64xf16> -> tensor<1x1x5x64xf16>
  %3 = select.summarize mean %k block [1] channels [32, 64] : tensor<1x1x9x64xf16> -> tensor<1x1x9x32xf16>
  %4 = select.fold %k by 1 : tensor<1x1x9x64xf16> -> tensor<1x1x?x64xf16>
  return %0, %1, %2, %3, %4 : tensor<1x1x9x64xf32>, tensor<1x1x9x64xf16>, tensor<1x1x5x64xf16>,
      tensor<1x1x9x32xf16>, tensor<1x1x?x64xf16>
}

// All channels are no restriction.
// CHECK-LABEL: func.func @all_channels(
// CHECK:         select.summarize norm %{{.*}} block [8] : tensor
func.func @all_channels(%k: tensor<?x8x?x64xf16>) -> tensor<?x8x?x1xf32> {
  %0 = select.summarize norm %k block [8] channels [0, 64] : tensor<?x8x?x64xf16> -> tensor<?x8x?x1xf32>
  return %0 : tensor<?x8x?x1xf32>
}

// Sets of all pairs and functions that return what they got go.
// CHECK-LABEL: func.func @plain_scores(
// CHECK-NOT:     sparsity.all
// CHECK:         select.score dot %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor
// CHECK-NEXT:    select.log_sum_exp %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor
func.func @plain_scores(%q: tensor<1x8x?x64xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?xf32>) {
  %all = sparsity.all
  %0 = select.score dot %q, %q over %all function (%s, %b, %h, %i, %j) {
    select.yield %s : f32
  } : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  %1 = select.log_sum_exp %q, %q over %all : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?xf32>
  return %0, %1 : tensor<1x8x?x?xf32>, tensor<1x8x?xf32>
}

// Scores that nobody reads are not computed, nor what they are made from.
// CHECK-LABEL: func.func @unread(
// CHECK-NEXT:    return
func.func @unread(%q: tensor<1x8x?x64xf32>) {
  %m = select.summarize mean %q block [8] : tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  %0 = select.score dot %q, %m : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return
}

// A captured number instead of the score, and a set with holes, stay.
// CHECK-LABEL: func.func @other_scores(
// CHECK:         select.score dot {{.*}} over %{{.*}} function (
func.func @other_scores(%q: tensor<1x8x?x64xf32>, %c: f32) -> tensor<1x8x?x?xf32> {
  %past = sparsity.causal
  %0 = select.score dot %q, %q over %past function (%s, %b, %h, %i, %j) {
    select.yield %c : f32
  } : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  return %0 : tensor<1x8x?x?xf32>
}

// Nothing shut out and nothing forced.
// CHECK-LABEL: func.func @idle_restriction(
// CHECK-SAME:      %[[S:[a-z0-9]+]]: tensor<1x8x?x?xf32>)
// CHECK-NEXT:    return %[[S]], %[[S]]
func.func @idle_restriction(%s: tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>) {
  %all = sparsity.all
  %none = sparsity.none
  %0 = select.restrict %s within %all : tensor<1x8x?x?xf32>
  %1 = select.restrict %s within %all force %none : tensor<1x8x?x?xf32>
  return %0, %1 : tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>
}

// One of two sets that changes nothing.
// CHECK-LABEL: func.func @idle_sets(
// CHECK:         select.restrict %{{[a-z0-9]+}} force %{{[a-z0-9]+}} : tensor
// CHECK:         select.restrict %{{[a-z0-9]+}} within %{{[a-z0-9]+}} : tensor
func.func @idle_sets(%s: tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>) {
  %all = sparsity.all
  %none = sparsity.none
  %some = sparsity.prefix 2
  %0 = select.restrict %s within %all force %some : tensor<1x8x?x?xf32>
  %1 = select.restrict %s within %some force %none : tensor<1x8x?x?xf32>
  return %0, %1 : tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>
}

// Two restrictions are one. What the second forces, the first cannot shut out.
// CHECK-LABEL: func.func @two_restrictions(
// CHECK-SAME:      %[[S:[a-z0-9]+]]: tensor<1x8x?x?xf32>)
// CHECK-DAG:     %[[PAST:.*]] = sparsity.causal
// CHECK-DAG:     %[[SINK:.*]] = sparsity.prefix 2
// CHECK-DAG:     %[[NEAR:.*]] = sparsity.window left(9)
// CHECK-DAG:     %[[LAST:.*]] = sparsity.suffix 1
// CHECK:         %[[BACK:.*]] = sparsity.union %[[PAST]], %[[LAST]]
// CHECK:         %[[WITHIN:.*]] = sparsity.intersect %[[BACK]], %[[NEAR]]
// CHECK:         %[[FORCE:.*]] = sparsity.union %[[SINK]], %[[LAST]]
// CHECK:         %[[R:.*]] = select.restrict %[[S]] within %[[WITHIN]] force %[[FORCE]]
// CHECK:         return %[[R]]
func.func @two_restrictions(%s: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %past = sparsity.causal
  %sink = sparsity.prefix 2
  %near = sparsity.window left(9)
  %last = sparsity.suffix 1
  %0 = select.restrict %s within %past force %sink : tensor<1x8x?x?xf32>
  %1 = select.restrict %0 within %near force %last : tensor<1x8x?x?xf32>
  return %1 : tensor<1x8x?x?xf32>
}

// With one set each.
// CHECK-LABEL: func.func @force_then_within(
// CHECK:         select.restrict %arg0 within %{{[a-z0-9]+}} force %{{[a-z0-9]+}} : tensor
// CHECK-NEXT:    return
func.func @force_then_within(%s: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %past = sparsity.causal
  %sink = sparsity.prefix 2
  %0 = select.restrict %s force %sink : tensor<1x8x?x?xf32>
  %1 = select.restrict %0 within %past : tensor<1x8x?x?xf32>
  return %1 : tensor<1x8x?x?xf32>
}

// Scores that somebody else reads too are made once.
// CHECK-LABEL: func.func @shared_restriction(
// CHECK:         %[[T:.*]] = select.restrict %arg0 within
// CHECK:         %[[U:.*]] = select.restrict %[[T]] force
// CHECK:         return %[[T]], %[[U]]
func.func @shared_restriction(%s: tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>) {
  %past = sparsity.causal
  %sink = sparsity.prefix 2
  %0 = select.restrict %s within %past : tensor<1x8x?x?xf32>
  %1 = select.restrict %0 force %sink : tensor<1x8x?x?xf32>
  return %0, %1 : tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>
}

// Bounds that bound nothing.
// CHECK-LABEL: func.func @idle_bounds(
// CHECK:         select.choose top_p(9.000000e-01) %{{[a-z0-9]+}} : tensor
// CHECK:         select.choose top_p(9.000000e-01) %{{[a-z0-9]+}} floor 1 : tensor
func.func @idle_bounds(%s: tensor<1x8x?x?xf32>)
    -> (tensor<1x8x?x?xi32>, tensor<1x8x?xi32>, tensor<1x8x?x?xi32>, tensor<1x8x?xi32>) {
  %0:2 = select.choose top_p(0.9) %s floor 0 : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %1:2 = select.choose top_p(0.9) %s floor 1 cap 2147483647
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  return %0#0, %0#1, %1#0, %1#1
      : tensor<1x8x?x?xi32>, tensor<1x8x?xi32>, tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
}

// Lists without entries are the empty set; the scores behind them are not computed.
// CHECK-LABEL: func.func @empty_lists(
// CHECK:         %[[NONE:.*]] = sparsity.none
// CHECK-NOT:     select.
// CHECK:         attn.attend {{.*}} over %[[NONE]] :
func.func @empty_lists(%q: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %m = select.summarize mean %q block [128] : tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  %s = select.score dot %m, %m : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x?xf32>
  %ids, %counts = select.choose top_k(0) %s : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %set = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// A floor fills them.
// CHECK-LABEL: func.func @floor_of_one(
// CHECK:         sparsity.blocks
func.func @floor_of_one(%q: tensor<1x8x?x64xf32>, %s: tensor<1x8x?x?xf32>) -> tensor<1x8x?x64xf32> {
  %ids, %counts = select.choose top_k(0) %s floor 1
      : tensor<1x8x?x?xf32> -> tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %set = sparsity.blocks %ids, %counts query [128] key [128] : tensor<1x8x?x?xi32>, tensor<1x8x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// Single tokens from some token on are not all tokens.
// CHECK-LABEL: func.func @appended_tokens(
// CHECK:         select.summarize mean %{{.*}} block [1] from(
func.func @appended_tokens(%k: tensor<1x8x?x64xf16>, %n: index) -> tensor<1x8x?x64xf16> {
  %0 = select.summarize mean %k block [1] from(%n) : tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %0 : tensor<1x8x?x64xf16>
}
