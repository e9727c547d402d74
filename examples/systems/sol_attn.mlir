// Sol-Attn (evidence: its source code). A key block is exact for a query block when the product of their means is above the
// mean of the row by so many standard deviations, or when the two are neighbours or the block is the first. All others
// count through their mean key and mean value, with the logarithm of their length added: a second attention, joined by the
// log-sum-exps. Nothing is causal.
// Here the statistics leave out the blocks that are exact anyway, and lists are stored; Sol-Attn decides inside of the loop.
func.func @sol_attn(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %zero = arith.constant 0 : index
  %axis = arith.constant 2 : index
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %vm = select.summarize mean %v block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %length = select.summarize count %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %s = select.score dot %qm, %km : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %near = sparsity.window left(1) right(1)
  %first = sparsity.prefix 1
  %always = sparsity.union %near, %first
  %candidates = select.restrict %s force %always : tensor<?x4x?x?xf32>
  %ids, %counts = select.choose deviation(1) %candidates
    : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %exact = sparsity.blocks %ids, %counts query [64] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o, %lse = attn.attend %q, %k, %v over %exact
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %blocks = tensor.dim %km, %axis : tensor<?x4x?x32xbf16>
  %mask = select.mask_of_list %ids, %counts columns(%blocks)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi8>
  %kept = sparsity.bitmap %mask query [64] key [1] : tensor<?x4x?x?xi8>
  %others = sparsity.complement %kept
  %r, %rest = attn.attend %q, %km, %vm over %others score (%x, %b, %h, %i, %j) {
    %n = tensor.extract %length[%b, %h, %j, %zero] : tensor<?x4x?x1xf32>
    %log = math.log %n : f32
    %biased = arith.addf %x, %log : f32
    attn.yield %biased : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %out, %all = attn.merge (%o, %lse), (%r, %rest) : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %out : tensor<?x4x?x32xbf16>
}
