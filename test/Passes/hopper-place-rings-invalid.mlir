// RUN: lacuna-opt %s --verify-diagnostics --lacuna-hopper-place-rings=stages=4

// What is asked for is kept, and refused where it does not fit.
tile.kernel @shared attributes {inputs = 3, outputs = 1} plan {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>):
  %one = arith.constant 1 : index
  tile.plan grid(%one, %one, %one) shapes(%one, %one, %one, %one)
} body {
^bb0(%q: tensor<1x1x?x128xbf16>, %k: tensor<1x1x?x128xbf16>, %v: tensor<1x1x?x128xbf16>,
     %o: memref<1x1x?x128xbf16>, %b: index, %h: index, %tile: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 128 : index
  %n = arith.constant 4096 : index
  %t = arith.muli %tile, %rows : index
  // expected-error @+1 {{'hopper.attend' op expected rings that fit in 232448 bytes of shared memory, got 295140 for 1 query slots and 4 stages}}
  hopper.attend %q[%b, %h] at(%t) of(%n) base %zero box [128] keys 128 into %o scale 0.125 walk {
    hopper.tile kind 0 %k, %v[%b, %h] at(%t) of(%n) base %zero box [128] : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  } elements {
  ^bb0(%s: f32, %i: index, %j: index):
    hopper.yield %s
  } {value_dim = 128 : i64} : tensor<1x1x?x128xbf16> -> memref<1x1x?x128xbf16>
  tile.end
}
