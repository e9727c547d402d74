"""What skipping by scores brings on a GPU: attention whose key blocks lie below a margin or below limits, beside attention that takes all.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/skips.py [--json FILE] [--tokens 32768]

Needs PyTorch with a GPU. Keys of some blocks are 0, so that their scores are; in the others the largest score of a row is about 3.
Both rules then skip the former. The marks say which share was taken. Times are medians of device time in one process.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/python"))
sys.path.insert(0, str(ROOT / "tools/gpu"))

import torch  # noqa: E402

import lacuna  # noqa: E402
from selection import time  # noqa: E402

H, BLOCK = 16, 128


def attention(causal, rule, d):
    tokens, marks, limits = f"tensor<?x{H}x?x{d}xbf16>", f"tensor<?x{H}x?x?xi8>", f"tensor<?x{H}x?xf32>"
    skip = f" skip query [64] key [{BLOCK}] {rule}" if rule else ""
    results = f"{tokens}, {marks}" if rule else tokens
    names = "%o, %taken" if rule else "%o"
    limit = f", %t: {limits}" if "below" in rule else ""
    return (f"func.func @f(%q: {tokens}, %k: {tokens}, %v: {tokens}{limit}) -> ({results}) {{\n"
            f"%set = sparsity.{'causal' if causal else 'all'}\n"
            f"{names} = attn.attend %q, %k, %v over %set{skip} : {tokens}, {tokens}, {tokens} -> {results}\n"
            f"return {names} : {results}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    n, rows = options.tokens, []
    print(f"{'case':28} {'taken':>7} {'ms':>8} {'of all':>7} {'TFLOP/s on taken':>17}")
    for d in (128, 64):
        q, v = (torch.randn(1, H, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        limits = torch.full((1, H, n), 0.5, device="cuda")
        for causal in (False, True):
            pairs = n * (n + BLOCK) / 2 if causal else n * n
            plain = lacuna.compile(attention(causal, "", d))
            for kept in (1.0, 0.5, 0.25, 0.1):
                k = torch.randn(1, H, n, d, device="cuda", dtype=torch.bfloat16)
                blocks = torch.rand(1, H, n // BLOCK, 1, device="cuda") < kept
                blocks[:, :, 0] = True
                k *= blocks.repeat_interleave(BLOCK, 2)
                whole = time(lambda: plain(q, k, v))
                for name, rule, more in (("margin", "margin 1.5", ()), ("limits", f"below %t : tensor<?x{H}x?xf32>", (limits,))):
                    skipping = lacuna.compile(attention(causal, rule, d))
                    taken = skipping(q, k, v, *more)[1].float().mean().item() * (2 if causal else 1)
                    ms = time(lambda: skipping(q, k, v, *more))
                    title = f"{'causal' if causal else 'dense'} D{d} {name} {kept:.0%}"
                    rate = 4 * d * H * pairs * min(taken, 1) / ms / 1e9
                    print(f"{title:28} {taken:7.1%} {ms:8.3f} {ms / whole:7.2f} {rate:17.0f}")
                    rows.append({"case": title, "taken": taken, "ms": ms, "of_all": ms / whole, "tflops": rate})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
