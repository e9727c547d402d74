// Key blocks of 64 tokens chosen by the products of mean queries with mean keys: of each row of blocks the first, its own, and the
// best of those in the past, 4 in all. A list is shared by two query heads.
func.func @mean_pool_top_k(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x64xf32>)
    -> tensor<?x4x?x64xf32> attributes {lacuna.sizes = {n = 1024, b = 1}} {
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf32>
  %km = select.summarize mean %k block [64] : tensor<?x2x?x64xf32> -> tensor<?x2x?x64xf32>
  %s = select.score dot %qm, %km group 2 : tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x2x?x?xf32>
  %past = sparsity.causal
  %sink = sparsity.prefix 1
  %own = sparsity.window left(0) right(0)
  %forced = sparsity.union %sink, %own
  %t = select.restrict %s within %past force %forced : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(4) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x64xf32> -> tensor<?x4x?x64xf32>
  return %o : tensor<?x4x?x64xf32>
}
