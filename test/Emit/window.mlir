// RUN: lacuna compile %s --emit=cuda | FileCheck %s

// The producer walks full tiles without a mask and partial ones with it; a
// window's width is a field of the argument struct, not part of the text.
// CHECK:       struct Config {
// CHECK:         static constexpr int rows = 128, keys = 128, headDim = 128, valueDim = 128;
// CHECK:       struct Arguments {
// CHECK:         i64 input3;
// CHECK:       template <class Visit>
// CHECK-NEXT:  __device__ __forceinline__ void walk(const Arguments &args, const Item &item, Visit &&visit) {
// CHECK:         visit(/*kind=*/0, {{.*}}, 0, 0);
// CHECK:         visit(/*kind=*/1, {{.*}}, 0, 0);
// CHECK:       __launch_bounds__(384, 1)
// CHECK-NEXT:  window_attend_0(const __grid_constant__ TensorMap queryMap,
// CHECK:         walk(args, item, [&](int kind, int a0, int a1, int a2) {
// CHECK-NEXT:      producer.tile(kind, a0, a1, a2, copyKeys, copyValues);
// CHECK-NEXT:    });
// CHECK-NEXT:    producer.end(copyKeys, copyValues);
// CHECK:         if (kind == 1) {
// CHECK:           hide<Config::keys>(innerAxis<Config::keys, 128, int>(at[0], {{.*}}, {{.*}}),
// CHECK-NOT:     if (kind == 0)
// CHECK:         auto close = [&](int id) {
// Rows that NaN behind a mask has spoilt are summed again over live pairs, with
// the same bounds.
// CHECK:           auto recompute = [&](int row, auto &&visit) {
// CHECK:             walk(args, item,
// CHECK:                 live = true;
// CHECK-NEXT:            if (kind == 1) {
// CHECK:                   live = k0 >= {{.*}} && k0 < {{.*}};
// CHECK:                 live = live && score != -INFINITY_F32;
// CHECK:         consumer.run(scale, open, close);
func.func @window(%q: tensor<?x32x?x128xbf16>, %k: tensor<?x8x?x128xbf16>,
                  %v: tensor<?x8x?x128xbf16>, %left: index)
    -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>) {
  %near = sparsity.window left(%left) right(0)
  %o, %lse = attn.attend %q, %k, %v over %near
      : tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>
      -> tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
  return %o, %lse : tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>
}
