// RBS-Attention (evidence: ONLY THE TITLE is known; what stands here is a guess from it and from the nearest known work).
// The centre m and the radius r of a block bound the score of any of its keys: q.m + |q| r. Blocks whose bound is far
// below the best one of the query tile are dropped; the first and the own block are always kept.
func.func @rbs_attention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %centre = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %radius = select.summarize radius %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x1xbf16>
  %bound = select.score ball %q, %centre with %radius : tensor<?x2x?x1xbf16> rows 64 by max group 2
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  %past = sparsity.causal
  %own = sparsity.window left(0) right(0)
  %first = sparsity.prefix 1
  %always = sparsity.union %own, %first
  %candidates = select.restrict %bound within %past force %always : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose near_max(-0.5) %candidates
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
