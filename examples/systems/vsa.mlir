// VSA (evidence: documentation). Cubes of 4 x 4 x 4 tokens of a video are pooled; attention between the pooled tokens is a
// coarse output, and its scores choose the cubes that each cube of queries sees in full. The two outputs are joined by
// learned gates outside: both are returned, the coarse one per cube.
func.func @vsa(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>,
    %frames: index {lacuna.default = 8 : index}, %height: index {lacuna.default = 8 : index},
    %width: index {lacuna.default = 16 : index}) -> (tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>)
    attributes {lacuna.sizes = {b = 1}} {
  %video = sparsity.grid [%frames, %height, %width]
  %qm = select.summarize mean %q block [4, 4, 4] in %video
    : tensor<?x4x?x32xbf16>, !sparsity.domain<3> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [4, 4, 4] in %video
    : tensor<?x4x?x32xbf16>, !sparsity.domain<3> -> tensor<?x4x?x32xbf16>
  %vm = select.summarize mean %v block [4, 4, 4] in %video
    : tensor<?x4x?x32xbf16>, !sparsity.domain<3> -> tensor<?x4x?x32xbf16>
  %all = sparsity.all
  %coarse = attn.attend %qm, %km, %vm over %all
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  %s = select.score dot %qm, %km : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose top_k(4) %s : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %set = sparsity.blocks %ids, %counts query [4, 4, 4] key [4, 4, 4] in %video
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, !sparsity.domain<3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<3>
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o, %coarse : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>
}
