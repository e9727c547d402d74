// FlashPrefill V2 (evidence: its source code). Every row of a query tile is scored against the mean key of each key block;
// the energy of a block is the sum of exp(score) over the rows of the tile and the heads of the group. Kept is what has at
// least a tenth of the best energy, without a sort; the first block, the nearest ones and all blocks of the last tile are
// always kept. Of the other blocks that the whole tile sees, the mean key and the mean value stand for all tokens: a
// second attention with the logarithm of the block's length added to its scores, joined by the log-sum-exps.
// Left out: paged keys, and query tiles that hold the heads of a group side by side.
func.func @flashprefill_v2(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %axis = arith.constant 2 : index
  %block = arith.constant 64 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %q, %axis : tensor<?x4x?x32xbf16>
  %tiles = arith.ceildivsi %n, %block : index
  %last = arith.subi %tiles, %two : index
  %means = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %values = select.summarize mean %v block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %energy = select.score dot %q, %means rows 64 by log_sum_exp group 2
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  %past = sparsity.causal
  %sink = sparsity.prefix 1
  %near = sparsity.window left(1) right(0)
  %end = sparsity.affine affine_set<(i, j)[s] : (i - s - 1 >= 0)> [%last]
  %always = sparsity.union %sink, %near, %end
  %candidates = select.restrict %energy within %past force %always : tensor<?x2x?x?xf32>
  // log(0.1)
  %ids, %counts = select.choose near_max(-2.3025851) %candidates
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %exact = sparsity.intersect %listed, %past
  %o, %lse = attn.attend %q, %k, %v over %exact
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  // Blocks that end before the tile begins have 64 tokens each.
  %mask = select.mask_of_list %ids, %counts columns(%tiles)
    : tensor<?x2x?x?xi32>, tensor<?x2x?xi32> -> tensor<?x2x?x?xi8>
  %kept = sparsity.bitmap %mask query [64] key [1] group 2 : tensor<?x2x?x?xi8>
  %whole = sparsity.affine affine_set<(i, j) : (i floordiv 64 - j - 1 >= 0)> from_start
  %dropped = sparsity.subtract %whole, %kept
  %length = arith.constant 4.1588831 : f32
  %r, %rest = attn.attend %q, %means, %values over %dropped score (%s, %b, %h, %i, %j) {
    %biased = arith.addf %s, %length : f32
    attn.yield %biased : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %out, %all = attn.merge (%o, %lse), (%r, %rest) : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %out : tensor<?x4x?x32xbf16>
}
