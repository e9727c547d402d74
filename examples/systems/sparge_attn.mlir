// SpargeAttn, its first stage (evidence: its source code). Mean queries meet mean keys; each query block keeps the fewest
// key blocks that hold a share of the softmax of the products. A mean says little about a block whose tokens differ: blocks
// of keys or queries whose mean cosine is low are always kept and left out of the softmax. The choice goes to attention as
// a map of bytes, one per block of 128 queries and 64 keys. The second stage decides inside of the loop: 64 queries skip a
// key block whose scores all lie 6 below the largest so far.
func.func @sparge_attn(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>,
    %similar: f32 {lacuna.default = 0.004 : f32}, %share: f32 {lacuna.default = 0.6 : f32}) -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %zero = arith.constant 0 : index
  %axis = arith.constant 2 : index
  %forced = arith.constant 0x7F800000 : f32
  %qm = select.summarize mean %q block [128] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %qc = select.summarize similarity %q block [128] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %kc = select.summarize similarity %k block [64] : tensor<?x4x?x32xbf16> -> tensor<?x4x?x1xf32>
  %s = select.score dot %qm, %km from_start function (%x, %b, %h, %i, %j) {
    %cq = tensor.extract %qc[%b, %h, %i, %zero] : tensor<?x4x?x1xf32>
    %ck = tensor.extract %kc[%b, %h, %j, %zero] : tensor<?x4x?x1xf32>
    %least = arith.minimumf %cq, %ck : f32
    %clear = arith.cmpf oge, %least, %similar : f32
    %y = arith.select %clear, %x, %forced : f32
    select.yield %y : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose top_p(%share : f32) %s : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %blocks = tensor.dim %km, %axis : tensor<?x4x?x32xbf16>
  %mask = select.mask_of_list %ids, %counts columns(%blocks)
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32> -> tensor<?x4x?x?xi8>
  %set = sparsity.bitmap %mask query [128] key [64] : tensor<?x4x?x?xi8>
  %o = attn.attend %q, %k, %v over %set skip query [64] key [64] margin 6.0
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
