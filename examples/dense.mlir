// Dense attention: every query sees every key. The set folds to nothing, so that the kernel has one loop
// over full tiles and no mask, except in the last tile when the length is no multiple of the tile.
//
//   lacuna run examples/dense.mlir --set n=2048 --check
func.func @dense(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.all
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
