// One token of decoding over a causal hierarchy whose columns are kept between calls: the token's own block of 64 keys key by
// key, nodes of 64 keys through 8 columns up to the start of its block of 128, and everything before through columns of 16 keys.
// A column that the token completes is computed from its keys (`from .. whole`, no row or one) and returned; the caller appends it
// to those that it hands in, so that each column is computed once.
func.func @hierarchy_decode(%q: tensor<?x4x1x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
    %k0: tensor<?x2x?x32xf32> {lacuna.shape = [1, 2, 125, 32]}, %v0: tensor<?x2x?x32xf32> {lacuna.shape = [1, 2, 125, 32]},
    %k1: tensor<?x2x?x32xf32> {lacuna.shape = [1, 2, 62, 32]}, %v1: tensor<?x2x?x32xf32> {lacuna.shape = [1, 2, 62, 32]})
    -> (tensor<?x4x1x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>)
    attributes {lacuna.sizes = {nk = 1008, b = 1}} {
  %one = arith.constant 1 : index
  %axis = arith.constant 2 : index
  %n = tensor.dim %k, %axis : tensor<?x2x?x32xf32>
  %token = arith.subi %n, %one : index
  %new_k0 = select.summarize mean %k block [8] from(%token) whole : tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  %new_v0 = select.summarize mean %v block [8] from(%token) whole : tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  %new_k1 = select.summarize mean %k block [16] from(%token) whole : tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  %new_v1 = select.summarize mean %v block [16] from(%token) whole : tensor<?x2x?x32xf32> -> tensor<?x2x?x32xf32>
  // The first key of the token's block, and how many columns of each level lie before its blocks.
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %block = arith.divui %token, %c64 : index
  %parent = arith.divui %token, %c128 : index
  %own = arith.muli %block, %c64 : index
  %end0 = arith.muli %block, %c8 : index
  %begin0 = arith.muli %parent, %c16 : index
  %end1 = arith.muli %parent, %c8 : index
  %exact = sparsity.affine affine_set<(i, j)[a] : (j - a >= 0)> [%own] from_start
  %o, %l = attn.attend %q, %k, %v over %exact
    : tensor<?x4x1x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x1x32xf32>, tensor<?x4x1xf32>
  %near = sparsity.affine affine_set<(i, j)[a, b] : (j - a >= 0, b - j - 1 >= 0)> [%begin0, %end0] from_start
  %log8 = arith.constant 2.07944154 : f32
  %o0, %l0 = attn.attend %q, %k0, %v0 over %near score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log8 : f32
    attn.yield %y : f32
  } : tensor<?x4x1x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x1x32xf32>, tensor<?x4x1xf32>
  %far = sparsity.prefix %end1
  %log16 = arith.constant 2.77258872 : f32
  %o1, %l1 = attn.attend %q, %k1, %v1 over %far score (%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %log16 : f32
    attn.yield %y : f32
  } : tensor<?x4x1x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x1x32xf32>, tensor<?x4x1xf32>
  %out, %lse = attn.merge (%o, %l), (%o0, %l0), (%o1, %l1) : tensor<?x4x1x32xf32>, tensor<?x4x1xf32>
  return %out, %new_k0, %new_v0, %new_k1, %new_v1
    : tensor<?x4x1x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>
}
