// RUN: lacuna compile %s --emit=cuda | FileCheck %s

// A block of 192 keys has three tiles of 64. The warp loads 32 entries at a time; what an entry
// names is a short loop of full tiles and one of those that the diagonal cuts.
// CHECK:         static constexpr int pieceKeys = 64, pieces = 2;
// CHECK:       void walk(const Arguments &args, const Item &item, Visit &&visit) {
// CHECK:         forListed<int>(0, {{.*}}, 1, [&](int [[ENTRY:.*]]) {
// CHECK-NEXT:      return readElement<int>(args.input1,
// CHECK-NEXT:    }, [&](int [[ENTRY]], int [[ID:.*]]) {
// CHECK:           #pragma unroll 1
// CHECK-NEXT:      for (int [[J:.*]] = {{.*}}; [[J]] < {{.*}}; [[J]] += 1) {
// CHECK-NEXT:        const int [[AT:.*]] = [[J]] * 64;
// CHECK-NEXT:        visit(/*kind=*/0, [[AT]], 0, 0);
// CHECK:           #pragma unroll 1
// CHECK-NEXT:      for (
// CHECK:             visit(/*kind=*/1,
// CHECK:       __launch_bounds__
func.func @listed(%q: tensor<1x4x?x64xbf16>, %ids: tensor<1x4x?x?xi32>, %counts: tensor<1x4x?xi32>)
    -> tensor<1x4x?x64xbf16> {
  %list = sparsity.blocks %ids, %counts query [128] key [192] : tensor<1x4x?x?xi32>, tensor<1x4x?xi32>
  %past = sparsity.causal
  %set = sparsity.intersect %list, %past
  %o = attn.attend %q, %q, %q over %set {key_tile = array<i64: 64>}
      : tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16> -> tensor<1x4x?x64xbf16>
  return %o : tensor<1x4x?x64xbf16>
}
