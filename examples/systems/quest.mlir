// Quest (evidence: documentation). The least and the greatest value of each channel of a page of keys bound the score that
// any of its keys can have; a decoding step attends to the pages with the best bounds, and to the last one.
// A list is shared by the heads of a group and by up to 64 queries, of which decoding has one.
func.func @quest(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {nq = 1, nk = 1000, b = 2}} {
  %least = select.summarize min %k block [16] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %most = select.summarize max %k block [16] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %bounds = select.score box %q, %least with %most : tensor<?x2x?x32xbf16> rows 64 by max group 2
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  %recent = sparsity.suffix 1
  %pages = select.restrict %bounds force %recent : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(8) %pages
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [16] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %past = sparsity.causal
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
