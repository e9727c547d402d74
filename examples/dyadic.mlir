// One range of levels of a hierarchy whose nodes grow with the distance, attended at full resolution: the query's own
// block of 32 keys and its neighbours, then the nodes of the first two levels around it.
func.func @dyadic(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 1024, b = 1}} {
  %set = sparsity.dyadic distance base 32 only [-1, 1] causal
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
