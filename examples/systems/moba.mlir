// MoBA (evidence: documentation). Every query token and head picks the blocks before its own whose mean key it likes best,
// and always sees its own block up to itself. Lists of single queries fit no matrix instruction. As a map they run everywhere;
// MoBA itself gathers the queries of each block.
func.func @moba(%q: tensor<?x2x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x2x?x32xbf16> attributes {lacuna.sizes = {n = 500, b = 1}} {
  %axis = arith.constant 2 : index
  %means = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %s = select.score dot %q, %means : tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  // Rows are tokens, columns are blocks.
  %before = sparsity.affine affine_set<(i, j) : (i floordiv 64 - j >= 0)> from_start
  %own = sparsity.affine affine_set<(i, j) : (i floordiv 64 - j == 0)> from_start
  %candidates = select.restrict %s within %before force %own : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(3) %candidates
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %blocks = tensor.dim %means, %axis : tensor<?x2x?x32xbf16>
  %mask = select.mask_of_list %ids, %counts columns(%blocks)
    : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi8>
  %listed = sparsity.bitmap %mask query [1] key [64] : tensor<?x2x?x?xi8>
  %past = sparsity.causal
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  return %o : tensor<?x2x?x32xbf16>
}
