// ALiBi: a bias that falls linearly with the distance, with a slope per head, on top of a causal set.
func.func @alibi(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                 %slopes: tensor<?xf32> {lacuna.values = [0.5, 0.25, 0.125, 0.0625]})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.causal
  %o = attn.attend %q, %k, %v over %set score (%s, %b, %h, %i, %j) {
    %slope = tensor.extract %slopes[%h] : tensor<?xf32>
    %distance = arith.subi %j, %i : index
    %int = arith.index_cast %distance : index to i32
    %float = arith.sitofp %int : i32 to f32
    %bias = arith.mulf %slope, %float : f32
    %sum = arith.addf %s, %bias : f32
    attn.yield %sum : f32
  }
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
