// LLSA, log-linear sparse attention (evidence: documentation). The keys of a video are pooled level by level, four
// nodes to a parent. A block of queries scores all nodes of the coarsest level, keeps the best, and from there on
// scores the children of what it kept; the blocks that are left at the finest level are attended key by key. What was
// scored and dropped on the way still counts: mean key and mean value stand for all keys of a node, with the
// logarithm of their number added to the score, so each key has its weight once. Only candidates are scored, n log n
// of them. Nothing is causal. LLSA orders the tokens of images along a curve first, so that nodes are squares; here a
// node is a run of tokens.
func.func @llsa(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>)
    -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %zero = arith.constant 0 : index
  %axis = arith.constant 2 : index
  %qm = select.summarize mean %q block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  // Level 2: nodes of 256 keys, the 2 best of them.
  %k2 = select.summarize mean %k block [256] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %s2 = select.score dot %qm, %k2 : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids2, %counts2 = select.choose top_k(2) %s2 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %left2 = select.without %s2, %ids2, %counts2 : tensor<?x4x?x?xf32>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %others2, %rest2 = select.choose share(1) %left2 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %v2 = select.summarize mean %v block [256] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %keys2 = select.summarize count %k block [256] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %seen2 = sparsity.blocks %others2, %rest2 query [64] key [1] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o2, %l2 = attn.attend %q, %k2, %v2 over %seen2 score (%x, %b, %h, %i, %j) {
    %n = tensor.extract %keys2[%b, %zero, %j, %zero] : tensor<?x4x?x1xf32>
    %log = math.log %n : f32
    %biased = arith.addf %x, %log : f32
    attn.yield %biased : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  // Level 1: nodes of 64 keys, the 3 best of them.
  %k1 = select.summarize mean %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %n1 = tensor.dim %k1, %axis : tensor<?x4x?x32xbf16>
  %below1, %many1 = select.children %ids2, %counts2 by 4 columns(%n1)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %s1 = select.score_list dot %qm, %k1 at %below1, %many1
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xf32>
  %at1, %counts1 = select.choose top_k(3) %s1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %ids1 = select.pick %below1, %many1 at %at1
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  %left1 = select.without %s1, %at1, %counts1 : tensor<?x4x?x?xf32>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %others1, %rest1 = select.choose share(1) %left1 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %dropped1 = select.pick %below1, %many1 at %others1
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  %v1 = select.summarize mean %v block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %keys1 = select.summarize count %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %seen1 = sparsity.blocks %dropped1, %rest1 query [64] key [1] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o1, %l1 = attn.attend %q, %k1, %v1 over %seen1 score (%x, %b, %h, %i, %j) {
    %n = tensor.extract %keys1[%b, %zero, %j, %zero] : tensor<?x4x?x1xf32>
    %log = math.log %n : f32
    %biased = arith.addf %x, %log : f32
    attn.yield %biased : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  // Level 0: nodes of 16 keys, the 4 best of them.
  %k0 = select.summarize mean %k block [16] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %n0 = tensor.dim %k0, %axis : tensor<?x4x?x32xbf16>
  %below0, %many0 = select.children %ids1, %counts1 by 4 columns(%n0)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %s0 = select.score_list dot %qm, %k0 at %below0, %many0
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xf32>
  %at0, %counts0 = select.choose top_k(4) %s0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %ids0 = select.pick %below0, %many0 at %at0
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  %left0 = select.without %s0, %at0, %counts0 : tensor<?x4x?x?xf32>, tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %others0, %rest0 = select.choose share(1) %left0 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %dropped0 = select.pick %below0, %many0 at %others0
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, tensor<?x4x?x?xi32> -> tensor<?x4x?x?xi32>
  %v0 = select.summarize mean %v block [16] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %keys0 = select.summarize count %k block [16] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %seen0 = sparsity.blocks %dropped0, %rest0 query [64] key [1] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %o0, %l0 = attn.attend %q, %k0, %v0 over %seen0 score (%x, %b, %h, %i, %j) {
    %n = tensor.extract %keys0[%b, %zero, %j, %zero] : tensor<?x4x?x1xf32>
    %log = math.log %n : f32
    %biased = arith.addf %x, %log : f32
    attn.yield %biased : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %blocks = sparsity.blocks %ids0, %counts0 query [64] key [16] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %exact, %lse = attn.attend %q, %k, %v over %blocks
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %o, %all = attn.merge (%exact, %lse), (%o2, %l2), (%o1, %l1), (%o0, %l0) : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %o : tensor<?x4x?x32xbf16>
}
