// A dilated window, as in LongNet: 16 keys back, every fourth one, so that the window reaches 64 tokens.
func.func @dilated(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                   %left: index {lacuna.default = 16})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.dilated left(%left) right(0) step(4)
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
