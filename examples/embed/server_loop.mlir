// Requests packed into one row of tokens; each attends to itself. What server_loop.cpp runs.
//
//   lacuna compile server_loop.mlir --emit=artifact -o packed.lacuna
func.func @packed(%q: tensor<1x4x?x64xbf16>, %k: tensor<1x2x?x64xbf16>, %v: tensor<1x2x?x64xbf16>,
                  %offsets: tensor<?xi32>) -> tensor<1x4x?x64xbf16> {
  %own = sparsity.documents %offsets, %offsets causal : tensor<?xi32>, tensor<?xi32>
  %o = attn.attend %q, %k, %v over %own
    : tensor<1x4x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x4x?x64xbf16>
  return %o : tensor<1x4x?x64xbf16>
}
