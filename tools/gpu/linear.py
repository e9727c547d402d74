"""Linear attention over states of blocks on a GPU: milliseconds of each kernel, and the bytes that it moves a second.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/linear.py [--json FILE] [--longest 131072]

Needs PyTorch with a GPU. Kernel times are those of PyTorch's profiler. Bytes are those that must be moved: keys, values, states and norms once
each way; a read has its queries and outputs, and the states that tiles read, once per tile.
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
from hierarchy import by_name  # noqa: E402
from selection import kernels, sdpa, time  # noqa: E402

H, D = 16, 128
T, STATES, NORMS, ROWS = f"tensor<?x{H}x?x{D}xbf16>", f"tensor<?x{H}x?x{D}x{D}xf32>", f"tensor<?x{H}x?x{D}xf32>", f"tensor<?x{H}x?xf32>"


def spec(feature, block):
    """All keys before a query's block of keys, as one prefix state, and level one of a hierarchy."""
    return f"""func.func @f(%q: {T}, %k: {T}, %v: {T}, %g: {ROWS}) -> ({T}, {STATES}) {{
  %h, %z = attn.linear_state {feature} %k, %v block [{block}] : {T}, {T} -> {STATES}, {NORMS}
  %p, %pz = attn.linear_prefix %h, %z : {STATES}, {NORMS} -> {STATES}, {NORMS}
  %f, %fz = attn.linear_fold %h, %z by 2 : {STATES}, {NORMS} -> {STATES}, {NORMS}
  %set = sparsity.affine affine_set<(i, c) : (i floordiv {block} - c == 0)> from_start
  %o, %l = attn.linear_read {feature} %q, %p, %pz over %set query [{block}] : {T}, {STATES}, {NORMS} -> {T}, {ROWS}
  %m = attn.gated_merge (%o, %g), (%v, %l) : {T}, {ROWS}
  return %m, %f : {T}, {STATES}
}}
"""


def traffic(n, block):
    """Bytes of each kernel, by its name."""
    tokens, count = H * n * D * 2, -(-n // block)
    state = H * (D * D + D) * 4
    tiles = -(-n // min(block, 128))
    return {"linear_state": 2 * tokens + count * state, "linear_prefix": (2 * count + 1) * state,
            "linear_fold": (count + -(-count // 2)) * state, "linear_read": 2 * tokens + tiles * state + H * n * 4,
            "gated_merge": 3 * tokens + 2 * H * n * 4}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--longest", type=int, default=1 << 17)
    options = parser.parse_args()
    results = {"device": torch.cuda.get_device_name()}
    for feature in ("softmax", "elu"):
        for block in (128, 512):
            program = lacuna.compile(spec(feature, block))
            for n in (1 << 15, 1 << 17):
                if n > options.longest:
                    continue
                q, k, v = (torch.randn(1, H, n, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
                g = torch.rand(1, H, n, device="cuda")
                ms = by_name(kernels(lambda: program(q, k, v, g)))
                bytes = traffic(n, block)
                line = {"all ms": time(lambda: program(q, k, v, g), 0.2)}
                for name, moved in bytes.items():
                    line[f"{name} ms"] = ms.get(name, 0.0)
                    if ms.get(name):
                        line[f"{name} TB/s"] = moved / ms[name] / 1e9
                if feature == "softmax" and block == 128:
                    line["cuDNN causal ms"] = time(lambda: sdpa(q, k, v, True), 0.2)
                name = f"{feature} blocks of {block}, {n}"
                results[name] = line
                print(f"{name:32} " + "  ".join(f"{key} {value:.4g}" for key, value in line.items()), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
