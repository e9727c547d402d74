// COBS (evidence: its abstract only). The mass that a query gives to a block of n keys with mean m and variance C is about
// exp(log n + q.m + q'Cq / 2): the ranking looks at the second cumulant instead of the mean alone. Here C is diagonal, the
// masses of 64 queries and of the heads of a group are added up, and the lists feed plain attention; COBS itself replaces
// the selection inside of NSA, which has a list for every query token.
func.func @cobs(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %mean = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %variance = select.summarize variance %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %count = select.summarize count %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x1xf32>
  %mass = select.score quadratic %q, %mean with %variance : tensor<?x2x?x32xbf16> rows 64 by log_sum_exp group 2
      function (%s, %b, %h, %i, %j) {
    %g = arith.divui %h, %two : index
    %n = tensor.extract %count[%b, %g, %j, %zero] : tensor<?x2x?x1xf32>
    %log = math.log %n : f32
    %all = arith.addf %s, %log : f32
    select.yield %all : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  %past = sparsity.causal
  %near = sparsity.window left(1) right(0)
  %first = sparsity.prefix 1
  %always = sparsity.union %near, %first
  %candidates = select.restrict %mass within %past force %always : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(6) %candidates
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
