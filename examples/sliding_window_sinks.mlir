// StreamingLLM: four sinks and a causal window whose width is a run-time value. Changing `n` or `left` changes
// no code, and no memory grows with the length:
//
//   lacuna explain examples/sliding_window_sinks.mlir --set n=1048576,left=4095
func.func @streaming(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                     %left: index {lacuna.default = 127})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 1024, b = 1}} {
  %near = sparsity.window left(%left) right(0)
  %sink = sparsity.prefix 4
  %some = sparsity.union %near, %sink
  %past = sparsity.causal
  %set = sparsity.intersect %some, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
