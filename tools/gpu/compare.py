"""Times Lacuna beside cuDNN and FlexAttention on one GPU, in one run.

    python3 compare.py LACUNA [CASE ...]

Every case first checks Lacuna against the oracle at a small size (`lacuna run --check`), then times the full size with
`lacuna bench` (median, cache overwritten before each run, random normal inputs) and the peers with CUDA events over the same
shapes. TFLOP/s count live pairs only: 2 (d + dv) per pair.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

WARM, RUNS = 5, 20

HEAD = """func.func @f(%q: tensor<?x{h}x?x{d}xbf16>, %k: tensor<?x{hk}x?x{d}xbf16>,
                 %v: tensor<?x{hk}x?x{d}xbf16>{extra}) -> tensor<?x{h}x?x{d}xbf16> {{
{body}
  %o = attn.attend %q, %k, %v over %set{type}
      : tensor<?x{h}x?x{d}xbf16>, tensor<?x{hk}x?x{d}xbf16>, tensor<?x{hk}x?x{d}xbf16>
      -> tensor<?x{h}x?x{d}xbf16>
  return %o : tensor<?x{h}x?x{d}xbf16>
}}
"""


class Case:
    def __init__(self, name, body, b=1, h=16, hk=None, n=8192, d=128, extra="", type="", full="", small="n=700,b=2",
                 peer=None):
        self.name, self.b, self.h, self.hk, self.n, self.d = name, b, h, hk or h, n, d
        self.spec = HEAD.format(h=h, hk=self.hk, d=d, body=body, extra=extra, type=type)
        self.full = f"b={b}," + (full or f"n={n}")
        self.small, self.peer = small, peer


WINDOW = "  %set = sparsity.window left(%left) right(0)"
CASES = [
    Case("dense D128 8K", "  %set = sparsity.all", b=2, peer="cudnn"),
    Case("causal D128 8K", "  %set = sparsity.causal", b=2, peer="cudnn-causal"),
    Case("causal D128 32K", "  %set = sparsity.causal", n=32768, peer="cudnn-causal"),
    Case("dense D64 8K", "  %set = sparsity.all", b=2, d=64, peer="cudnn"),
    Case("causal D64 8K", "  %set = sparsity.causal", b=2, d=64, peer="cudnn-causal"),
    Case("dense D256 8K", "  %set = sparsity.all", b=2, d=256, peer="cudnn"),
    Case("causal D256 8K", "  %set = sparsity.causal", b=2, d=256, peer="cudnn-causal"),
    Case("window 1024 32K", WINDOW, n=32768, extra=", %left: index", full="n=32768,left=1023", small="n=700,b=2,left=99",
         peer="flex-window-1023"),
    Case("window 4096 32K", WINDOW, n=32768, extra=", %left: index", full="n=32768,left=4095", small="n=700,b=2,left=99",
         peer="flex-window-4095"),
    Case("GQA 32:8 causal 32K", "  %set = sparsity.causal", h=32, hk=8, n=32768),
    Case("3-D radius (2,5,8)", "  %g = sparsity.grid [16, 32, 64]\n  %set = sparsity.radius [2, 5, 8] in %g : !sparsity.domain<3>", n=32768,
         type=" : !sparsity.set<3>", full="n=32768", small="b=1,n=32768", peer="flex-radius"),
]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def lacuna(program, case):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as spec:
        spec.write(case.spec)
    try:
        code, out, err = run([program, "run", spec.name, "--set", case.small, "--target=cuda", "--check"])
        checked = "ok" if code == 0 else "FAILED: " + (err.strip() or out.strip())[:600]
        code, out, err = run([program, "bench", spec.name, "--set", case.full, "--target=cuda", "--json"])
        if code:
            return checked, None, err.strip()[-300:]
        report = json.loads(out)
        return checked, report["median_seconds"], report["flops"]
    finally:
        os.unlink(spec.name)


def peer_time(case):
    """Seconds of the peer, or none when it cannot be had."""
    import torch
    import torch.nn.functional as functional
    from torch.nn.attention import SDPBackend, sdpa_kernel
    make = lambda heads: torch.randn(case.b, heads, case.n, case.d, device="cuda", dtype=torch.bfloat16)
    q, k, v = make(case.h), make(case.hk), make(case.hk)
    if case.peer.startswith("cudnn"):
        causal = case.peer.endswith("causal")

        def work():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    else:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        if case.peer == "flex-radius":
            def mask(b, h, i, j):
                t, y, x = (i // 2048 - j // 2048).abs(), (i // 64 % 32 - j // 64 % 32).abs(), (i % 64 - j % 64).abs()
                return (t <= 2) & (y <= 5) & (x <= 8)
        else:
            left = int(case.peer.split("-")[-1])

            def mask(b, h, i, j):
                return (j <= i) & (i - j <= left)
        blocks = create_block_mask(mask, None, None, case.n, case.n, device="cuda")
        compiled = torch.compile(flex_attention)

        def work():
            return compiled(q, k, v, block_mask=blocks)
    flush = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    for _ in range(WARM):
        work()
    times = []
    for _ in range(RUNS):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def main():
    program, chosen = sys.argv[1], sys.argv[2:]
    failures = 0
    print(f"{'case':24} {'check':6} {'lacuna':>10} {'peer':>10} {'ratio':>6}")
    for case in CASES:
        if chosen and not any(word in case.name for word in chosen):
            continue
        checked, seconds, flops = lacuna(program, case)
        failures += checked != "ok" or seconds is None
        row = f"{case.name:24} {checked[:6]:6} "
        if seconds is None:
            print(row + str(flops), flush=True)
            continue
        row += f"{flops / seconds / 1e12:7.0f} TF "
        if case.peer:
            peer = peer_time(case)
            row += f"{flops / peer / 1e12:7.0f} TF {peer / seconds:6.2f}"
        print(row, flush=True)
        if checked != "ok":
            print("  " + checked, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
