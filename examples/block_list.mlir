// Key blocks of 64 tokens that a list names for each block of 64 queries, and a near window; all of it causal.
// A list is shared by two query heads.
func.func @block_list(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
    %ids: tensor<?x2x?x?xi32> {lacuna.share = 0.25}, %counts: tensor<?x2x?xi32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %near = sparsity.window left(100) right(0)
  %either = sparsity.union %listed, %near
  %past = sparsity.causal
  %set = sparsity.intersect %either, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
