// RUN: lacuna-opt %s --lacuna-assign-tiles --lacuna-attn-to-tile --cse | FileCheck %s

// One attend over a sequence: the plan checks what shapes must satisfy and
// counts query tiles; the body has one loop over live key tiles. Query head h
// reads key head h div 4; scores are scaled by 1 / sqrt(64).
// CHECK-LABEL: tile.kernel @sequence_attend_0 attributes {inputs = 4 : i64, outputs = 2 : i64} plan {
// CHECK:         tile.require %{{.*}}, "expected query and key to share the batch, got {0} and {1}"
// CHECK:         tile.require %{{.*}}, "expected key and value to have the same length, got {0} and {1}"
// CHECK:         %[[TILES:.*]] = arith.divui
// CHECK:         tile.plan grid(%{{.*}}, %{{.*}}, %[[TILES]]) shapes(
// CHECK:       } body {
// CHECK:       ^bb0(%[[Q:.*]]: tensor<?x8x?x64xbf16>, %[[K:.*]]: tensor<?x2x?x64xbf16>, %[[V:.*]]: tensor<?x2x?x32xbf16>, %[[LEFT:.*]]: index, %[[O:.*]]: memref<?x8x?x32xbf16>, %[[LSE:.*]]: memref<?x8x?xf32>, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index):
// CHECK:         %[[SET:.*]] = sparsity.window left(%[[LEFT]]) right(0)
// CHECK:         %[[AT:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK:         %[[ROWS:.*]] = tile.load %[[Q]][%[[B]], %[[H]]] at(%[[AT]])
// CHECK:         %[[KV:.*]] = arith.divui %[[H]], %c4
// CHECK:         tile.begin
// CHECK:         tile.for_each live %[[SET]][%[[B]], %[[H]]] query(%[[AT]])
// CHECK:         ^bb0(%[[J:[a-z0-9]+]]: index
// CHECK:           tile.load %[[K]][%[[B]], %[[KV]]] at(%[[J]])
// CHECK:           tile.load %[[V]][%[[B]], %[[KV]]] at(%[[J]])
// CHECK:           tile.dot %[[ROWS]], %{{.*}} scale 1.250000e-01
// CHECK-NOT:       tile.score
// CHECK:           tile.mask %{{.*}} over %[[SET]]
// CHECK:           tile.softmax_step
// CHECK:         tile.finish
// CHECK:         tile.store %{{.*}}, %[[O]]
// CHECK:         tile.store %{{.*}}, %[[LSE]]
// The default of an argument survives, and nothing but the launch is left.
// CHECK-LABEL: func.func @sequence(
// CHECK-SAME:      %[[LEFT:[a-z0-9]+]]: index {lacuna.default = 255 : index}
// CHECK-NEXT:    %[[R:.*]]:2 = tile.launch @sequence_attend_0(%{{.*}}, %{{.*}}, %{{.*}}, %[[LEFT]])
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
func.func @sequence(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x32xbf16>,
                    %left: index {lacuna.default = 255 : index})
    -> (tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>) {
  %set = sparsity.window left(%left) right(0)
  %o, %lse = attn.attend %q, %k, %v over %set
      : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16>
      -> tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x32xbf16>, tensor<?x8x?xf32>
}

