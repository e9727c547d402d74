// RUN: lacuna-opt %s --lacuna-expand-hierarchies --canonicalize --cse | FileCheck %s

// Means of level 1 are means of those of level 0; whole nodes add a constant. Queries that stand at keys are promised.
// CHECK-DAG: #[[NEXT:.*]] = affine_set<(d0, d1)[s0] : (((d0 + s0) floordiv 128) * 32 - d1 - 1 >= 0, d1 - ((d0 + s0) floordiv 256) * 64 >= 0)>
// CHECK-DAG: #[[TOP:.*]] = affine_set<(d0, d1)[s0] : (((d0 + s0) floordiv 256) * 32 - d1 - 1 >= 0)>
// CHECK-DAG: #[[BEFORE:.*]] = affine_set<(d0, d1)[s0] : (((d0 + s0) floordiv 64) * 16 - d1 - 17 >= 0, d1 - ((d0 + s0) floordiv 256) * 64 + 64 >= 0)>
// CHECK-DAG: #[[AFTER:.*]] = affine_set<(d0, d1)[s0] : (d1 - ((d0 + s0) floordiv 64) * 16 - 32 >= 0, ((d0 + s0) floordiv 256) * 64 - d1 + 127 >= 0)>
// CHECK-DAG: #[[FIRST:.*]] = affine_set<(d0, d1)[s0] : (((d0 + s0) floordiv 256) * 16 - d1 - 17 >= 0)>
// CHECK-DAG: #[[LAST_ONES:.*]] = affine_set<(d0, d1)[s0] : (d1 - ((d0 + s0) floordiv 256) * 16 - 32 >= 0)>
// CHECK-DAG: #[[KEYS:.*]] = affine_set<(d0, d1)[s0] : (((d0 + s0) floordiv 64) * 64 - d1 - 1 >= 0)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_set<(d0, d1)[s0, s1] : (d1 - ((d0 + s1) floordiv 64) * 64 >= 0, d0 + s0 - d1 >= 0)>
// CHECK-DAG: #[[BOTH:.*]] = affine_set<(d0, d1)[s0, s1] : (d1 - ((d0 + s0) floordiv 64) * 64 + 64 >= 0, ((d0 + s1) floordiv 64) * 64 - d1 + 127 >= 0)>
// CHECK-LABEL: func.func @fenwick(
// CHECK-SAME:      %[[Q:[a-z0-9]+]]: tensor<1x4x?x64xbf16>, %[[K:[a-z0-9]+]]: tensor<1x2x?x64xbf16>, %[[V:[a-z0-9]+]]: tensor<1x2x?x32xbf16>)
// CHECK-DAG:     %[[LOG8:.*]] = arith.constant 2.07944155 : f32
// CHECK-DAG:     %[[LOG4:.*]] = arith.constant 1.38629436 : f32
// CHECK:         %[[OWN:.*]] = sparsity.dyadic fenwick base 128 levels 2 only [-1, -1] from_start
// CHECK-NEXT:    %[[O:.*]], %[[L:.*]] = attn.attend %[[Q]], %[[K]], %[[V]] over %[[OWN]] scale 5.000000e-01 from_start {attn.hierarchy_part = array<i64: -1, 128, 128, 0>, attn.queries_within_keys}
// CHECK:         %[[K0:.*]] = select.summarize mean %[[K]] block [4]
// CHECK:         %[[V0:.*]] = select.summarize mean %[[V]] block [4]
// CHECK:         %[[SET0:.*]] = sparsity.affine #[[NEXT]] [0] from_start within_keys
// CHECK:         %[[O0:.*]], %[[L0:.*]] = attn.attend %[[Q]], %[[K0]], %[[V0]] over %[[SET0]] scale 5.000000e-01 from_start score (%[[S0:[a-z0-9]+]],
// CHECK:           arith.addf %[[S0]], %[[LOG4]]
// CHECK:         %[[K1:.*]] = select.summarize mean %[[K0]] block [2]
// CHECK:         %[[V1:.*]] = select.summarize mean %[[V0]] block [2]
// CHECK:         %[[SET1:.*]] = sparsity.affine #[[TOP]] [0] from_start within_keys
// CHECK:         %[[O1:.*]], %[[L1:.*]] = attn.attend %[[Q]], %[[K1]], %[[V1]] over %[[SET1]] scale 5.000000e-01 from_start score (%[[S1:[a-z0-9]+]],
// CHECK:           arith.addf %[[S1]], %[[LOG8]]
// CHECK:         } {attn.hierarchy_part = array<i64: 1, 256, 32, -1>} :
// CHECK:         attn.merge (%[[O]], %[[L]]), (%[[O0]], %[[L0]]), (%[[O1]], %[[L1]])
func.func @fenwick(%q: tensor<1x4x?x64xbf16>, %k: tensor<1x2x?x64xbf16>, %v: tensor<1x2x?x32xbf16>)
    -> tensor<1x4x?x32xbf16> {
  %set = sparsity.dyadic fenwick base 128 levels 2 columns 32 from_start
  %o = attn.attend %q, %k, %v over %set scale 0.5
      : tensor<1x4x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x32xbf16> -> tensor<1x4x?x32xbf16>
  return %o : tensor<1x4x?x32xbf16>
}

