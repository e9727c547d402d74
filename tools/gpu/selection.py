"""Selection on a GPU: its numbers against PyTorch, and what it costs beside the attention that it feeds.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/selection.py [WORD ...] [--json FILE] [--tokens 131072]

Needs PyTorch with a GPU. A word chooses the tables whose name has it: check, steps, chain, ragged, tokens, density. Times are medians of device time
over runs that follow each other, in one process with cuDNN's attention.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/python"))

import torch  # noqa: E402

import lacuna  # noqa: E402

H, D, BLOCK = 16, 128, 128


def tokens(heads=H, d=D, type="bf16"):
    return f"tensor<?x{heads}x?x{d}x{type}>"


SCORES, IDS, COUNTS = f"tensor<?x{H}x?x?xf32>", f"tensor<?x{H}x?x?xi32>", f"tensor<?x{H}x?xi32>"
Q = K = V = tokens()
PAST = "%past = sparsity.causal"
RESTRICT = f"%t = select.restrict %s within %past force %kept : {SCORES}"
FORCED = "%sink = sparsity.prefix 1\n%own = sparsity.window left(1) right(0)\n%kept = sparsity.union %sink, %own"


def function(arguments, results, lines):
    names, types = ", ".join(name for name, _ in results), ", ".join(type for _, type in results)
    body = "\n".join(lines)
    return f"func.func @f({', '.join(arguments)}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"


def summarize(value, name, block=BLOCK, out=None):
    return f"%{name} = select.summarize mean %{value} block [{block}] : {Q} -> {out or Q}"


def choose(causal, source="%s", rule="top_k(%n : index)"):
    return f"%ids, %counts = select.choose {rule} {source} : {SCORES} -> {IDS}, {COUNTS}"


def attend(causal):
    listed = f"%listed = sparsity.blocks %ids, %counts query [{BLOCK}] key [{BLOCK}] : {IDS}, {COUNTS}"
    return [listed, "%set = sparsity.intersect %listed, %past" if causal else "%set = sparsity.union %listed, %listed",
            f"%o = attn.attend %q, %k, %v over %set : {Q}, {K}, {V} -> {Q}"]


NUMBERS = f"top_k(%n : {COUNTS})"


def chain(causal, results="o"):
    """Mean pooling, scores, top-k and attention: the whole, or up to the lists."""
    lines = [PAST, FORCED, summarize("q", "qm"), summarize("k", "km"), f"%s = select.score dot %qm, %km : {Q}, {K} -> {SCORES}"]
    if causal:
        lines += [RESTRICT, choose(True, "%t", NUMBERS)]
    else:
        lines += [choose(False)]
    number = f"%n: {COUNTS}" if causal else "%n: index"
    if results == "ids":
        return function([f"%q: {Q}", f"%k: {K}", number], [("%s" if not causal else "%t", SCORES), ("%ids", IDS), ("%counts", COUNTS)], lines)
    return function([f"%q: {Q}", f"%k: {K}", f"%v: {V}", number], [("%o", Q)], lines + attend(causal))


def attention(causal):
    return function([f"%q: {Q}", f"%k: {K}", f"%v: {V}", f"%ids: {IDS}", f"%counts: {COUNTS}"], [("%o", Q)],
                    [PAST] + attend(causal))


def time(call, seconds=0.5):
    """Median device time of a call in ms."""
    call()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    rounds = max(3, min(200, int(seconds * 1000 / max(start.elapsed_time(end), 1e-3))))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(rounds + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))


def kernels(call, rounds=3, function="f"):
    """Milliseconds of each kernel of a call of so named a function, the longest first."""
    from torch.profiler import ProfilerActivity, profile
    call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as records:
        for _ in range(rounds):
            call()
        torch.cuda.synchronize()
    times = {}
    for event in records.events():
        if event.name.startswith(f"{function}_"):
            times[event.name] = times.get(event.name, 0) + event.device_time / 1000 / rounds
    return dict(sorted(times.items(), key=lambda entry: -entry[1]))


def draw(n, heads=H, batch=1):
    """Neighbouring keys are alike, as in texts, so that means of blocks say something."""
    base = torch.randn(batch, heads, (n + BLOCK - 1) // BLOCK, D, device="cuda").repeat_interleave(BLOCK, 2)[:, :, :n]
    return (base + torch.randn(batch, heads, n, D, device="cuda")).to(torch.bfloat16)


def numbers(n, causal, share):
    blocks = (n + BLOCK - 1) // BLOCK
    if not causal:
        return max(1, int(share * blocks + 0.999999))
    row = torch.arange(1, blocks + 1, device="cuda")
    return (row * share).ceil().int().clamp(min=1).expand(1, H, -1).contiguous()


def check(report):
    """Scores and lists of the chain against PyTorch; lists exactly, given the scores."""
    for n in (1000, 4096):
        q, k = draw(n), draw(n)
        for causal in (False, True):
            wanted = numbers(n, causal, 0.25)
            scores, ids, counts = lacuna.compile(chain(causal, "ids"))(q, k, wanted)
            pool = lambda x: torch.stack([part.float().mean(2) for part in x.split(BLOCK, 2)], 2).to(torch.bfloat16).float()
            expected = pool(q) @ pool(k).transpose(2, 3) / D**0.5
            blocks = expected.shape[2]
            if causal:
                i, j = torch.arange(blocks, device="cuda")[:, None], torch.arange(blocks, device="cuda")[None]
                expected = torch.where((j == 0) | (i - j <= 1), float("inf"), expected).masked_fill(j > i, float("-inf"))
            torch.testing.assert_close(scores, expected, atol=2e-2, rtol=2e-2)
            order = torch.sort(scores, dim=-1, descending=True, stable=True).indices
            for head in range(H):
                for row in range(blocks):
                    number = int(wanted[0, head, row]) if causal else wanted
                    number = min(number, int((scores[0, head, row] != float("-inf")).sum()))
                    assert int(counts[0, head, row]) == number, (n, causal, head, row)
                    assert torch.equal(ids[0, head, row, :number].long(), order[0, head, row, :number].sort().values)
                    assert bool((ids[0, head, row, number:] == -1).all())
            report(f"check {n} {'causal' if causal else 'all'}", {"ok": True})


def steps(report, n):
    """What each step takes."""
    q, k = draw(n), draw(n)
    pooled = lacuna.compile(function([f"%q: {Q}"], [("%m", Q)], [summarize("q", "m")]))
    score = lacuna.compile(function([f"%q: {Q}", f"%k: {K}"], [("%s", SCORES)], [f"%s = select.score dot %q, %k : {Q}, {K} -> {SCORES}"]))
    packed = lacuna.compile(function([f"%q: {Q}", f"%k: {K}"], [("%s", SCORES)], [
        f"%s = select.score dot %q, %k rows 128 by log_sum_exp : {Q}, {K} -> {SCORES}"]))
    restrict = lacuna.compile(function([f"%s: {SCORES}"], [("%t", SCORES)], [PAST, FORCED, RESTRICT]))
    rule = lambda text: lacuna.compile(function([f"%s: {SCORES}"], [("%ids", IDS), ("%counts", COUNTS)], [choose(False, "%s", text)]))
    qm, km = pooled(q), pooled(k)
    s = score(qm, km)
    bytes = q.numel() * 2
    ms = time(lambda: pooled(q))
    report(f"mean {n}", {"ms": ms, "TB/s": bytes / ms / 1e9})
    report(f"score of means {n}", {"ms": time(lambda: score(qm, km))})
    ms = time(lambda: packed(q, km))
    report(f"score of rows, log-sum-exp {n}", {"ms": ms, "TFLOP/s": 2 * n * km.shape[2] * D * H / ms / 1e9})
    report(f"restrict {n}", {"ms": time(lambda: restrict(s))})
    for text in ("top_k(102)", "share(0.1)", "top_p(0.5)", "near_max(-1.0)", "share(0.1) "):
        scope = " scope head" if text.endswith(" ") else ""
        program = rule(text.strip()) if not scope else lacuna.compile(function(
            [f"%s: {SCORES}"], [("%ids", IDS), ("%counts", COUNTS)],
            [f"%ids, %counts = select.choose {text.strip()} %s{scope} : {SCORES} -> {IDS}, {COUNTS}"]))
        report(f"choose {text.strip()}{scope} {n}", {"ms": time(lambda: program(s))})


def sdpa(q, k, v, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def whole(report, n, peers=True):
    """Selection and attention together, against cuDNN."""
    q, k, v = draw(n), draw(n), draw(n)
    for causal in (False, True):
        wanted = numbers(n, causal, 0.1)
        select, all, alone = lacuna.compile(chain(causal, "ids")), lacuna.compile(chain(causal)), lacuna.compile(attention(causal))
        _, ids, counts = select(q, k, wanted)
        pairs = int(counts.long().sum()) * BLOCK * BLOCK
        if causal:  # the own block has its lower half
            pairs -= H * (n // BLOCK) * (BLOCK * (BLOCK - 1) // 2)
        times = {"select ms": time(lambda: select(q, k, wanted)), "attend ms": time(lambda: alone(q, k, v, ids, counts)),
                 "whole ms": time(lambda: all(q, k, v, wanted))}
        times["attend TFLOP/s"] = 4 * D * pairs / times["attend ms"] / 1e9
        times["select / attend"] = times["select ms"] / times["attend ms"]
        if peers:
            times["cuDNN ms"] = time(lambda: sdpa(q, k, v, causal), 1.0)
            times["cuDNN TFLOP/s"] = 4 * D * H * n * n / (2 if causal else 1) / times["cuDNN ms"] / 1e9
            times["select / cuDNN"] = times["select ms"] / times["cuDNN ms"]
            times["cuDNN / whole"] = times["cuDNN ms"] / times["whole ms"]
        report(f"chain {'causal' if causal else 'all'} {n}", times)


def listed(blocks, counts):
    """Random lists without repetition, in rising order: ids and counts of H heads."""
    order = torch.rand(1, H, blocks, blocks, device="cuda").argsort(-1)
    capacity = int(counts.max())
    place = torch.arange(capacity, device="cuda")
    ids = torch.where(place < counts[..., None], order[..., :capacity], blocks).sort(-1).values
    return torch.where(ids < blocks, ids, -1).int().contiguous(), counts.int().contiguous()


def zipf(blocks, total):
    """Counts of the rows of each head, the r-th greatest in proportion to 1 / r, at most `blocks`, with the given sum."""
    weights = 1.0 / torch.arange(1, blocks + 1, device="cuda", dtype=torch.float64)
    low, high = 0.0, float(blocks * blocks * blocks)
    for _ in range(200):
        scale = (low + high) / 2
        reached = (weights * scale).floor().clamp(max=blocks).sum().item() >= total
        low, high = (low, scale) if reached else (scale, high)
    counts = (weights * high).floor().clamp(max=blocks)
    shuffled = torch.stack([counts[torch.randperm(blocks, device="cuda")] for _ in range(H)])
    return shuffled[None].long()


def ragged(report, n):
    """Lists of Zipf lengths against equal ones with as many entries."""
    blocks = n // BLOCK
    q, k, v = draw(n), draw(n), draw(n)
    program = lacuna.compile(attention(False))
    for share in (0.05, 0.1, 0.25):
        uneven = zipf(blocks, share * blocks * blocks)
        even = torch.full_like(uneven, round(uneven.double().mean().item()))
        lists = {name: listed(blocks, counts) for name, counts in (("equal", even), ("zipf", uneven))}
        rates = {name: [] for name in lists}
        # In turns, after the first: the chip is warm, and gets no slower on the way.
        for turn in range(4):
            for name, (ids, numbers_) in lists.items():
                pairs = int(numbers_.long().sum()) * BLOCK * BLOCK
                ms = time(lambda: program(q, k, v, ids, numbers_), 0.3)
                if turn:
                    rates[name].append(4 * D * pairs / ms / 1e9)
        times = {f"{name} TFLOP/s": statistics.median(found) for name, found in rates.items()}
        times["longest"] = int(uneven.max())
        times["slower by"] = times["equal TFLOP/s"] / times["zipf TFLOP/s"] - 1
        report(f"ragged {share:.0%} {n}", times)


KV, ROWS = 4, 32


def shared_lists(n, key, share, causal):
    """Random lists of blocks of `key` keys that 32 rows of a group share, in rising order: ids, counts and live pairs of H heads."""
    rows, blocks = n // ROWS, n // key
    past = torch.arange(rows, device="cuda") * ROWS // key if causal else torch.full((rows,), blocks, device="cuda")
    counts = (past * share).ceil().long()
    capacity = int(counts.max())
    place, ids = torch.arange(capacity, device="cuda"), []
    for _ in range(KV):
        chosen = torch.rand(rows, blocks, device="cuda").masked_fill(torch.arange(blocks, device="cuda") >= past[:, None], -1.0)
        order = chosen.topk(capacity, dim=-1).indices
        kept = torch.where(place < counts[:, None], order, blocks).sort(-1).values
        ids.append(torch.where(kept < blocks, kept, -1).int())
    pairs = int(counts.sum()) * key * ROWS * H
    if causal:
        pairs += H * rows * (ROWS * (ROWS + 1) // 2)
    return torch.stack(ids)[None].contiguous(), counts.int().expand(1, KV, rows).contiguous(), pairs


def tokens_of_group(report, n):
    """Lists of single keys and of small blocks, shared by 32 rows of the four heads of a group; Kascade's, with its diagonal, last."""
    ids, counts, keys = f"tensor<?x{KV}x?x?xi32>", f"tensor<?x{KV}x?xi32>", tokens(KV)
    q, k, v = draw(n), draw(n, KV), draw(n, KV)
    for key, causal in ((16, False), (8, False), (4, False), (2, False), (1, False), (1, True)):
        set = [f"%listed = sparsity.blocks %ids, %counts query [{ROWS}] key [{key}] group {H // KV} : {ids}, {counts}"]
        if causal:
            set += [f"%own = sparsity.block_diagonal {ROWS}", "%some = sparsity.union %listed, %own", PAST,
                    "%set = sparsity.intersect %some, %past"]
        else:
            set[0] = set[0].replace("%listed", "%set")
        program = lacuna.compile(function([f"%q: {Q}", f"%k: {keys}", f"%v: {keys}", f"%ids: {ids}", f"%counts: {counts}"], [("%o", Q)],
                                          set + [f"%o = attn.attend %q, %k, %v over %set : {Q}, {keys}, {keys} -> {Q}"]))
        lists, numbers_, pairs = shared_lists(n, key, 0.1, causal)
        ms = time(lambda: program(q, k, v, lists, numbers_))
        report(f"tokens key {key}{' causal, diagonal' if causal else ''} {n}", {"ms": ms, "TFLOP/s": 4 * D * pairs / ms / 1e9})


