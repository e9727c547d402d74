// Skip-softmax, also called BLASST (evidence: its documentation in TensorRT-LLM). No list, no selection: when the largest score of a
// tile is so far below the largest so far that exp of the difference is less than a threshold, exponentials and second
// product of the tile are left out. The threshold exp(-6) is a margin of 6 here. What is skipped depends on the order, which
// is that of the keys; the third result says which blocks were not.
// Biases that grow with the distance stand for what trained models do: random scores are never that far apart.
func.func @skip_softmax(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>)
    -> (tensor<?x4x?x32xbf16>, tensor<?x4x?x?xi8>) attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %set = sparsity.all
  %near = arith.constant 200 : index
  %slope = arith.constant 0.05 : f32
  %o, %taken = attn.attend %q, %k, %v over %set skip query [64] key [128] margin 6.0
      score (%x, %b, %h, %i, %j) {
    %away = arith.maxsi %j, %near : index
    %past = arith.subi %away, %near : index
    %number = arith.index_cast %past : index to i64
    %distance = arith.sitofp %number : i64 to f32
    %bias = arith.mulf %distance, %slope : f32
    %y = arith.subf %x, %bias : f32
    attn.yield %y : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?x?xi8>
  return %o, %taken : tensor<?x4x?x32xbf16>, tensor<?x4x?x?xi8>
}
