// XAttention (evidence: documentation and papers' descriptions). Queries are folded eight by eight, keys the same way in
// reverse: a product of two folded rows is the sum of the scores along an antidiagonal of an 8 x 8 square. The softmax of
// these sums, added up over the squares of a block of 64 x 64 tokens, is the block's share; each query block keeps the
// fewest key blocks that hold 90 % of it, and its own.
func.func @xattention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %fq = select.fold %q by 8 : tensor<?x4x?x32xbf16> -> tensor<?x4x?x256xbf16>
  %fk = select.fold %k by 8 reversed : tensor<?x2x?x32xbf16> -> tensor<?x2x?x256xbf16>
  %past = sparsity.causal
  // 1 / (8 sqrt(32))
  %total = select.log_sum_exp %fq, %fk over %past scale 0.022097087
    : tensor<?x4x?x256xbf16>, tensor<?x2x?x256xbf16> -> tensor<?x4x?xf32>
  // The logarithm of the block's share of each row, then of all rows.
  %mass = select.score dot %fq, %fk over %past scale 0.022097087 rows 8 by log_sum_exp columns 8 by log_sum_exp
      function (%s, %b, %h, %i, %j) {
    %row = tensor.extract %total[%b, %h, %i] : tensor<?x4x?xf32>
    %share = arith.subf %s, %row : f32
    select.yield %share : f32
  } : tensor<?x4x?x256xbf16>, tensor<?x2x?x256xbf16> -> tensor<?x4x?x?xf32>
  %own = sparsity.window left(0) right(0)
  %candidates = select.restrict %mass within %past force %own : tensor<?x4x?x?xf32>
  %ids, %counts = select.choose top_p(0.9) %candidates
    : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %set = sparsity.intersect %listed, %past
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