// From both sides the last node may be cut short: each level is made from keys, and the last column after a query counts
// those that it has. Positions are aligned to the end, so that bounds are numbers of a run: three parts make a kernel.
// CHECK-LABEL: func.func @two_sided(
// CHECK-SAME:      %[[Q:[a-z0-9]+]]: tensor<1x2x?x64xf32>, %[[K:[a-z0-9]+]]: tensor<1x2x?x64xf32>)
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[LOG4:.*]] = arith.constant 1.38629436 : f32
// CHECK-DAG:     %[[LOG16:.*]] = arith.constant 2.77258873 : f32
// CHECK:         %[[KEYS_THERE:.*]] = tensor.dim %[[K]],
// CHECK:         %[[QUERIES:.*]] = tensor.dim %[[Q]],
// CHECK:         %[[SHIFT:.*]] = arith.subi %[[KEYS_THERE]], %[[QUERIES]]
// CHECK:         %[[OWN:.*]] = sparsity.dyadic distance base 64 fanout 4 levels 2 only [-1, -1]{{$}}
// CHECK-NEXT:    %[[O:.*]], %[[L:.*]] = attn.attend %[[Q]], %[[K]], %[[K]] over %[[OWN]] from_start {attn.hierarchy_part = array<i64: -1, 64, 64, 0>} :
// CHECK:         %[[K0:.*]] = select.summarize mean %[[K]] block [4]
// CHECK:         %[[B0:.*]] = sparsity.affine #[[BEFORE]] [%[[SHIFT]]] from_start within_keys
// CHECK:         %[[OB0:.*]], %[[LB0:.*]] = attn.attend %[[Q]], %[[K0]], %[[K0]] over %[[B0]] from_start score (%[[S:[a-z0-9]+]],
// CHECK:           arith.addf %[[S]], %[[LOG4]]
// CHECK:         } {attn.hierarchy_part = array<i64: 0, 64, 16, -1>} :
// CHECK:         %[[A0:.*]] = sparsity.affine #[[AFTER]] [%[[SHIFT]]] from_start{{$}}
// CHECK:         %[[COUNT:.*]] = arith.ceildivsi %[[KEYS_THERE]], %[[C4]]
// CHECK:         %[[LAST:.*]] = arith.subi %[[COUNT]], %[[C1]]
// CHECK:         %[[BEGIN:.*]] = arith.muli %[[LAST]], %[[C4]]
// CHECK:         %[[REST:.*]] = arith.subi %[[KEYS_THERE]], %[[BEGIN]]
// CHECK:         %[[INTEGER:.*]] = arith.index_cast %[[REST]]
// CHECK:         %[[NUMBER:.*]] = arith.sitofp %[[INTEGER]]
// CHECK:         %[[LOG:.*]] = math.log %[[NUMBER]]
// CHECK:         %[[OA0:.*]], %[[LA0:.*]] = attn.attend %[[Q]], %[[K0]], %[[K0]] over %[[A0]] from_start score (%[[S:[a-z0-9]+]], %{{.*}}, %{{.*}}, %{{.*}}, %[[J:[a-z0-9]+]]) {
// CHECK:           %[[IS:.*]] = arith.cmpi eq, %[[J]], %[[LAST]]
// CHECK:           %[[KEYS_OF:.*]] = arith.select %[[IS]], %[[LOG]], %[[LOG4]]
// CHECK:           arith.addf %[[S]], %[[KEYS_OF]]
// CHECK:         } {attn.hierarchy_part = array<i64: 0, 64, 16, 1>} :
// CHECK:         %[[K1:.*]] = select.summarize mean %[[K]] block [16]
// CHECK:         %[[B1:.*]] = sparsity.affine #[[FIRST]] [%[[SHIFT]]] from_start within_keys
// CHECK:         %[[OB1:.*]], %[[LB1:.*]] = attn.attend %[[Q]], %[[K1]], %[[K1]] over %[[B1]] from_start score
// CHECK:         %[[A1:.*]] = sparsity.affine #[[LAST_ONES]] [%[[SHIFT]]] from_start{{$}}
// CHECK:         %[[OA1:.*]], %[[LA1:.*]] = attn.attend %[[Q]], %[[K1]], %[[K1]] over %[[A1]] from_start score
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[LOG16]]
// CHECK:         %[[O0:.*]], %[[L0:.*]] = attn.merge (%[[O]], %[[L]]), (%[[OB0]], %[[LB0]]), (%[[OA0]], %[[LA0]]) {attn.one_kernel}
// CHECK:         %[[O1:.*]], %[[L1:.*]] = attn.merge (%[[OB1]], %[[LB1]]), (%[[OA1]], %[[LA1]]) {attn.one_kernel}
// CHECK:         %[[OUT:.*]], %[[LSE:.*]] = attn.merge (%[[O0]], %[[L0]]), (%[[O1]], %[[L1]]) :
// CHECK:         return %[[OUT]], %[[LSE]]
func.func @two_sided(%q: tensor<1x2x?x64xf32>, %k: tensor<1x2x?x64xf32>) -> (tensor<1x2x?x64xf32>, tensor<1x2x?xf32>) {
  %set = sparsity.dyadic distance base 64 fanout 4 levels 2 columns 16
  %o, %lse = attn.attend %q, %k, %k over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
  return %o, %lse : tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
}

