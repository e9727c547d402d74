"""Attention over hierarchies on a GPU: how its time grows with the length, and where it goes.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/hierarchy.py [--json FILE] [--longest 1048576]

Needs PyTorch with a GPU. Kernel times are those of PyTorch's profiler, sums over the kernels of a name.
"""
import argparse
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/python"))
sys.path.insert(0, str(ROOT / "tools/gpu"))

import torch  # noqa: E402

import lacuna  # noqa: E402
from selection import kernels, sdpa, time  # noqa: E402

H, D = 16, 128
T = f"tensor<?x{H}x?x{D}xbf16>"


def spec(partition, base, columns, fanout, levels, causal):
    return f"""func.func @f(%q: {T}, %k: {T}, %v: {T}) -> {T} {{
  %set = sparsity.dyadic {partition} base {base} fanout {fanout} levels {levels} columns {columns}{causal} from_start
  %o = attn.attend %q, %k, %v over %set : {T}, {T}, {T} -> {T}
  return %o : {T}
}}
"""


def pairs(n, base, columns, fanout, levels):
    """Pairs of one head under fenwick: keys of the own block, and columns."""
    total = 0
    for block in range(-(-n // base)):
        queries = min(base, n - block * base)
        total += queries * (queries + 1) // 2
        size = 1
        for level in range(levels):
            nodes = block // size
            if level < levels - 1:
                nodes -= fanout * (block // (size * fanout))
            total += queries * nodes * columns
            size *= fanout
    return total


def by_name(times):
    """Milliseconds by the name of a kernel without its number."""
    sums = {}
    for kernel, spent in times.items():
        name = kernel.rsplit("_", 1)[0][2:]
        sums[name] = sums.get(name, 0) + spent
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--longest", type=int, default=1 << 20)
    options = parser.parse_args()
    results = {"device": torch.cuda.get_device_name()}
    for base, columns, fanout, levels in ((1024, 128, 2, 10), (512, 128, 4, 6)):
        program, before = lacuna.compile(spec("fenwick", base, columns, fanout, levels, "")), None
        n = 1 << 15
        while n <= options.longest:
            q, k, v = (torch.randn(1, H, n, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            ms = time(lambda: program(q, k, v), 0.2)
            parts = by_name(kernels(lambda: program(q, k, v)))
            count = H * pairs(n, base, columns, fanout, levels)
            line = {"ms": ms, "growth": ms / before if before else 0.0, "summaries ms": parts.get("summarize", 0.0),
                    "attend ms": parts.get("attend", 0.0), "pairs": count}
            if line["attend ms"]:
                line["TFLOP/s"] = 4 * D * count / line["attend ms"] / 1e9
            if n <= 1 << 17:
                line["cuDNN causal ms"] = time(lambda: sdpa(q, k, v, True), 0.2)
            name = f"fenwick base {base} columns {columns} fanout {fanout}, {n}"
            results[name] = line
            print(f"{name:50} " + "  ".join(f"{key} {value:.4g}" for key, value in line.items()), flush=True)
            before, n = ms, 2 * n
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
