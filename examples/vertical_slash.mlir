// Vertical and slash lines (MInference): a few keys that every query sees, a few distances at which every query
// looks back, and a near window; all of it causal.
func.func @vertical_slash(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %vertical = sparsity.columns [0, 1, 2, 3, 170, 300]
  %slash = sparsity.slashes [64, 200]
  %near = sparsity.window left(31) right(0)
  %lines = sparsity.union %vertical, %slash, %near
  %past = sparsity.causal
  %set = sparsity.intersect %lines, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
