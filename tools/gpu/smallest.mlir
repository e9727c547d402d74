// The least that has a kernel: tools/check.py compiles it to see whether this machine has NVRTC.
func.func @smallest(%q: tensor<?x1x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>) -> tensor<?x1x?x64xbf16> {
  %set = sparsity.all
  %o = attn.attend %q, %k, %v over %set
    : tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16> -> tensor<?x1x?x64xbf16>
  return %o : tensor<?x1x?x64xbf16>
}
