// Neighbourhood attention on an image (NATTEN): seven by seven tokens around the query. At the border the
// neighbourhood moves inward, so that every query has exactly 49 keys. Tiles are boxes of 8 x 8 tokens, cut
// from the row-major tensor as it lies.
func.func @neighbourhood_2d(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                            %height: index {lacuna.default = 24}, %width: index {lacuna.default = 20})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {b = 1}} {
  %image = sparsity.grid [%height, %width]
  %set = sparsity.radius [3, 3] border(shift) in %image : !sparsity.domain<2>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<2>
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
