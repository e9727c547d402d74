// RUN: lacuna-opt %s --canonicalize | FileCheck %s

// An lse that nobody reads is not computed.
// CHECK-LABEL: func.func @unused_lse(
// CHECK:         %[[O:.*]] = attn.attend {{.*}} scale 5.000000e-01 from_start :
// CHECK-SAME:      -> tensor<1x1x?x64xf32>{{$}}
// CHECK:         return %[[O]]
func.func @unused_lse(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.all
  %o, %lse = attn.attend %q, %q, %q over %set scale 0.5 from_start
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf32>
}

// One reader is enough to keep it, also when the output has none.
// CHECK-LABEL: func.func @used_lse(
// CHECK:         attn.attend
// CHECK-SAME:      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
func.func @used_lse(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?xf32> {
  %set = sparsity.all
  %o, %lse = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %lse : tensor<1x1x?xf32>
}

// A region that returns its score unchanged goes; the loop then has no score op.
// CHECK-LABEL: func.func @identity_score(
// CHECK:         attn.attend
// CHECK-NOT:     score
// CHECK:         return
func.func @identity_score(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set score (%s, %b, %h, %i, %j) {
    attn.yield %s : f32
  } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// A captured number in its place is another function.
// CHECK-LABEL: func.func @constant_score(
// CHECK:         attn.attend {{.*}} score (
func.func @constant_score(%q: tensor<1x1x?x64xf32>, %c: f32) -> tensor<1x1x?x64xf32> {
  %set = sparsity.all
  %o = attn.attend %q, %q, %q over %set score (%s, %b, %h, %i, %j) {
    attn.yield %c : f32
  } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// One part is its own merge.
// CHECK-LABEL: func.func @merge_one(
// CHECK-SAME:      %[[O:.*]]: tensor<1x1x?x64xf32>, %[[L:.*]]: tensor<1x1x?xf32>)
// CHECK-NEXT:    return %[[O]], %[[L]]
func.func @merge_one(%o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>) {
  %o, %lse = attn.merge (%o0, %l0) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
}

// A merge of merges reads every part once.
// CHECK-LABEL: func.func @merge_nested(
// CHECK-SAME:      %[[O0:.*]]: tensor<1x1x?x64xf32>, %[[L0:.*]]: tensor<1x1x?xf32>, %[[O1:.*]]: tensor<1x1x?x64xf32>, %[[L1:.*]]: tensor<1x1x?xf32>)
// CHECK-NEXT:    attn.merge (%[[O0]], %[[L0]]), (%[[O1]], %[[L1]]), (%[[O1]], %[[L1]])
// CHECK-NEXT:    return
func.func @merge_nested(%o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>,
                        %o1: tensor<1x1x?x64xf32>, %l1: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>) {
  %o2, %l2 = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  %o, %lse = attn.merge (%o2, %l2), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
}

// Unless a pass has made the parts of the inner one a kernel.
// CHECK-LABEL: func.func @merge_of_kernels(
// CHECK:         %[[O:.*]], %[[L:.*]] = attn.merge {{.*}} {attn.one_kernel}
// CHECK-NEXT:    attn.merge (%[[O]], %[[L]]), (
func.func @merge_of_kernels(%o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>,
                            %o1: tensor<1x1x?x64xf32>, %l1: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>) {
  %o2, %l2 = attn.merge (%o0, %l0), (%o1, %l1) {attn.one_kernel} : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  %o, %lse = attn.merge (%o2, %l2), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
}

// The inner result is needed anyway, so the outer merge reads it.
// CHECK-LABEL: func.func @merge_shared(
// CHECK:         %[[O:.*]], %[[L:.*]] = attn.merge
// CHECK:         attn.merge (%[[O]], %[[L]]), (
func.func @merge_shared(%o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>,
                        %o1: tensor<1x1x?x64xf32>, %l1: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>) {
  %o2, %l2 = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  %o, %lse = attn.merge (%o2, %l2), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o, %o2 : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
}

// A part over the empty set has weight 0 and goes with its attend.
// CHECK-LABEL: func.func @merge_empty_part(
// CHECK-NOT:     attn
// CHECK:         return
func.func @merge_empty_part(%q: tensor<1x1x?x64xf32>, %o0: tensor<1x1x?x64xf32>,
                            %l0: tensor<1x1x?xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.none
  %o1, %l1 = attn.attend %q, %q, %q over %set
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  %o, %lse = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf32>
}

// With sinks the same attend has an lse, and so a weight.
// CHECK-LABEL: func.func @merge_sinks(
// CHECK:         attn.attend {{.*}} sinks
// CHECK:         attn.merge
func.func @merge_sinks(%q: tensor<1x1x?x64xf32>, %o0: tensor<1x1x?x64xf32>, %l0: tensor<1x1x?xf32>,
                       %sinks: tensor<1xf32>) -> tensor<1x1x?x64xf32> {
  %set = sparsity.none
  %o1, %l1 = attn.attend %q, %q, %q over %set sinks %sinks : tensor<1xf32>
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  %o, %lse = attn.merge (%o0, %l0), (%o1, %l1) : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf32>
}

// Marks that nobody reads go as an lse does, and what is skipped stays.
// CHECK-LABEL: func.func @unused_marks(
// CHECK:         attn.attend {{.*}} skip query [64] key [64] margin 1.000000e+00 :
// CHECK-SAME:      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>{{$}}
func.func @unused_marks(%q: tensor<1x1x?x64xf32>) -> (tensor<1x1x?x64xf32>, tensor<1x1x?xf32>) {
  %set = sparsity.all
  %o, %lse, %taken = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>, tensor<1x1x?x?xi8>
  return %o, %lse : tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
}

// An lse that nobody reads does not take the marks with it.
// CHECK-LABEL: func.func @used_marks(
// CHECK:         attn.attend
// CHECK-SAME:      -> tensor<1x1x?x64xf32>, tensor<1x1x?x?xi8>{{$}}
func.func @used_marks(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x?xi8> {
  %set = sparsity.all
  %o, %lse, %taken = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>, tensor<1x1x?x?xi8>
  return %taken : tensor<1x1x?x?xi8>
}

// Where there is no key, there is nothing to skip; marks of it are asked for in the second.
// CHECK-LABEL: func.func @skip_of_none(
// CHECK-NOT:     skip
// CHECK:         attn.attend
// CHECK-NOT:     skip
// CHECK:         attn.attend {{.*}} skip query
func.func @skip_of_none(%q: tensor<1x1x?x64xf32>, %t: tensor<1x1x?xf32>)
    -> (tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x?xi8>) {
  %set = sparsity.none
  %o = attn.attend %q, %q, %q over %set skip query [64] key [64] below %t : tensor<1x1x?xf32> margin 1.0
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  %p, %taken = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>
      -> tensor<1x1x?x64xf32>, tensor<1x1x?x?xi8>
  return %o, %p, %taken : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x?xi8>
}

// Single states are their own sums, and a level that only the next one reads is not stored.
// CHECK-LABEL: func.func @folds(
// CHECK-NEXT:    %[[S:.*]], %[[N:.*]] = attn.linear_fold %arg0, %arg1 by 8
// CHECK-NEXT:    return %[[S]], %[[N]]
func.func @folds(%h: tensor<1x2x?x64x64xf32>, %z: tensor<1x2x?x64xf32>) -> (tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>) {
  %0:2 = attn.linear_fold %h, %z by 1 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
  %1:2 = attn.linear_fold %0#0, %0#1 by 2 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
  %2:2 = attn.linear_fold %1#0, %1#1 by 4 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
  return %2#0, %2#1 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
}

// CHECK-LABEL: func.func @levels(
// CHECK:         attn.linear_fold %{{.*}}, %{{.*}} by 2
// CHECK:         attn.linear_fold %{{.*}}, %{{.*}} by 4
func.func @levels(%h: tensor<1x2x?x64x64xf32>, %z: tensor<1x2x?x64xf32>) -> (tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>) {
  %1:2 = attn.linear_fold %h, %z by 2 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
  %2:2 = attn.linear_fold %1#0, %1#1 by 4 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
  return %2#0, %1#1 : tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32>
}

// Linear attention that reads no state has no weight in a merge.
// CHECK-LABEL: func.func @reads_nothing(
// CHECK-NEXT:    return %arg3, %arg4
func.func @reads_nothing(%q: tensor<1x2x?x64xf32>, %h: tensor<1x2x?x64x64xf32>, %z: tensor<1x2x?x64xf32>, %o: tensor<1x2x?x64xf32>,
                         %l: tensor<1x2x?xf32>) -> (tensor<1x2x?x64xf32>, tensor<1x2x?xf32>) {
  %none = sparsity.none
  %p, %pl = attn.linear_read elu %q, %h, %z over %none
      : tensor<1x2x?x64xf32>, tensor<1x2x?x64x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
  %m, %ml = attn.merge (%o, %l), (%p, %pl) : tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
  return %m, %ml : tensor<1x2x?x64xf32>, tensor<1x2x?xf32>
}
