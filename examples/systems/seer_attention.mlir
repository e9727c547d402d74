// SeerAttention (evidence: its papers and documentation). A learned gate, trained on block sums of attention: the mean query of a block
// of 64, and the maximum, minimum and mean of a block of keys, each through a small linear layer of its own; their product is the gate's
// score. A layer over maximum, minimum and mean side by side is the sum of three layers, and so are the scores. The heads of a group
// add up, and each query block keeps its best key blocks; the block on the diagonal is always kept. A mean of projected tokens is
// the projection of their mean: layers see one row per block. Positions of blocks, which the gate rotates its features by, are left out.
func.func @seer_attention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>,
    %wq: tensor<4x32x16xbf16>, %wmax: tensor<2x32x16xbf16>, %wmin: tensor<2x32x16xbf16>, %wmean: tensor<2x32x16xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 500, b = 1}} {
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %kmax = select.summarize max %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %kmin = select.summarize min %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %kmean = select.summarize mean %k block [64] : tensor<?x2x?x32xbf16> -> tensor<?x2x?x32xbf16>
  %gq = select.project %qm, %wq : tensor<?x4x?x32xbf16>, tensor<4x32x16xbf16> -> tensor<?x4x?x16xbf16>
  %gmax = select.project %kmax, %wmax : tensor<?x2x?x32xbf16>, tensor<2x32x16xbf16> -> tensor<?x2x?x16xbf16>
  %gmin = select.project %kmin, %wmin : tensor<?x2x?x32xbf16>, tensor<2x32x16xbf16> -> tensor<?x2x?x16xbf16>
  %gmean = select.project %kmean, %wmean : tensor<?x2x?x32xbf16>, tensor<2x32x16xbf16> -> tensor<?x2x?x16xbf16>
  %smax = select.score dot %gq, %gmax : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x4x?x?xf32>
  %smin = select.score dot %gq, %gmin : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x4x?x?xf32>
  %past = sparsity.affine affine_set<(i, j) : (i - j >= 0)> from_start
  %own = sparsity.affine affine_set<(i, j) : (i - j == 0)> from_start
  %s = select.score dot %gq, %gmean over %past group 2 from_start function (%x, %b, %h, %i, %j) {
    %most = tensor.extract %smax[%b, %h, %i, %j] : tensor<?x4x?x?xf32>
    %least = tensor.extract %smin[%b, %h, %i, %j] : tensor<?x4x?x?xf32>
    %two = arith.addf %x, %most : f32
    %y = arith.addf %two, %least : f32
    select.yield %y : f32
  } : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16> -> tensor<?x2x?x?xf32>
  %t = select.restrict %s within %past force %own : tensor<?x2x?x?xf32>
  %ids, %counts = select.choose top_k(3) %t : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [64] key [64] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %causal = sparsity.causal from_start
  %set = sparsity.intersect %listed, %causal
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
