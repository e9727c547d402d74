// Sliding tile attention for video: blocks of 2 x 4 x 4 tokens see the blocks around them, one to each side,
// moved inward at the border. With tiles of the same shape every visited tile is full:
//
//   lacuna explain examples/sliding_tile.mlir
func.func @sliding_tile(%q: tensor<?x2x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x2x?x32xf32> attributes {lacuna.sizes = {b = 1}} {
  %video = sparsity.grid [8, 16, 16]
  %set = sparsity.radius [1, 1, 1] border(shift) unit [2, 4, 4] in %video : !sparsity.domain<3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<3>
    : tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  return %o : tensor<?x2x?x32xf32>
}
