// RUN: lacuna-opt %s --lacuna-assign-tiles | FileCheck %s
// RUN: lacuna-opt %s --lacuna-assign-tiles=target=sm_90a | FileCheck %s --check-prefix=HOPPER
// RUN: lacuna-opt %s --lacuna-assign-tiles=query-tile=128 | FileCheck %s --check-prefix=TWO
// RUN: not lacuna-opt %s --lacuna-assign-tiles=query-tile=32 2>&1 | FileCheck %s --check-prefix=ASKED

// Tiles on the CPU are the blocks that may be skipped. On sm_90a each warpgroup has a block of queries; how many there are
// is chosen as ever.
// ASKED: 'attn.attend' op expected query tiles of whole blocks that are skipped, of 64, got [32]
// TWO: key_tile = array<i64: 96>, query_tile = array<i64: 128>
// CHECK-LABEL: func.func @skip(
// CHECK:         key_tile = array<i64: 96>, query_tile = array<i64: 64>
// HOPPER-LABEL: func.func @skip(
// HOPPER:        key_tile = array<i64: 96>, query_tile = array<i64: 192>
func.func @skip(%q: tensor<1x2x?x64xbf16>) -> tensor<1x2x?x64xbf16> {
  %set = sparsity.causal
  %o = attn.attend %q, %q, %q over %set skip query [64] key [96] margin 1.0 
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}
