// A neighbourhood in a video: two frames, four rows and four columns to each side, cut off at the border. The
// time axis is causal: no query sees a later frame.
func.func @neighbourhood_3d(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                            %frames: index {lacuna.default = 5})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {b = 1}} {
  %video = sparsity.grid [%frames, 12, 16]
  %set = sparsity.radius [2, 4, 4] causal [0] in %video : !sparsity.domain<3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<3>
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
