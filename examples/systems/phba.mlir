// PHBA (evidence: ONLY THE TITLE is known; what stands here is a guess from it and from the nearest known work). A causal window and
// the best older blocks of 64 keys, found by their mean keys, are attended key by key; everything before the query's block is
// carried by the sum of the states of all blocks, known at block borders. A gate per row joins the two, each with its own normaliser.
func.func @phba(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>, %gate: tensor<?x4x?xf32>,
    %rest: tensor<?x4x?xf32>) -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 500, b = 1}} {
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  // The window holds the query's own block and the one before; older ones compete.
  %old = sparsity.affine affine_set<(i, j) : (i - j - 2 >= 0)> from_start
  %s = select.score dot %qm, %km over %old : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose top_k(2) %s : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %best = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %near = sparsity.affine affine_set<(i, j) : (j floordiv 64 - i floordiv 64 + 1 >= 0, i - j >= 0)> from_start
  %exact = sparsity.union %best, %near
  %o0 = attn.attend %q, %k, %v over %exact
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %states, %norms = attn.linear_state elu %k, %v block [64]
    : tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  %past, %past_norms = attn.linear_prefix %states, %norms
    : tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  // State c is the sum of the blocks before block c, none of which is of the future of a query in it.
  %own = sparsity.affine affine_set<(i, c) : (i floordiv 64 - c == 0)> from_start
  %o1, %l1 = attn.linear_read elu %q, %past, %past_norms over %own query [64]
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o = attn.gated_merge (%o0, %gate), (%o1, %rest) : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %o : tensor<?x4x?x32xbf16>
}
