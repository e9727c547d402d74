// Soft-capped scores, as in Gemma: c tanh(s / c) bounds every score, here to 20, in a causal window.
func.func @softcap(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.window left(255) right(0)
  %o = attn.attend %q, %k, %v over %set score (%s, %b, %h, %i, %j) {
    %cap = arith.constant 20.0 : f32
    %ratio = arith.divf %s, %cap : f32
    %tanh = math.tanh %ratio : f32
    %capped = arith.mulf %tanh, %cap : f32
    attn.yield %capped : f32
  }
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
