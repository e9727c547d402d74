// Prefix language model: the first `prefix` tokens see each other in both directions, the rest is causal.
func.func @prefix_lm(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                     %prefix: index {lacuna.default = 150})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %context = sparsity.prefix %prefix
  %past = sparsity.causal
  %set = sparsity.union %context, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
