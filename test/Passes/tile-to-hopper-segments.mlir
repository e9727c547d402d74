// RUN: lacuna-opt %s --lacuna-spec-to-tile=target=sm_90a --lacuna-tile-to-loops --lacuna-loops-to-hopper | FileCheck %s

// The video's kernel walks two segments of keys: each has a grid of its own,
// starts where it lies in the tensors, and has kinds of its own, whose element
// functions take as many key coordinates as the segment has axes.
// CHECK-LABEL: tile.kernel @text_and_video_attend_0_segment_0
// CHECK:         hopper.attend %{{.*}} at(%{{.*}}) of(%{{.*}}) base %[[ZERO:.*]] box [128] keys 128
// CHECK-NOT:       box [4, 4, 8]
// CHECK-LABEL: tile.kernel @text_and_video_attend_0_segment_1
// CHECK:       ^bb0(%{{.*}}: tensor<?x4x?x64xbf16>, %[[K:.*]]: tensor<?x2x?x64xbf16>, %[[V:.*]]: tensor<?x2x?x64xbf16>, %[[TEXT:[a-z0-9]*]]: index, %[[FRAMES:[a-z0-9]*]]: index, %{{.*}}: memref
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         hopper.attend %{{.*}} of(%[[FRAMES]], %{{.*}}, %{{.*}}) base %[[TEXT]] box [4, 4, 8] keys 128
// CHECK:           hopper.tile kind 0 %[[K]], %[[V]][%{{.*}}] at(%{{.*}}) of(%[[TEXT]]) base %[[ZERO]] box [128]
// CHECK:           hopper.tile kind 1 %[[K]], %[[V]][%{{.*}}] at(%{{.*}}) of(%[[TEXT]]) base %[[ZERO]] box [128]
// CHECK:           hopper.tile kind 2 %[[K]], %[[V]][%{{.*}}] at(%{{.*}}, %{{.*}}, %{{.*}}) of(%[[FRAMES]], %{{.*}}, %{{.*}}) base %[[TEXT]] box [4, 4, 8]
// CHECK:         elements {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{[a-z0-9]*}}: index):
// CHECK:         ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{[a-z0-9]*}}: index):
// CHECK:         ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{[a-z0-9]*}}: index):
func.func @text_and_video(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>,
                          %text: index, %frames: index) -> tensor<?x4x?x64xbf16> {
  %words = sparsity.sequence [%text]
  %video = sparsity.grid [%frames, 8, 12]
  %tokens = sparsity.concat %words, %video : !sparsity.domain<1>, !sparsity.domain<3>
  %past = sparsity.causal
  %blind = sparsity.none : !sparsity.set<1 to 3>
  %reads = sparsity.all : !sparsity.set<3 to 1>
  %near = sparsity.radius [1, 2, 2] in %video : !sparsity.domain<3>
  %set = sparsity.segments %tokens [[%past, %blind], [%reads, %near]] : !sparsity.domain<1, 3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<1, 3>
    : tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16> -> tensor<?x4x?x64xbf16>
  return %o : tensor<?x4x?x64xbf16>
}
