// Log-linear attention (evidence: its source code, without decay). The past of a query is its own block of 32 keys, and one state
// for each digit of the number of its block in base 2: states of 32, 64, 128, .. keys, which tile the past exactly once. Queries and keys
// are features already, here above 0. Each level has a weight per row, and nothing is divided: o = sum_l g_l q H_l. The own block
// has no state: its weights q . k are softmax attention with the score log(q . k), divided by their sum exp(lse), so that its
// gate takes that sum in; here it is joined with its normaliser.
func.func @log_linear_attention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>,
    %g: tensor<?x4x?xf32>, %g0: tensor<?x4x?xf32>, %g1: tensor<?x4x?xf32>, %g2: tensor<?x4x?xf32>, %g3: tensor<?x4x?xf32>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 400, b = 1}} {
  %zero = arith.constant 0.0 : f32
  %own = sparsity.affine affine_set<(i, j) : (j floordiv 32 - i floordiv 32 == 0, i - j >= 0)> from_start
  %o, %l = attn.attend %q, %k, %v over %own scale 1.0 score (%x, %b, %h, %i, %j) {
    %w = arith.maximumf %x, %zero : f32
    %y = math.log %w : f32
    attn.yield %y : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %h0, %z0 = attn.linear_state identity %k, %v block [32]
    : tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  %h1, %z1 = attn.linear_fold %h0, %z0 by 2
    : tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  %h2, %z2 = attn.linear_fold %h1, %z1 by 2
    : tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  %h3, %z3 = attn.linear_fold %h2, %z2 by 2
    : tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32>
  // Level l: bit l of the block's number says whether there is a node; it ends where the bits above do. The top level has all nodes
  // that are left.
  %set0 = sparsity.affine affine_set<(i, c) : (i floordiv 32 - c - 1 == 0, c mod 2 == 0)> from_start
  %set1 = sparsity.affine affine_set<(i, c) : (i floordiv 64 - c - 1 == 0, c mod 2 == 0)> from_start
  %set2 = sparsity.affine affine_set<(i, c) : (i floordiv 128 - c - 1 == 0, c mod 2 == 0)> from_start
  %set3 = sparsity.affine affine_set<(i, c) : (i floordiv 256 - c - 1 >= 0)> from_start
  %o0, %l0 = attn.linear_read identity %q, %h0, %z0 over %set0 query [32] undivided
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o1, %l1 = attn.linear_read identity %q, %h1, %z1 over %set1 query [32] undivided
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o2, %l2 = attn.linear_read identity %q, %h2, %z2 over %set2 query [32] undivided
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o3, %l3 = attn.linear_read identity %q, %h3, %z3 over %set3 query [32] undivided
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %out = attn.gated_merge (%o, %g), (%o0, %g0), (%o1, %g1), (%o2, %g2), (%o3, %g3) : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %out : tensor<?x4x?x32xbf16>
}
