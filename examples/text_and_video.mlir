// Text tokens before a video: text is causal and sees no video; the video sees all of the text, and of itself a
// neighbourhood. The tokens are one concatenation of two domains; each pair of segments has a set of its own.
func.func @text_and_video(%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>,
                          %text: index {lacuna.default = 100}, %frames: index {lacuna.default = 4})
    -> tensor<?x4x?x32xf32> attributes {lacuna.sizes = {b = 1}} {
  %words = sparsity.sequence [%text]
  %video = sparsity.grid [%frames, 8, 12]
  %tokens = sparsity.concat %words, %video : !sparsity.domain<1>, !sparsity.domain<3>
  %past = sparsity.causal
  %blind = sparsity.none : !sparsity.set<1 to 3>
  %reads = sparsity.all : !sparsity.set<3 to 1>
  %near = sparsity.radius [1, 2, 2] in %video : !sparsity.domain<3>
  %set = sparsity.segments %tokens [[%past, %blind], [%reads, %near]] : !sparsity.domain<1, 3>
  %o = attn.attend %q, %k, %v over %set : !sparsity.set<1, 3>
    : tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}
