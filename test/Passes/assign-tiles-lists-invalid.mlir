// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles{target=sm_90a}))' --split-input-file --verify-diagnostics

// A query tile is whole warpgroups, and lies in one block.
func.func @assign_tiles_5_queries(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                                  %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{'sparsity.blocks' op expected blocks that tiles of this target divide, 64 queries and 16 keys or more, got [32] and [64]}}
  %set = sparsity.blocks %ids, %counts query [32] key [64] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// A step of the second product is 16 keys.
func.func @assign_tiles_5_keys(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                               %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{expected blocks that tiles of this target divide, 64 queries and 16 keys or more, got [64] and [8]}}
  %set = sparsity.blocks %ids, %counts query [64] key [8] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// So it is on grids.
func.func @assign_tiles_5_grid(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                               %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  %video = sparsity.grid [8, 32, 32]
  // expected-error @+1 {{expected blocks that tiles of this target divide, 64 queries and 16 keys or more, got [3, 3, 3] and [4, 4, 4]}}
  %set = sparsity.blocks %ids, %counts query [3, 3, 3] key [4, 4, 4] in %video
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, !sparsity.domain<3>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<3>
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}
