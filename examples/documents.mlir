// Packed documents: a query sees the keys of its own document up to its position. The offsets are data; the
// loop bounds of a query tile come from them at run time. A document may be empty, as the third one is.
//
//   lacuna run examples/documents.mlir --set n=100,offsets=0:30:30:100 --check
func.func @documents(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                     %offsets: tensor<?xi32> {lacuna.values = [0, 120, 300, 300, 512]})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.documents %offsets, %offsets causal : tensor<?xi32>, tensor<?xi32>
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
