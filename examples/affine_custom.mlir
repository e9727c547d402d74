// A set of your own, as inequalities in the query's position i, the key j and numbers: causal, and either near or in
// the same column of a table whose rows have 32 tokens. It is tiled exactly like the built-in sets.
func.func @affine_custom(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                         %w: index {lacuna.default = 20})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %near = sparsity.affine affine_set<(i, j)[w] : (i - j >= 0, w - i + j >= 0)> [%w]
  %column = sparsity.affine affine_set<(i, j) : ((i - j) mod 32 == 0, i - j >= 0)>
  %set = sparsity.union %near, %column
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