// A column of one key is the key: nothing is summarized, and nothing added.
// CHECK-LABEL: func.func @keys(
// CHECK-NOT:     select.summarize
// CHECK-NOT:     score (
// CHECK:         sparsity.affine #[[KEYS]] [%{{.*}}] from_start within_keys
// CHECK:         attn.merge
func.func @keys(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic fenwick base 64 levels 1 columns 64
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// Without columns every key counts by itself: a set like others.
// CHECK-LABEL: func.func @without_columns(
// CHECK-NEXT:    %[[SET:.*]] = sparsity.dyadic distance base 64 levels 2 only [-1, 0] causal
// CHECK-NEXT:    attn.attend {{.*}} over %[[SET]]
// CHECK-NEXT:    return
func.func @without_columns(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic distance base 64 levels 2 only [-1, 0] causal
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// A window of 100 keys is two blocks of 64: these are exact, and levels lie around a query two blocks before.
// CHECK-LABEL: func.func @near(
// CHECK:         %[[EXACT:.*]] = sparsity.affine #[[WINDOW]] [0, -128] from_start within_keys
// CHECK-NEXT:    attn.attend %{{.*}} over %[[EXACT]] from_start {attn.hierarchy_part = array<i64: -1, 64, 64, 0>, attn.queries_within_keys}
// CHECK:         sparsity.affine #{{.*}} [-128] from_start within_keys
// CHECK:         sparsity.affine #{{.*}} [-128] from_start within_keys
// CHECK:         attn.merge
func.func @near(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic fenwick base 64 near(100) levels 2 columns 64 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// From both sides nodes after the query have a position of their own. Neighbours are exact anyway.
// CHECK-LABEL: func.func @near_two_sided(
// CHECK:         %[[EXACT:.*]] = sparsity.affine #[[BOTH]] [-64, 64] from_start{{$}}
// CHECK-NEXT:    attn.attend %{{.*}} over %[[EXACT]] from_start {{{.*}}attn.queries_within_keys}
// CHECK:         sparsity.affine #{{.*}} [-64] from_start within_keys
// CHECK:         sparsity.affine #{{.*}} [64] from_start{{$}}
// CHECK:         attn.merge
// CHECK-NOT:     attn.merge
func.func @near_two_sided(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic distance base 64 near(128) levels 1 columns 16 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// A window within the neighbours adds nothing.
// CHECK-LABEL: func.func @near_neighbours(
// CHECK:         sparsity.dyadic distance base 64 levels 1 only [-1, -1] causal from_start
func.func @near_neighbours(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic distance base 64 near(64) levels 1 columns 16 causal from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// A window that a run gives is a number of blocks that the run computes, none where it is negative.
// CHECK-LABEL: func.func @near_number(
// CHECK-SAME:      %[[N:[a-z0-9]+]]: index)
// CHECK:         %[[CUT:.*]] = arith.minsi %[[N]],
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivsi %[[CUT]],
// CHECK:         %[[SOME:.*]] = arith.maxsi %[[BLOCKS]],
// CHECK:         %[[KEYS:.*]] = arith.muli %[[SOME]],
// CHECK:         %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[KEYS]]
// CHECK:         sparsity.affine #[[WINDOW]] [0, %[[BEFORE]]] from_start within_keys
func.func @near_number(%q: tensor<1x2x?x64xf32>, %n: index) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic fenwick base 64 near(%n) levels 2 columns 64 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}

// With constants alone every part is light, but for the last columns after a query: more parts make a kernel.
// CHECK-LABEL: func.func @two_sided_from_start(
// CHECK:         %{{.*}} = attn.merge ({{.*}}), ({{.*}}), ({{.*}}), ({{.*}}), ({{.*}}), ({{.*}}) {attn.one_kernel}
// CHECK:         %{{.*}} = attn.merge ({{.*}}), ({{.*}}), ({{.*}}) {attn.one_kernel}
// CHECK:         attn.merge
func.func @two_sided_from_start(%q: tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32> {
  %set = sparsity.dyadic distance base 64 levels 4 columns 16 from_start
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>
  return %o : tensor<1x2x?x64xf32>
}
