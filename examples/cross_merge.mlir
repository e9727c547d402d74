// Attention over two caches, merged exactly by their log-sum-exps: a prompt that every query sees, and the tokens
// generated since, causally. The result is what one attention over both would give.
//
//   lacuna run examples/cross_merge.mlir --set q=1x4x10x32 --check
func.func @cross_merge(%q: tensor<?x4x?x32xf32>,
                       %prompt_k: tensor<?x2x?x32xf32>, %prompt_v: tensor<?x2x?x32xf32>,
                       %new_k: tensor<?x2x?x32xf32>, %new_v: tensor<?x2x?x32xf32>)
    -> (tensor<?x4x?x32xf32>, tensor<?x4x?xf32>) attributes {lacuna.sizes = {n = 200, b = 1}} {
  %every = sparsity.all
  %past = sparsity.causal
  %o0, %lse0 = attn.attend %q, %prompt_k, %prompt_v over %every
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
  %o1, %lse1 = attn.attend %q, %new_k, %new_v over %past
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
  %o, %lse = attn.merge (%o0, %lse0), (%o1, %lse1) : tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
}
