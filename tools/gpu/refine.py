"""Selection from coarse to fine on a GPU, beside scores of all blocks: how both grow with the length.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/refine.py [--json FILE] [--longest 1048576]

Needs PyTorch with a GPU. Times are medians of device time; "attend ms" is attention over the lists alone.
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
import select_cases  # noqa: E402
from selection import time  # noqa: E402

H, D, BLOCK, FANOUT, KEPT = 16, 128, 128, 4, 16


def levels(n):
    """As many levels as leave at most 128 nodes at the top."""
    count, nodes = 1, -(-n // BLOCK)
    while nodes > 128:
        count, nodes = count + 1, -(-nodes // FANOUT)
    return count


def search(count, causal, lists):
    return select_cases.search([KEPT] * count, base=BLOCK, block=BLOCK, fanout=FANOUT, causal=causal, heads=H, key_heads=H, channels=D,
                               lists=lists)


def attention(causal):
    tokens, ids, counts = f"tensor<?x{H}x?x{D}xbf16>", f"tensor<?x{H}x?x?xi32>", f"tensor<?x{H}x?xi32>"
    past = "  %past = sparsity.causal\n  %set = sparsity.intersect %listed, %past\n" if causal else ""
    return f"""func.func @f(%q: {tokens}, %k: {tokens}, %v: {tokens}, %ids: {ids}, %counts: {counts}) -> {tokens} {{
  %listed = sparsity.blocks %ids, %counts query [{BLOCK}] key [{BLOCK}] : {ids}, {counts}
{past}  %o = attn.attend %q, %k, %v over %{"set" if causal else "listed"} : {tokens}, {tokens}, {tokens} -> {tokens}
  return %o : {tokens}
}}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--longest", type=int, default=1 << 20)
    options = parser.parse_args()
    results = {"device": torch.cuda.get_device_name()}
    for causal in (False, True):
        attend, flat, before = lacuna.compile(attention(causal)), lacuna.compile(search(1, causal, True)), None
        n = 1 << 15
        while n <= options.longest:
            q, k, v = (torch.randn(1, H, n, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            tree = lacuna.compile(search(levels(n), causal, True))
            ms = time(lambda: tree(q, k), 0.2)
            line = {"levels": levels(n), "ms": ms, "growth": ms / before if before else 0.0}
            ids, counts = tree(q, k)
            line["attend ms"] = time(lambda: attend(q, k, v, ids, counts), 0.2)
            line["share of attend"] = ms / line["attend ms"]
            # Scores of all pairs of blocks: batch x heads x rows x columns of four bytes.
            if 4 * H * (n // BLOCK) ** 2 < 16 << 30:
                line["flat ms"] = time(lambda: flat(q, k), 0.2)
                line["faster than flat"] = line["flat ms"] / ms
            name = f"search {'causal ' if causal else ''}{n}"
            results[name] = line
            print(f"{name:24} " + "  ".join(f"{key} {value:.4g}" for key, value in line.items()), flush=True)
            before, n = ms, 2 * n
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