def density(report, n):
    """Lists of growing density against attention to everything."""
    blocks = n // BLOCK
    q, k, v = draw(n), draw(n), draw(n)
    dense = lacuna.compile(function([f"%q: {Q}", f"%k: {K}", f"%v: {V}"], [("%o", Q)], [
        "%set = sparsity.all", f"%o = attn.attend %q, %k, %v over %set : {Q}, {K}, {V} -> {Q}"]))
    program = lacuna.compile(attention(False))
    whole_ms = time(lambda: dense(q, k, v))
    report(f"density dense {n}", {"ms": whole_ms, "TFLOP/s": 4 * D * H * n * n / whole_ms / 1e9})
    for share in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0):
        counts = torch.full((1, H, blocks), round(share * blocks), device="cuda", dtype=torch.long)
        ids, numbers_ = listed(blocks, counts)
        ms = time(lambda: program(q, k, v, ids, numbers_))
        report(f"density {share:.0%} {n}", {"ms": ms, "TFLOP/s": 4 * D * int(numbers_.long().sum()) * BLOCK * BLOCK / ms / 1e9,
                                             "dense / sparse": whole_ms / ms})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json")
    parser.add_argument("--tokens", type=int, default=131072)
    options = parser.parse_args()
    wanted = lambda name: not options.words or any(word in name for word in options.words)
    results = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}

    def report(name, values):
        results[name] = values
        print(f"{name:44} " + "  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                                        for key, value in values.items()), flush=True)

    if wanted("check"):
        check(report)
    if wanted("steps"):
        steps(report, options.tokens)
    if wanted("chain"):
        whole(report, options.tokens)
    if wanted("ragged"):
        ragged(report, min(options.tokens, 32768))
    if wanted("tokens"):
        tokens_of_group(report, min(options.tokens, 32768))
    if wanted("density"):
        density(report, min(options.tokens, 32768))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