// Heads that are known at run time only: their ratio is, too, and the plan
// checks that it is a whole number. No lse, so no second output.
// CHECK-LABEL: tile.kernel @heads_attend_0 attributes {inputs = 4 : i64, outputs = 1 : i64}
// CHECK:         arith.remui
// CHECK:         tile.require %{{.*}}, "expected the number of query heads to be a multiple of the number of key heads, got {0} and {1}"
// CHECK:         tile.require %{{.*}}, "expected one sink per query head, got {0} sinks and {1} heads"
// CHECK:       } body {
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %{{.*}} : index
// CHECK:         arith.divui %{{.*}}, %[[GROUP]] : index
// CHECK:         %[[SINK:.*]] = tensor.extract
// CHECK:         tile.finish %{{.*}} sink %[[SINK]]
func.func @heads(%q: tensor<1x?x?x16xf32>, %k: tensor<1x?x?x16xf32>, %v: tensor<1x?x?x16xf32>,
                 %sinks: tensor<?xf32>) -> tensor<1x?x?x16xf32> {
  %set = sparsity.causal
  %o = attn.attend %q, %k, %v over %set sinks %sinks : tensor<?xf32>
      : tensor<1x?x?x16xf32>, tensor<1x?x?x16xf32>, tensor<1x?x?x16xf32> -> tensor<1x?x?x16xf32>
  return %o : tensor<1x?x?x16xf32>
}

// The score region and what it captures: scalars are computed again inside,
// tensors come as inputs. The query's positions are shifted by keys - queries.
// CHECK-LABEL: tile.kernel @score_attend_0
// CHECK:       } body {
// CHECK:         %[[TWICE:.*]] = arith.addf
// CHECK:           %[[SHIFT:.*]] = arith.subi
// CHECK:           tile.score %{{.*}} query(%{{.*}}) of(%{{.*}}) base %[[SHIFT]] box [64] key(
// CHECK:           ^bb0(%[[S:.*]]: f32, %[[B:.*]]: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:             arith.mulf %[[S]], %[[TWICE]] : f32
// CHECK:             tensor.extract %{{.*}}[%[[H]]]
// CHECK:             tile.yield
// Aligned at the start there is no shift.
// CHECK-LABEL: tile.kernel @score_attend_1
// CHECK:           tile.score %{{.*}} query(%{{.*}}) of(%{{.*}}) base %c0 box [64] key(
func.func @score(%q: tensor<1x4x?x16xf32>, %k: tensor<1x4x?x16xf32>, %bias: tensor<4xf32>, %c: f32)
    -> (tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>) {
  %set = sparsity.causal
  %twice = arith.addf %c, %c : f32
  %o = attn.attend %q, %k, %k over %set score (%s, %b, %h, %i, %j) {
    %t = arith.mulf %s, %twice : f32
    %e = tensor.extract %bias[%h] : tensor<4xf32>
    %u = arith.addf %t, %e : f32
    attn.yield %u : f32
  } : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  %p = attn.attend %q, %k, %k over %set from_start score (%s, %b, %h, %i, %j) {
    %t = arith.mulf %s, %c : f32
    attn.yield %t : f32
  } : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o, %p : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>
}

