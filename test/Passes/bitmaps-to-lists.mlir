// RUN: lacuna-opt %s --lacuna-bitmaps-to-lists --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: lacuna-opt %s --lacuna-bitmaps-to-lists=target=sm_90a --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: lacuna-opt %s --lacuna-bitmaps-to-lists=query-tile=64 --canonicalize --cse | FileCheck %s --check-prefix=GIVEN

// A bitmap alone becomes a list, before tiles are chosen.
// CHECK-LABEL: func.func @alone(
// CHECK-SAME:      %[[MASK:[a-z0-9]+]]: tensor<1x2x?x?xi8>)
// CHECK:         %[[IDS:.*]], %[[COUNTS:.*]] = select.list_of_mask %[[MASK]] : tensor<1x2x?x?xi8> -> tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
// CHECK:         %[[SET:.*]] = sparsity.blocks %[[IDS]], %[[COUNTS]] query [128] key [64] {lacuna.of_bitmap} : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
// CHECK:         attn.attend {{.*}} over %[[SET]]
// A tile that is given need not lie in a block.
// GIVEN-LABEL: func.func @alone(
// GIVEN-NOT:     select.
// GIVEN:         sparsity.bitmap
func.func @alone(%q: tensor<1x2x?x64xbf16>, %mask: tensor<1x2x?x?xi8>) -> tensor<1x2x?x64xbf16> {
  %set = sparsity.bitmap %mask query [128] key [64] : tensor<1x2x?x?xi8>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// With a window, inside the past; two attends share the list. Scores go on asking for bytes.
// CHECK-LABEL: func.func @shared(
// CHECK:         %[[IDS:.*]], %[[COUNTS:.*]] = select.list_of_mask
// CHECK-NOT:     select.list_of_mask
// CHECK:         %[[LIST:.*]] = sparsity.blocks %[[IDS]], %[[COUNTS]] query [128] key [64] group 2
// CHECK:         attn.attend
// CHECK:         attn.attend
// CHECK:         select.restrict %{{.*}} within
func.func @shared(%q: tensor<1x4x?x64xbf16>, %mask: tensor<1x2x?x?xi8>, %s: tensor<1x4x?x?xf32>)
    -> (tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x?xf32>) {
  %map = sparsity.bitmap %mask query [128] key [64] group 2 : tensor<1x2x?x?xi8>
  %near = sparsity.window left(63) right(0)
  %past = sparsity.causal
  %some = sparsity.union %map, %near
  %set = sparsity.intersect %some, %past
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16> -> tensor<1x4x?x64xbf16>
  %p = attn.attend %q, %q, %o over %map
      : tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16> -> tensor<1x4x?x64xbf16>
  %t = select.restrict %s within %map : tensor<1x4x?x?xf32>
  return %o, %p, %t : tensor<1x4x?x64xbf16>, tensor<1x4x?x64xbf16>, tensor<1x4x?x?xf32>
}

// What is taken away is not additive.
// CHECK-LABEL: func.func @taken_away(
// CHECK-NOT:     select.
// CHECK:         sparsity.bitmap
func.func @taken_away(%q: tensor<1x2x?x64xbf16>, %mask: tensor<1x2x?x?xi8>) -> tensor<1x2x?x64xbf16> {
  %map = sparsity.bitmap %mask query [128] key [64] : tensor<1x2x?x?xi8>
  %past = sparsity.causal
  %set = sparsity.subtract %past, %map
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// Two of them are looked at byte by byte.
// CHECK-LABEL: func.func @two(
// CHECK-NOT:     select.
// CHECK:         sparsity.intersect
func.func @two(%q: tensor<1x2x?x64xbf16>, %a: tensor<1x2x?x?xi8>, %b: tensor<1x2x?x?xi8>)
    -> tensor<1x2x?x64xbf16> {
  %one = sparsity.bitmap %a query [128] key [64] : tensor<1x2x?x?xi8>
  %other = sparsity.bitmap %b query [128] key [64] : tensor<1x2x?x?xi8>
  %set = sparsity.intersect %one, %other
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// Blocks of 40 queries hold no tile of 64; the CPU takes any.
// CHECK-LABEL: func.func @odd(
// CPU:           select.list_of_mask
// HOPPER-NOT:    select.
// HOPPER:        sparsity.bitmap
func.func @odd(%q: tensor<1x2x?x64xbf16>, %mask: tensor<1x2x?x?xi8>) -> tensor<1x2x?x64xbf16> {
  %set = sparsity.bitmap %mask query [40] key [64] : tensor<1x2x?x?xi8>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// A list would not be walked under a margin, which needs an order; limits need none.
// CHECK-LABEL: func.func @ordered(
// CHECK-NOT:     select.
// CHECK:         attn.attend {{.*}} margin
// CHECK:         select.list_of_mask
func.func @ordered(%q: tensor<1x2x?x64xbf16>, %mask: tensor<1x2x?x?xi8>, %t: tensor<1x2x?xf32>)
    -> (tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>) {
  %set = sparsity.bitmap %mask query [64] key [64] : tensor<1x2x?x?xi8>
  %o = attn.attend %q, %q, %q over %set skip query [64] key [64] margin 1.0
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  %limited = sparsity.bitmap %mask query [64] key [64] group 1 : tensor<1x2x?x?xi8>
  %p = attn.attend %q, %q, %q over %limited skip query [64] key [64] below %t : tensor<1x2x?xf32>
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o, %p : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>
}
