// MoBA (evidence: documentation). Every query token and head picks the blocks before its own whose mean key it likes best,
// and always sees its own block up to itself. Lists of single queries fit no matrix instruction: they run on the CPU only.
func.func @moba(%q: tensor<?x2x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x2x?x32xf32> attributes {lacuna.sizes = {n = 500, b = 1}} {
  %means = select.summarize mean %k block [64] : tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  %s = select.score dot %q, %means : tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x?xf32>
  // Rows are tokens, columns are blocks.
  %before = sparsity.affine affine_set<(i, j) : (i floordiv 64 - j >= 0)> from_start
  %own = sparsity.affine affine_set<(i, j) : (i floordiv 64 - j == 0)> from_start
  %candidates = select.restrict %s within %before force %own : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(3) %candidates
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [1] key [64] : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %past = sparsity.causal
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  return %o : tensor<?x2x?x32xf32>
}
