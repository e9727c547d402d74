// Kascade (evidence: its source code). In an anchor layer the exact attention of 32 queries and of the heads of a group is
// added up per key; a tenth of the keys, at least 64, hold most of it. The layers behind attend to these keys, and to the
// tile around the diagonal. Here q, k, v are the anchor layer's and q1, k1, v1 those of a layer that takes its list over.
// Keys of a list are gathered one by one, and the rows of a group's heads share a tile of them.
func.func @kascade(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>,
    %q1: tensor<?x4x?x32xbf16>, %k1: tensor<?x2x?x32xbf16>, %v1: tensor<?x2x?x32xbf16>)
    -> (tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>) attributes {lacuna.sizes = {n = 500, b = 1}} {
  %past = sparsity.causal
  %o, %lse = attn.attend %q, %k, %v over %past
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  %mass = select.score dot %q, %k over %past lse %lse : tensor<?x4x?xf32> rows 32 by sum group 2
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x2x?x?xf32>
  %ids, %counts = select.choose share(0.1) %mass floor 64
    : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %listed = sparsity.blocks %ids, %counts query [32] key [1] group 2 : tensor<?x2x?x?xi32>, tensor<?x2x?xi32>
  %diagonal = sparsity.block_diagonal 32
  %either = sparsity.union %listed, %diagonal
  %set = sparsity.intersect %either, %past
  %o1 = attn.attend %q1, %k1, %v1 over %set
    : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>
  return %o, %o1 : tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>
}
