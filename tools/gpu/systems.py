"""The systems of examples/systems on a GPU, at the size of a long context, beside cuDNN's dense attention.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/systems.py [WORD ...] [--json FILE] [--tokens 32768]

Needs PyTorch with a GPU. A word chooses the systems whose name has it. Each spec is taken with four times its heads, 128 channels, and 16
times as many blocks where it keeps a fixed number of all; shares and thresholds stay, on random values. So a time shows the cost of a
system's steps, not what the system would keep of real ones.
Times are medians of device time in one process. What is dense is causal if the system's set is.
"""
import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/python"))
sys.path.insert(0, str(ROOT / "tools/gpu"))

HEADS, CHANNELS = 4, 128
VIDEO = {"frames": 16, "height": 32, "width": 64}
TYPES = {"bf16": "bfloat16", "f32": "float32", "i32": "int32", "i8": "int8"}


def scaled(text):
    """The spec with more heads and channels."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    text = re.sub(r"tensor<\?x(\d+)x", lambda m: f"tensor<?x{scale(m[1])}x", text)
    # Channels of tokens, of several side by side, of states and of their sums.
    text = re.sub(r"x32(x32)?x(bf16|f32)>", lambda m: f"x{CHANNELS}{f'x{CHANNELS}' if m[1] else ''}x{m[2]}>", text)
    text = re.sub(r"x256xbf16>", f"x{8 * CHANNELS}xbf16>", text)
    # Matrices that tokens are projected by.
    text = re.sub(r"tensor<(\d+)x32x(\d+)xbf16>", lambda m: f"tensor<{scale(m[1])}x{CHANNELS}x{m[2]}xbf16>", text)
    # Searches from coarse to fine keep as many whatever the length.
    if "select.children" not in text:
        text = re.sub(r"top_k\((\d+)\)", lambda m: f"top_k({16 * int(m[1])})", text)
    # One value a head.
    text = re.sub(r"tensor<4xf32>( \{lacuna.values = \[[^\]]*\]\})?", f"tensor<{4 * HEADS}xf32>", text)
    return text


def scale(heads):
    """One head that all share stays one."""
    return HEADS * int(heads) if int(heads) > 1 else 1


def arguments(text):
    """Names and types of the arguments of a spec's function."""
    body = re.search(r"func\.func @\w+\((.*?)\)\s*->", text, re.S)[1]
    body = re.sub(r"\{[^}]*\}", "", body)
    return re.findall(r"%(\w+): (tensor<[^>]*>|index|f32)", body)


def defaults(text):
    """Declared defaults of scalar arguments, as written."""
    return {name: float(value) for name, value in re.findall(r"%(\w+): \w+ \{lacuna\.default = ([-0-9.e]+)", text)}


def make(torch, name, type, n, known):
    """A random argument; lengths that a type leaves open are the tokens'."""
    if not type.startswith("tensor"):
        value = VIDEO.get(name, known.get(name))
        return int(value) if type == "index" else float(value)
    *extents, element = type[len("tensor<"):-1].split("x")
    shape = [1 if axis == 0 and extent == "?" else n if extent == "?" else int(extent) for axis, extent in enumerate(extents)]
    dtype = getattr(torch, TYPES[element])
    if len(shape) == 4:
        return torch.randn(shape, device="cuda").to(dtype)
    return torch.rand(shape, device="cuda").to(dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--tokens", type=int, default=32768)
    parser.add_argument("--kernels", action="store_true", help="show the five longest kernels of each")
    parser.add_argument("--specs", metavar="FOLDER", help="write the specs there and stop; needs no GPU")
    options = parser.parse_args()
    files = [path for path in sorted((ROOT / "examples/systems").glob("*.mlir"))
             if not options.words or any(word in path.stem for word in options.words)]
    if options.specs:
        for path in files:
            pathlib.Path(options.specs, path.name).write_text(scaled(path.read_text()))
        return 0

    import torch

    import lacuna
    from selection import kernels, sdpa, time
    results, failed, dense = {"device": torch.cuda.get_device_name()}, 0, {}
    q, k, v = (torch.randn(1, 4 * HEADS, options.tokens, CHANNELS, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    for causal in (False, True):
        dense[causal] = time(lambda: sdpa(q, k, v, causal), 0.3)
        print(f"cuDNN {'causal' if causal else 'dense'}: {dense[causal]:.3f} ms", flush=True)
    for path in files:
        text = path.read_text()
        names = arguments(scaled(text))
        n = math.prod(VIDEO.values()) if any(name in VIDEO for name, _ in names) else options.tokens
        queries = {"q": 1} if "nq = 1," in text else {}
        try:
            program = lacuna.compile(scaled(text))
            values = [make(torch, name, type, queries.get(name, n), defaults(text)) for name, type in names]
            ms = time(lambda: program(*values), 0.3)
        except Exception as problem:  # The others are still worth a line.
            failed += 1
            print(f"{path.stem:28} FAILED {str(problem)[:150]}", flush=True)
            continue
        causal = "causal" in text
        results[path.stem] = {"ms": ms, "tokens": n, "queries": queries.get("q", n), "of_dense": ms / dense[causal], "causal": causal}
        print(f"{path.stem:28} {ms:9.3f} ms  {'-' if queries else f'{dense[causal] / ms:.2f}'} times as fast as "
              f"{'causal' if causal else 'dense'}", flush=True)
        if options.kernels:
            function = re.search(r"func\.func @(\w+)", text)[1]
            longest = list(kernels(lambda: program(*values), 1, function).items())[:5]
            print("    " + "  ".join(f"{kernel[len(function) + 1:]} {spent:.2f}" for kernel, spent in longest), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
