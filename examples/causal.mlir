// Causal attention: a query sees the keys at or before its position. With fewer queries than keys the last
// query stands at the last key, as in chunked prefill and decoding:
//
//   lacuna run examples/causal.mlir --set nq=5,nk=400 --check
func.func @causal(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>)
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.causal
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
