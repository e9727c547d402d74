// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles{target=sm_90a}))' --split-input-file --verify-diagnostics

// A block that is skipped is a tile.
func.func @assign_tiles_7_keys(%q: tensor<1x2x?x64xbf16>) -> tensor<1x2x?x64xbf16> {
  %set = sparsity.causal
  // expected-error @+1 {{'attn.attend' op expected key tiles as large as the blocks that are skipped, 128, got [64]}}
  %o = attn.attend %q, %q, %q over %set skip query [64] key [128] margin 1.0 {key_tile = array<i64: 64>}
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// A warpgroup votes on its rows.
func.func @assign_tiles_8_queries(%q: tensor<1x2x?x64xbf16>) -> tensor<1x2x?x64xbf16> {
  %set = sparsity.causal
  // expected-error @+1 {{'attn.attend' op expected blocks of 64 queries, those of a warpgroup, where blocks are skipped on this target, got 128}}
  %o = attn.attend %q, %q, %q over %set skip query [128] key [128] margin 1.0 
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}
