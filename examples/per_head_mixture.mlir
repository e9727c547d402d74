// Heads of different kinds in one launch: heads of class 0 are causal, those of class 1 have a window of their own
// width, those of class 2 see only the sinks. Classes and widths are tensors, so that they can change at every
// call.
func.func @per_head_mixture(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                            %class: tensor<?xi32> {lacuna.values = [0, 1, 1, 2]}, %left: tensor<?xi32> {lacuna.values = [0, 31, 95, 0]})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %past = sparsity.causal
  %near = sparsity.window left(%left : tensor<?xi32>) right(0)
  %sinks = sparsity.prefix 16
  %first = sparsity.intersect %sinks, %past
  %set = sparsity.per_head %class : tensor<?xi32> [%past, %near, %first]
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
