"""Compiles a kernel for many head dimensions with NVRTC and fails when one spills, or loses its overlap.

    python3 spills.py LACUNA [PART/PARTS]

Prints one line per kernel. Dense and causal, f16 and bf16, value dimensions that differ, neighbourhoods on grids.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

DIMENSIONS = (32, 40, 64, 72, 96, 104, 128, 136, 160, 192, 200, 256)
MIXED = ((32, 256), (256, 32), (64, 128), (192, 128), (72, 200))
GRIDS = (
    (64, "sparsity.grid [64, 64]", "radius [6, 6]", 2),
    (128, "sparsity.grid [16, 32, 64]", "radius [2, 5, 8]", 3),
    (128, "sparsity.grid [128, 128]", "radius [6, 6]", 2),
    (256, "sparsity.grid [8, 16, 16]", "radius [1, 3, 3] border(shift)", 3),
)


def attend(result, head, value, element, set_name, rank=1):
    types = ", ".join(f"tensor<?x4x?x{d}x{element}>" for d in (head, head, value))
    of = "" if rank == 1 else f" : !sparsity.set<{rank}>"
    return f"  %{result} = attn.attend %q{result}, %k{result}, %v{result} over %{set_name}{of} : {types} -> " \
           f"tensor<?x4x?x{value}x{element}>\n"


def spec(name, attends, sets):
    """A function with several attends: (result, head, value, element, set, rank)."""
    arguments, results = [], []
    for result, head, value, element, *_ in attends:
        arguments += [f"%{letter}{result}: tensor<?x4x?x{d}x{element}>"
                      for letter, d in (("q", head), ("k", head), ("v", value))]
        results.append(f"tensor<?x4x?x{value}x{element}>")
    body = "".join(f"  {line}\n" for line in sets) + "".join(attend(*one) for one in attends)
    names = ", ".join("%" + one[0] for one in attends)
    return f"func.func @{name}({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{body}" \
           f"  return {names} : {', '.join(results)}\n}}\n"


def specs():
    plain = ["%all = sparsity.all", "%causal = sparsity.causal"]
    for d in DIMENSIONS:
        yield spec(f"d{d}", [("a", d, d, "bf16", "all"), ("b", d, d, "f16", "causal")], plain)
    for head, value in MIXED:
        yield spec(f"d{head}_{value}", [("a", head, value, "bf16", "causal")], plain[1:])
    for index, (d, grid, text, rank) in enumerate(GRIDS):
        yield spec(f"grid{index}_d{d}", [("a", d, d, "bf16", "near", rank)],
                   [f"%grid = {grid}", f"%near = sparsity.{text} in %grid : !sparsity.domain<{rank}>"])


def main():
    lacuna = sys.argv[1]
    part, parts = map(int, (sys.argv[2] if len(sys.argv) > 2 else "0/1").split("/"))
    failed = 0
    # Instructions are not looked at, and listing them takes as long as compiling.
    environment = dict(os.environ, LACUNA_NVDISASM=shutil.which("true"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spec.mlir")
        for index, text in enumerate(specs()):
            if index % parts != part:
                continue
            with open(path, "w") as out:
                out.write(text)
            report = subprocess.run([lacuna, "compile", path, "--emit=sass-report"], check=True, stdout=subprocess.PIPE,
                                    env=environment)
            for kernel in json.loads(report.stdout)["kernels"]:
                bad = kernel["spill_bytes"] or kernel["wgmma_serialized"] or kernel["setmaxnreg_ignored"]
                failed += bool(bad)
                print(f"{'FAILED' if bad else 'ok':8}{kernel['name']:24}{kernel['spill_bytes']:6} bytes spilled"
                      + (", products do not overlap" if kernel["wgmma_serialized"] else "")
                      + (", register counts ignored" if kernel["setmaxnreg_ignored"] else ""), flush=True)
    sys.exit(1 if failed else 0)


main()
