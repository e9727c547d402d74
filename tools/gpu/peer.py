"""One peer of one speed case: cuDNN or FlexAttention, compiled and warm, timed on demand.

    python3 peer.py CASE LOCK

Says {"ready": ...} once; then each line of input, `time`, is answered by the seconds of every candidate. compare.py starts
one such process per case, so that all of them compile at once. LOCK is a file: masks of 32768 x 32768 are built one at a
time.
"""
import fcntl
import os
import statistics
import sys
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import speed_cases
from process import reply

WARM_SECONDS, RUNS = 0.2, 20


def matrix_product(torch):
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return {"cuBLAS": lambda: a @ b}


def cudnn(torch, case, q, k, v, notes):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    attention = torch.nn.functional.scaled_dot_product_attention

    def work(k=k, v=v, grouped=case.h != case.hk):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return attention(q, k, v, is_causal=case.peer == "cudnn-causal", enable_gqa=grouped)
    try:
        work()
        return {"cuDNN": work}
    except RuntimeError as problem:
        if case.h == case.hk:
            raise
        notes["cuDNN"] = str(problem).strip().splitlines()[-1][:200]
    # A version that refuses groups gets as many heads of keys as of queries.
    keys, values = (tensor.repeat_interleave(case.h // case.hk, dim=1) for tensor in (k, v))
    return {"cuDNN, repeated keys": lambda: work(keys, values, False)}


def count_pairs(torch, mask, n):
    """Live pairs of the mask, a strip at a time: the whole square of indices does not fit beside other processes."""
    pairs, keys = 0, torch.arange(n, device="cuda")[None, :]
    for start in range(0, n, 1024):
        queries = torch.arange(start, min(start + 1024, n), device="cuda")[:, None]
        pairs += int(mask(0, 0, queries, keys).sum())
    return pairs


def flex(torch, case, q, k, v, lock, notes):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    mask = case.mask({"n": case.n, **case.parameters}, lambda numbers: torch.tensor(numbers, device="cuda"))
    notes["pairs"] = case.b * case.h * count_pairs(torch, mask, case.n)
    candidates = {}
    for size in case.blocks:
        with open(lock, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            blocks = create_block_mask(mask, None, None, case.n, case.n, device="cuda", BLOCK_SIZE=size)
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        # Blocks under the default tile need a tile to match.
        options = {"BLOCK_M": size[0], "BLOCK_N": size[1]} if min(size[0], 128) < 128 else None
        compiled = torch.compile(flex_attention, dynamic=False)

        def work(blocks=blocks, options=options, compiled=compiled):
            return compiled(q, k, v, block_mask=blocks, kernel_options=options)
        name = f"FlexAttention {size[0]}x{size[1]}"
        try:
            work()
            candidates[name] = work
        except Exception as problem:  # A tile that this version refuses is no candidate.
            notes[name] = str(problem).strip().splitlines()[-1][:200]
    return candidates


def flex_lists(torch, case, q, k, v, notes):
    """Block lists as FlexAttention takes them: every listed block is full."""
    from torch.nn.attention.flex_attention import BlockMask, flex_attention
    rows, keys = case.parameters["block"]
    if keys < 64:
        raise RuntimeError("FlexAttention has no such blocks")
    lines, blocks = case.n // rows, case.n // keys
    kept = max(1, round(case.parameters["share"] / 100 * blocks))
    notes["pairs"] = case.b * case.h * lines * kept * rows * keys
    ids = torch.rand(case.b, case.h, lines, blocks, device="cuda").argsort(dim=-1).to(torch.int32)
    ids[..., :kept] = ids[..., :kept].sort(dim=-1).values
    none, counts = torch.zeros(case.b, case.h, lines, dtype=torch.int32, device="cuda"), torch.full(
        (case.b, case.h, lines), kept, dtype=torch.int32, device="cuda")
    mask = BlockMask.from_kv_blocks(none, torch.zeros_like(ids), counts, ids, BLOCK_SIZE=(rows, keys), mask_mod=None,
                                    seq_lengths=(case.n, case.n))
    compiled = torch.compile(flex_attention, dynamic=False)
    options = {"BLOCK_M": min(rows, 128), "BLOCK_N": min(keys, 128)} if rows < 128 else None
    work = lambda: compiled(q, k, v, block_mask=mask, kernel_options=options)
    work()
    return {f"FlexAttention {rows}x{keys}": work}


def measure(torch, work, flush):
    """Median seconds, the cache overwritten before each run."""
    begin = time.monotonic()
    while time.monotonic() - begin < WARM_SECONDS:
        work()
        torch.cuda.synchronize()
    events = []
    for _ in range(RUNS):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        events.append((start, end))
        torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events) / 1e3


def candidates_of(torch, name, lock, notes):
    if name == "matrix product":
        return matrix_product(torch)
    case = next(case for case in speed_cases.CASES if case.name == name)
    make = lambda heads: torch.randn(case.b, heads, case.n, case.d, device="cuda", dtype=torch.bfloat16)
    q, k, v = make(case.h), make(case.hk), make(case.hk)
    if case.lists:
        return flex_lists(torch, case, q, k, v, notes)
    return flex(torch, case, q, k, v, lock, notes) if case.peer == "flex" else cudnn(torch, case, q, k, v, notes)


def main():
    name, lock = sys.argv[1:]
    notes = {}
    try:
        import torch
        candidates = candidates_of(torch, name, lock, notes)
        for work in candidates.values():
            work()
        flush = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
        if not candidates:
            raise RuntimeError("no candidate: " + str(notes))
    except Exception as problem:
        reply({"error": f"{type(problem).__name__}: {problem}"[:400]})
        return 1
    notes["versions"] = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}
    reply({"ready": list(candidates), **notes})
    for line in sys.stdin:
        try:
            with torch.no_grad():
                reply({name: measure(torch, work, flush) for name, work in candidates.items()})
        except Exception as problem:
            reply({"error": f"{type(problem).__name__}: {problem}"[:400]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
