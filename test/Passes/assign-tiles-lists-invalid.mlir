// RUN: lacuna-opt %s --pass-pipeline='builtin.module(func.func(lacuna-assign-tiles{target=sm_90a}))' --split-input-file --verify-diagnostics

// A query tile is whole warpgroups, and lies in one block.
func.func @assign_tiles_5_queries(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                                  %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{'sparsity.blocks' op expected blocks that tiles of this target divide, 64 queries, or as many in all heads of a group, and 1, 2, 4, 8, 16 or more keys, got [32] and [64]}}
  %set = sparsity.blocks %ids, %counts query [32] key [64] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// A tile of gathered keys is full of blocks.
func.func @assign_tiles_5_keys(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                               %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{16 or more keys, got [64] and [3]}}
  %set = sparsity.blocks %ids, %counts query [64] key [3] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// Heads that have lists of their own share no tile.
func.func @assign_tiles_5_heads(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                                %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{64 queries, or as many in all heads of a group, and 1, 2, 4, 8, 16 or more keys, got [32] and [1]}}
  %set = sparsity.blocks %ids, %counts query [32] key [1] : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>
  %o = attn.attend %q, %q, %q over %set
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// Nor do those that are masked apart.
func.func @assign_tiles_5_sinks(%q: tensor<1x2x?x64xbf16>, %k: tensor<1x1x?x64xbf16>, %ids: tensor<1x1x?x?xi32>,
                                %counts: tensor<1x1x?xi32>, %sinks: tensor<2xf32>) -> tensor<1x2x?x64xbf16> {
  // expected-error @+1 {{or as many in all heads of a group, and 1, 2, 4, 8, 16 or more keys, got [32] and [1]}}
  %set = sparsity.blocks %ids, %counts query [32] key [1] group 2 : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
  %o = attn.attend %q, %k, %k over %set sinks %sinks : tensor<2xf32>
      : tensor<1x2x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}

// -----

// So it is on grids.
func.func @assign_tiles_5_grid(%q: tensor<1x2x?x64xbf16>, %ids: tensor<1x2x?x?xi32>,
                               %counts: tensor<1x2x?xi32>) -> tensor<1x2x?x64xbf16> {
  %video = sparsity.grid [8, 32, 32]
  // expected-error @+1 {{expected blocks that tiles of this target divide, 64 queries, or as many in all heads of a group, and 1, 2, 4, 8, 16 or more keys, got [3, 3, 3] and [4, 4, 4]}}
  %set = sparsity.blocks %ids, %counts query [3, 3, 3] key [4, 4, 4] in %video
      : tensor<1x2x?x?xi32>, tensor<1x2x?xi32>, !sparsity.domain<3>
  %o = attn.attend %q, %q, %q over %set : !sparsity.set<3>
      : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}
