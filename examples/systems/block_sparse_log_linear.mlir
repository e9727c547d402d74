// Block sparse attention with log-linear complexity (evidence: ONLY THE TITLE is known; what stands here is a guess
// from it and from the nearest known work). A causal search through a tree of pooled keys: the best nodes of the
// coarsest level, then the best among the children of kept nodes, down to blocks that are attended key by key. The
// nodes that hold the query block itself are always kept, nodes behind it are no candidates, and dropped ones are not
// seen at all.
func.func @block_sparse_log_linear(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 2000, b = 1}} {
  %axis = arith.constant 2 : index
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  // Level 2: nodes of 256 keys, the 3 best of them.
  %k2 = select.summarize mean %k block [256] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %past2 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 256 >= 0)> from_start
  %own2 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 256 >= 0, j * 256 + 255 - i * 64 >= 0)> from_start
  %all2 = select.score dot %qm, %k2 : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x?xf32>
  %s2 = select.restrict %all2 within %past2 force %own2 : tensor<?x4x?x?xf32>
  %ids2, %counts2 = select.choose top_k(3) %s2 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  // Level 1: nodes of 128 keys, the 3 best of them.
  %k1 = select.summarize mean %k block [128] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %past1 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 128 >= 0)> from_start
  %own1 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 128 >= 0, j * 128 + 127 - i * 64 >= 0)> from_start
  %n1 = tensor.dim %k1, %axis : tensor<?x2x?x32xbf16>
  %below1, %many1 = select.children %ids2, %counts2 by 2 columns(%n1)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %s1 = select.score_list dot %qm, %k1 at %below1, %many1 over %past1 force %own1
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xf32>
  %at1, %counts1 = select.choose top_k(3) %s1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %ids1 = select.pick %below1, %many1 at %at1
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  // Level 0: nodes of 64 keys, the 4 best of them.
  %k0 = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %past0 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 64 >= 0)> from_start
  %own0 = sparsity.affine affine_set<(i, j) : (i * 64 + 63 - j * 64 >= 0, j * 64 + 63 - i * 64 >= 0)> from_start
  %n0 = tensor.dim %k0, %axis : tensor<?x2x?x32xbf16>
  %below0, %many0 = select.children %ids1, %counts1 by 2 columns(%n0)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %s0 = select.score_list dot %qm, %k0 at %below0, %many0 over %past0 force %own0
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xf32>
  %at0, %counts0 = select.choose top_k(4) %s0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %ids0 = select.pick %below0, %many0 at %at0
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  %blocks = sparsity.blocks %ids0, %counts0 query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %causal = sparsity.causal
  %set = sparsity.intersect %blocks, %causal
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
