// SLA (evidence: its documentation). Mean queries meet mean keys. Of the 16 blocks of 64 keys here, each query block attends the best
// 3 exactly, skips the worst, and sees those between through linear attention with features that are a softmax over the
// channels. The outputs are added; the projection that follows the linear part is the model's, as is its gate per head here.
func.func @sla(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>, %one: tensor<4xf32> {lacuna.values = [1.0, 1.0, 1.0, 1.0]},
    %gate: tensor<4xf32>) -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %s = select.score dot %qm, %km : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose top_k(3) %s : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %left = select.without %s, %ids, %counts : tensor<?x4x?x?xf32>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %middle, %many = select.choose share(0.85) %left : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %best = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o0 = attn.attend %q, %k, %v over %best
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %states, %norms = attn.linear_state softmax %k, %v block [64]
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32x32xf32>, tensor<?x4x?x32xf32>
  // A list over rows of queries and states: key blocks of one.
  %between = sparsity.blocks %middle, %many query [64] key [1] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o1, %l1 = attn.linear_read softmax %q, %states, %norms over %between query [64]
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32x32xf32>, tensor<?x4x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o = attn.gated_merge (%o0, %one), (%o1, %gate) : tensor<?x4x?x32xbf16>, tensor<4xf32>
  return %o : tensor<?x4x?x32xbf16>
}
