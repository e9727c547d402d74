// SpotAttention's selector (evidence: its abstract and a listing). A small selector has queries and keys of its own, one
// head for all; what they score is close to the attention that the heads pay on average, so a share of its softmax is a
// budget. Two nested rules: the blocks that hold 95 % of it, then of their tokens those that hold 90 % of what is left, at
// most 128. 64 queries share the list, whose keys are gathered one by one.
func.func @spot_attention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>,
    %sq: tensor<?x1x?x16xbf16>, %sk: tensor<?x1x?x16xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 500, b = 1}} {
  %past = sparsity.causal
  // Of each token and of each block, for 64 queries together.
  %token = select.score dot %sq, %sk over %past rows 64 by log_sum_exp
    : tensor<?x1x?x16xbf16>, tensor<?x1x?x16xbf16> -> tensor<?x1x?x?xf32>
  %block = select.score dot %sq, %sk over %past rows 64 by log_sum_exp columns 16 by log_sum_exp
    : tensor<?x1x?x16xbf16>, tensor<?x1x?x16xbf16> -> tensor<?x1x?x?xf32>
  %outer, %many = select.choose top_p(0.95) %block
    : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xi32>, tensor<?x1x?xi32>
  // Rows are query blocks, columns are tokens.
  %inside = sparsity.blocks %outer, %many query [1] key [16] : tensor<?x1x?x?xi32>, tensor<?x1x?xi32>
  %candidates = select.restrict %token within %inside : tensor<?x1x?x?xf32>
  %ids, %counts = select.choose top_p(0.9) %candidates cap 128
    : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xi32>, tensor<?x1x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [1] : tensor<?x1x?x?xi32>, tensor<?x1x?xi32>
  // Every query sees itself.
  %self = sparsity.window left(0) right(0)
  %either = sparsity.union %listed, %self
  %set = sparsity.intersect %either, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
