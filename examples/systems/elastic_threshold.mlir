// Elastic Threshold Attention (evidence: its title; the rest is inferred). A learned function of the context gives each query
// and head a limit; keys are attended to where scores reach it, without a sort and without a number of keys. Here blocks of
// 128 keys are left out whose scores lie below the limits of all queries of a block, which is one query when decoding.
// The slope stands for what trained models do: random scores are alike in all blocks.
func.func @elastic_threshold(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x2x?x32xbf16>, %v: tensor<?x2x?x32xbf16>,
    %limit: tensor<?x4x?xf32>) -> (tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>) attributes {lacuna.sizes = {n = 1000, b = 1}} {
  %past = sparsity.causal
  %slope = arith.constant 0.02 : f32
  %o, %lse = attn.attend %q, %k, %v over %past skip query [64] key [128] below %limit : tensor<?x4x?xf32>
      score (%x, %b, %h, %i, %j) {
    %step = arith.subi %j, %i : index
    %number = arith.index_cast %step : index to i64
    %distance = arith.sitofp %number : i64 to f32
    %bias = arith.mulf %distance, %slope : f32
    %y = arith.addf %x, %bias : f32
    attn.yield %y : f32
  } : tensor<?x4x?x32xbf16>, tensor<?x2x?x32xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x32xbf16>, tensor<?x4x?xf32>
}
