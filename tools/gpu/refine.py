"""Selection from coarse to fine on a GPU, beside scores of all blocks: how both grow with the length.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/refine.py [--json FILE] [--longest 1048576] [--block 128] [--kernels]

Needs PyTorch with a GPU. Times are medians of device time. "ms" is the search with all summaries, "rest" the part that scores and chooses;
"flat" scores all pairs of blocks and chooses among them, and has a rest, too; "torch" is that rest in PyTorch, a product and topk.
"attend" is attention over the lists alone. --kernels shows what each kernel of the longest search takes.
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
from selection import kernels, time  # noqa: E402

H, D, FANOUT, KEPT = 16, 128, 4, 16
TOKENS, IDS, COUNTS = f"tensor<?x{H}x?x{D}xbf16>", f"tensor<?x{H}x?x?xi32>", f"tensor<?x{H}x?xi32>"


def levels(n, block):
    """As many levels as leave at most 128 nodes at the top."""
    count, nodes = 1, -(-n // block)
    while nodes > 128:
        count, nodes = count + 1, -(-nodes // FANOUT)
    return count


def search(count, block, causal):
    """The lists of a search through so many levels; one level is flat."""
    return select_cases.search([KEPT] * count, base=block, block=block, fanout=FANOUT, causal=causal, heads=H, key_heads=H, channels=D,
                               lists=True)


def summaries(count, block):
    """What such a search reads of tokens."""
    lines = [f"  %qm = select.summarize mean %q block [{block}] : {TOKENS} -> {TOKENS}"]
    lines += [f"  %k{level} = select.summarize mean %k block [{block * FANOUT**level}] : {TOKENS} -> {TOKENS}" for level in range(count)]
    names = ", ".join(["%qm"] + [f"%k{level}" for level in range(count)])
    types = ", ".join([TOKENS] * (count + 1))
    return "\n".join([f"func.func @f(%q: {TOKENS}, %k: {TOKENS}) -> ({types}) {{"] + lines + [f"  return {names} : {types}", "}", ""])


def attention(block, causal):
    past = "  %past = sparsity.causal\n  %set = sparsity.intersect %listed, %past\n" if causal else ""
    return f"""func.func @f(%q: {TOKENS}, %k: {TOKENS}, %v: {TOKENS}, %ids: {IDS}, %counts: {COUNTS}) -> {TOKENS} {{
  %listed = sparsity.blocks %ids, %counts query [{block}] key [{block}] : {IDS}, {COUNTS}
{past}  %o = attn.attend %q, %k, %v over %{"set" if causal else "listed"} : {TOKENS}, {TOKENS}, {TOKENS} -> {TOKENS}
  return %o : {TOKENS}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--longest", type=int, default=1 << 20)
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--kernels", action="store_true")
    options = parser.parse_args()
    block, results = options.block, {"device": torch.cuda.get_device_name()}
    for causal in (False, True):
        attend, flat, before = lacuna.compile(attention(block, causal)), lacuna.compile(search(1, block, causal)), None
        flat_reads = lacuna.compile(summaries(1, block))
        n = 1 << 15
        while n <= options.longest:
            count = levels(n, block)
            q, k, v = (torch.randn(1, H, n, D, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            tree, reads = lacuna.compile(search(count, block, causal)), lacuna.compile(summaries(count, block))
            ms = time(lambda: tree(q, k), 0.2)
            line = {"levels": count, "ms": ms, "rest": ms - time(lambda: reads(q, k), 0.2), "growth": ms / before if before else 0.0}
            ids, counts = tree(q, k)
            line["attend"] = time(lambda: attend(q, k, v, ids, counts), 0.2)
            line["share of attend"] = ms / line["attend"]
            # Scores of all pairs of blocks: batch x heads x rows x columns of four bytes.
            if 4 * H * (n // block) ** 2 < 32 << 30:
                line["flat"] = time(lambda: flat(q, k), 0.2)
                line["flat rest"] = line["flat"] - time(lambda: flat_reads(q, k), 0.2)
                line["faster than flat"] = line["flat"] / ms
                line["rest faster"] = line["flat rest"] / line["rest"]
                means = [x.unflatten(2, (-1, block)).mean(3) for x in (q, k)]
                line["torch"] = time(lambda: torch.matmul(means[0], means[1].transpose(2, 3)).topk(KEPT, dim=-1).indices, 0.2)
                line["rest faster than torch"] = line["torch"] / line["rest"]
            name = f"search {'causal ' if causal else ''}{n} block {block}"
            results[name] = line
            print(f"{name:32} " + "  ".join(f"{key} {value:.4g}" for key, value in line.items()), flush=True)
            if options.kernels and 2 * n > options.longest:
                for kernel, spent in kernels(lambda: tree(q, k)).items():
                    print(f"  {spent:8.4f} ms {kernel}", flush=True)
            before, n = ms, 2 * n
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
