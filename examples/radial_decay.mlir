// Radial attention over frames: the window in space has its full width for near frames, and halves each time
// the distance in time doubles. The number of live pairs grows like n log n.
func.func @radial_decay(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                        %frames: index {lacuna.default = 24}, %width: index {lacuna.default = 32})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {b = 1}} {
  %video = sparsity.grid [%frames, 32]
  %set = sparsity.bands %width levels 4 in %video : !sparsity.domain<2>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<2>
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
