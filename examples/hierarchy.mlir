// A causal hierarchy that is seen through columns: the query's own block of 128 keys key by key, and each node of the
// past through 32 columns, means of keys and values. The next block's columns stand for 4 keys, those of the level above
// for 8, and the top level sees everything beyond in columns of 16. What a query looks at grows with the logarithm of the
// length if the number of levels does. The picture has a panel per part: the exact one, then the columns of each level.
func.func @hierarchy(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 1024, b = 1}} {
  %set = sparsity.dyadic fenwick base 128 levels 3 columns 32 from_start
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
