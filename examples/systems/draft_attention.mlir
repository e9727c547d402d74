// DraftAttention (evidence: its source code; of its second version only the title is known). Regions of 8 x 16 tokens of one
// frame are pooled to one query and one key; the attention of this small picture is the draft. A head keeps a quarter of
// all pairs of regions, wherever they are: a budget that the rows of a head share. Video, nothing is causal.
func.func @draft_attention(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>,
    %frames: index {lacuna.default = 3 : index}, %height: index {lacuna.default = 16 : index},
    %width: index {lacuna.default = 32 : index}) -> tensor<?x4x?x32xbf16> attributes {lacuna.sizes = {b = 1}} {
  %video = sparsity.grid [%frames, %height, %width]
  %qm = select.summarize mean %q block [1, 8, 16] in %video
    : tensor<?x4x?x32xbf16>, !sparsity.domain<3> -> tensor<?x4x?x32xbf16>
  %km = select.summarize mean %k block [1, 8, 16] in %video
    : tensor<?x4x?x32xbf16>, !sparsity.domain<3> -> tensor<?x4x?x32xbf16>
  // Rows compete, so their scores are shares.
  %total = select.log_sum_exp %qm, %km : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?xf32>
  %draft = select.score dot %qm, %km lse %total : tensor<?x4x?xf32>
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x?xf32>
  %ids, %counts = select.choose share(0.25) %draft scope head
    : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xi32>, tensor<?x4x?xi32>
  %set = sparsity.blocks %ids, %counts query [1, 8, 16] key [1, 8, 16] in %video
    : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>, !sparsity.domain<3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<3>
    : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}
