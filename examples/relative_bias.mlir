// A learned bias per head and relative position (T5), looked up in a table of 65 entries per head: distances beyond
// 32 share the last one.
func.func @relative_bias(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                         %table: tensor<?x65xf32> {lacuna.shape = [4, 65]})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {n = 512, b = 1}} {
  %set = sparsity.window left(100) right(100)
  %o = attn.attend %q, %k, %v over %set score (%s, %b, %h, %i, %j) {
    %distance = arith.subi %j, %i : index
    %low = arith.constant -32 : index
    %high = arith.constant 32 : index
    %atleast = arith.maxsi %distance, %low : index
    %clamped = arith.minsi %atleast, %high : index
    %entry = arith.addi %clamped, %high : index
    %bias = tensor.extract %table[%h, %entry] : tensor<?x65xf32>
    %sum = arith.addf %s, %bias : f32
    attn.yield %sum : f32
  }
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