// A grid: sizes from its domain, whose product must be the number of tokens;
// one grid axis of the kernel per axis.
// CHECK-LABEL: tile.kernel @grid_attend_0
// CHECK:         tile.require %{{.*}}, "expected sizes of a domain to be at least 0, got {0}"
// CHECK:         tile.require %{{.*}}, "expected as many queries as the domain has tokens, got {1} queries and {0} tokens"
// CHECK:         tile.require %{{.*}}, "expected as many keys as the domain has tokens, got {1} keys and {0} tokens"
// CHECK:         tile.plan grid(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:       } body {
// CHECK:         tile.load %{{.*}} at(%{{.*}}, %{{.*}}) of(%{{.*}}, %c64) base %c0 box [8, 8]
// CHECK:         tile.for_each live %{{.*}} query(%{{.*}}, %{{.*}}) of(%{{.*}}, %c64) box [8, 8] key of(%{{.*}}, %c64) box [8, 8]
func.func @grid(%q: tensor<1x1x?x16xf32>, %n: index) -> tensor<1x1x?x16xf32> {
  %plane = sparsity.grid [%n, 64]
  %set = sparsity.radius [2, 2] in %plane : !sparsity.domain<2>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<2>
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// Two segments: a kernel each with a loop per key segment, whose tokens start
// at the sum of what stands before; the second launch fills the rest of the
// first one's output.
// CHECK-LABEL: tile.kernel @segments_attend_0_segment_0
// CHECK:       } body {
// CHECK:         tile.for_each live {{.*}} box [64] key of(%{{.*}}) box [64]
// CHECK:         tile.for_each live {{.*}} box [64] key of(%{{.*}}, %{{.*}}) box [8, 8]
// CHECK:         tile.store
// CHECK-LABEL: tile.kernel @segments_attend_0_segment_1
// CHECK:       } body {
// CHECK:       ^bb0(%{{.*}}: tensor<1x1x?x16xf32>, %[[TEXT:[a-z0-9]+]]: index
// CHECK:         tile.load %{{.*}} base %[[TEXT]] box [8, 8]
// CHECK:         tile.for_each live {{.*}} key of(%[[TEXT]]) box [64]
// CHECK:           tile.load {{.*}} of(%[[TEXT]]) base %c0 box [64]
// CHECK:         tile.for_each live {{.*}} key of(%{{.*}}, %{{.*}}) box [8, 8]
// CHECK:           tile.load {{.*}} base %[[TEXT]] box [8, 8]
// CHECK:         tile.store %{{.*}} base %[[TEXT]] box [8, 8]
// CHECK-LABEL: func.func @segments(
// CHECK:         %[[FIRST:.*]] = tile.launch @segments_attend_0_segment_0(
// CHECK:         %[[BOTH:.*]] = tile.launch @segments_attend_0_segment_1({{.*}}) into(%[[FIRST]] :
// CHECK:         return %[[BOTH]]
func.func @segments(%q: tensor<1x1x?x16xf32>, %n: index, %w: index) -> tensor<1x1x?x16xf32> {
  %text = sparsity.sequence [%n]
  %image = sparsity.grid [%w, %w]
  %tokens = sparsity.concat %text, %image : !sparsity.domain<1>, !sparsity.domain<2>
  %past = sparsity.causal
  %sees = sparsity.all : !sparsity.set<1 to 2>
  %reads = sparsity.all : !sparsity.set<2 to 1>
  %near = sparsity.radius [1, 1] in %image : !sparsity.domain<2>
  %set = sparsity.segments %tokens [[%past, %sees], [%reads, %near]] : !sparsity.domain<1, 2>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<1, 2>
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}

// A set that its formula cannot bound: a first kernel stores the class of each
// tile of the hull, and the loop of the second reads them. One entry serves all
// heads, for the predicate asks for none.
// CHECK-LABEL: tile.kernel @opaque_attend_0_classes
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         tile.plan grid(%{{.*}}, %[[ONE]], %{{.*}}) shapes(%{{.*}}, %[[ONE]], %{{.*}}, %{{.*}})
// CHECK:       } body {
// CHECK:         tile.for_each live
// CHECK-NOT:     classes
// CHECK:           %[[C:.*]] = tile.classify[
// CHECK:           memref.store %[[C]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?x?xi8>
// CHECK-LABEL: tile.kernel @opaque_attend_0 attributes
// CHECK:       } body {
// CHECK:         tile.for_each live {{.*}} classes(%{{.*}} : tensor<?x?x?x?xi8>)
// CHECK-LABEL: func.func @opaque(
// CHECK:         %[[CLASSES:.*]] = tile.launch @opaque_attend_0_classes(
// CHECK:         tile.launch @opaque_attend_0({{.*}}%[[CLASSES]])
func.func @opaque(%q: tensor<1x2x?x16xf32>, %colour: tensor<?xi32>) -> tensor<1x2x?x16xf32> {
  %set = sparsity.where (%b, %h, %i, %j) {
    %ci = tensor.extract %colour[%i] : tensor<?xi32>
    %cj = tensor.extract %colour[%j] : tensor<?xi32>
    %same = arith.cmpi eq, %ci, %cj : i32
    sparsity.yield %same : i1
  }
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// Near miss: this predicate is another one for each head, and for each batch.
// CHECK-LABEL: tile.kernel @opaque_heads_attend_0_classes
// CHECK-SAME:    attributes {inputs = 2
// CHECK-DAG:     %[[HEADS:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[BATCH:.*]] = tensor.dim %{{.*}} : tensor<?x2x?x16xf32>
// CHECK:         tile.plan grid(%[[BATCH]], %[[HEADS]], %{{.*}}) shapes(%[[BATCH]], %[[HEADS]], %{{.*}}, %{{.*}})
// CHECK:       } body {
func.func @opaque_heads(%q: tensor<?x2x?x16xf32>, %colour: tensor<?x?xi32>) -> tensor<?x2x?x16xf32> {
  %set = sparsity.where (%b, %h, %i, %j) {
    %ci = tensor.extract %colour[%b, %i] : tensor<?x?xi32>
    %cj = tensor.extract %colour[%h, %j] : tensor<?x?xi32>
    %same = arith.cmpi eq, %ci, %cj : i32
    sparsity.yield %same : i1
  }
  %o = attn.attend %q, %q, %q over %set
      : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x2x?x16xf32>
  return %o : tensor<?x2x?x16xf32>
}

// Later ops take earlier results as inputs; a merge of attends with different scales is a kernel over 64 rows.
// CHECK-LABEL: tile.kernel @chain_merge_2 attributes {inputs = 5 : i64, outputs = 2 : i64}
// CHECK:       } body {
// CHECK:         tile.load {{.*}} box [64] : tensor<1x1x?x16xf32> -> <64x16xf32>
// CHECK:         tile.load {{.*}} box [64] : tensor<1x1x?xf32> -> <64xf32>
// CHECK:         tile.merge(
// CHECK-LABEL: func.func @chain(
// CHECK:         %[[A:.*]]:2 = tile.launch @chain_attend_0(
// CHECK:         %[[B:.*]]:2 = tile.launch @chain_attend_1(
// CHECK:         %[[M:.*]]:2 = tile.launch @chain_merge_2(%{{.*}}, %[[A]]#0, %[[B]]#0, %[[A]]#1, %[[B]]#1)
// CHECK:         tile.launch @chain_attend_3(%{{.*}}, %[[M]]#0)
func.func @chain(%q: tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32> {
  %near = sparsity.window left(7) right(0)
  %far = sparsity.window right(-8)
  %o0, %l0 = attn.attend %q, %q, %q over %near scale 0.5
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o1, %l1 = attn.attend %q, %q, %q over %far
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o2, %l2 = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o3 = attn.attend %o2, %q, %q over %near
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o3 : tensor<1x1x?x16xf32>
}

// Attends of the same queries become one kernel whose loops carry one state from one to the next; each has its own keys.
// CHECK-LABEL: tile.kernel @fused_attend_0
// CHECK:       } body {
// CHECK:         %[[BEGIN:.*]], %{{.*}}, %{{.*}} = tile.begin
// CHECK:         %[[NEAR:.*]]:3 = tile.for_each live %{{.*}} init(%[[BEGIN]],
// CHECK:         %[[FAR:.*]]:3 = tile.for_each live %{{.*}} init(%[[NEAR]]#0, %[[NEAR]]#1, %[[NEAR]]#2
// CHECK:         tile.score
// CHECK:         tile.finish %[[FAR]]#0, %[[FAR]]#1, %[[FAR]]#2
// CHECK-NOT:   tile.kernel
// CHECK-LABEL: func.func @fused(
// CHECK-NEXT:    %[[O:.*]]:2 = tile.launch @fused_attend_0(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT:    return %[[O]]#0, %[[O]]#1
func.func @fused(%q: tensor<1x1x?x16xf32>, %k: tensor<1x1x?x16xf32>, %means: tensor<1x1x?x16xf32>)
    -> (tensor<1x1x?x16xf32>, tensor<1x1x?xf32>) {
  %near = sparsity.window left(7) right(0)
  %all = sparsity.all
  %o0, %l0 = attn.attend %q, %k, %k over %near
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o1, %l1 = attn.attend %q, %means, %means over %all scale 0.25 score (%s, %b, %h, %i, %j) {
    %log = arith.constant 2.0 : f32
    %t = arith.addf %s, %log : f32
    attn.yield %t : f32
  } : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o, %l = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  return %o, %l : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
}

// A part that is read elsewhere too is stored.
// CHECK-LABEL: func.func @read_twice(
// CHECK:         tile.launch @read_twice_attend_0(
// CHECK:         tile.launch @read_twice_attend_1(
// CHECK:         tile.launch @read_twice_merge_2(
func.func @read_twice(%q: tensor<1x1x?x16xf32>) -> (tensor<1x1x?x16xf32>, tensor<1x1x?xf32>) {
  %near = sparsity.window left(7) right(0)
  %far = sparsity.window right(-8)
  %o0, %l0 = attn.attend %q, %q, %q over %near
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o1, %l1 = attn.attend %q, %q, %q over %far
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o, %l = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  return %o, %l0 : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
}

// Blocks that are skipped: their marks are an output even where nobody asks for them, and are cleared first. A margin asks
// for ascending tiles; such attention is not fused with others.
// CHECK-LABEL: tile.kernel @skip_attend_0
// CHECK-SAME:    outputs = 3
// CHECK:         tile.unmark %[[TAKEN:.*]][{{.*}} tile 64 rows 64 : memref<?x?x?x?xi8>
// CHECK:         tile.for_each live {{.*}} ascending {
// CHECK:           %[[MASKED:.*]] = tile.mask
// CHECK:           %[[LEFT:.*]] = tile.skip %[[MASKED]], {{.*}} rows 64 key(%{{.*}}) margin 1.000000e+00 into %[[TAKEN]]
// CHECK:           tile.softmax_step %[[LEFT]],
// CHECK-LABEL: tile.kernel @skip_attend_1
// CHECK-NOT:     ascending
// CHECK:         tile.skip {{.*}} below %{{.*}} : tensor<1x1x?xf32> into
// CHECK:         tile.launch @skip_merge_2(
func.func @skip(%q: tensor<1x1x?x16xf32>, %t: tensor<1x1x?xf32>) -> (tensor<1x1x?x16xf32>, tensor<1x1x?xf32>) {
  %near = sparsity.window left(7) right(0)
  %far = sparsity.window right(-8)
  %o0, %l0 = attn.attend %q, %q, %q over %near skip query [64] key [64] margin 1.0
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o1, %l1 = attn.attend %q, %q, %q over %far skip query [64] key [64] below %t : tensor<1x1x?xf32>
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  %o, %l = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
  return %o, %l : tensor<1x1x?x16xf32>, tensor<1x1x?xf32>
}

// Near miss: entries of a list have an order of their own, so that under a margin the set is classified.
// CHECK-LABEL: tile.kernel @skip_list_attend_0_classes
// CHECK-LABEL: tile.kernel @skip_list_attend_0 attributes
// CHECK:         tile.for_each live {{.*}} classes({{.*}} ascending {
// CHECK-NOT:   tile.kernel @skip_list_attend_1_classes
// CHECK-LABEL: tile.kernel @skip_list_attend_1 attributes
func.func @skip_list(%q: tensor<1x1x?x16xf32>, %ids: tensor<1x1x?x?xi32>, %counts: tensor<1x1x?xi32>, %t: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>) {
  %set = sparsity.blocks %ids, %counts query [64] key [64] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %o = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  %p = attn.attend %q, %q, %q over %set skip query [64] key [64] below %t : tensor<1x1x?xf32>
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %o, %p : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>
}
