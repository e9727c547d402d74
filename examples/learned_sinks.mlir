// Learned sinks: each head has a logit that takes part in the softmax but has no value, so that a head can attend to
// nothing. The first rows of a long prompt need it most.
func.func @learned_sinks(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                         %sinks: tensor<4xf32> {lacuna.values = [0.5, -1.0, 0.0, 2.0]})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.window left(127) right(0)
  %o = attn.attend %q, %k, %v over %set sinks %sinks : tensor<4xf32>
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
