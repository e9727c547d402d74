// Uncertainty-gated selection (evidence: its source code). Mean queries meet mean keys and each query block keeps the four
// best key blocks. How clear that choice is, is the distance between the fourth and the fifth score relative to the range
// of the first five; the two fifths of the query blocks with the least clear choice keep twice as many. The first block
// and the own one are always kept.
func.func @uncertainty_gated(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %s = select.score dot %qm, %km : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x?xf32>
  %past = sparsity.causal
  %own = sparsity.window left(0) right(0)
  %first = sparsity.prefix 1
  %always = sparsity.union %own, %first
  %candidates = select.restrict %s within %past force %always : tensor<?x4x?x?xf32>
  %clear = select.margin(4) %candidates : tensor<?x4x?x?xf32> -> tensor<?x4x?xf32>
  %number = select.gate(0.4) %clear low 8 high 4 : tensor<?x4x?xf32> -> tensor<?x4x?xi32>
  %ids, %counts = select.choose top_k(%number : tensor<?x4x?xi32>) %candidates
    : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
