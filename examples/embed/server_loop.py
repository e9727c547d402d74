"""A server loop with changing lengths under CUDA graphs: python server_loop.py [--steps N] [--device cpu|cuda]

Requests of different lengths are packed into one row of tokens, and their borders are data: a step with other lengths
writes other offsets and replays the same graph. One graph per capacity serves every mix of lengths below it. On the
CPU the same loop runs without graphs.
"""
import argparse
import random

import torch

import lacuna

HEADS, KV_HEADS, DIM = 8, 2, 64
CAPACITIES = (1024, 4096, 16384)
MOST_REQUESTS = 64

SPEC = f"""
func.func @packed(%q: tensor<1x{HEADS}x?x{DIM}xTYPE>, %k: tensor<1x{KV_HEADS}x?x{DIM}xTYPE>,
                  %v: tensor<1x{KV_HEADS}x?x{DIM}xTYPE>, %offsets: tensor<?xi32>) -> tensor<1x{HEADS}x?x{DIM}xTYPE> {{
  %own = sparsity.documents %offsets, %offsets causal : tensor<?xi32>, tensor<?xi32>
  %o = attn.attend %q, %k, %v over %own
    : tensor<1x{HEADS}x?x{DIM}xTYPE>, tensor<1x{KV_HEADS}x?x{DIM}xTYPE>, tensor<1x{KV_HEADS}x?x{DIM}xTYPE>
    -> tensor<1x{HEADS}x?x{DIM}xTYPE>
  return %o : tensor<1x{HEADS}x?x{DIM}xTYPE>
}}
"""


class Lane:
    """Buffers of one capacity, and the graph that works on them."""

    def __init__(self, program: lacuna.Program, capacity: int, device: torch.device, dtype: torch.dtype) -> None:
        def buffer(heads: int) -> torch.Tensor:
            return torch.zeros(1, heads, capacity, DIM, device=device, dtype=dtype)

        self.program, self.capacity = program, capacity
        self.q, self.k, self.v, self.o = buffer(HEADS), buffer(KV_HEADS), buffer(KV_HEADS), buffer(HEADS)
        # Documents behind the last request are empty, but for one that holds the padding.
        self.offsets = torch.full((MOST_REQUESTS + 2,), capacity, device=device, dtype=torch.int32)
        self.graph = None
        if device.type == "cuda":
            self.run()  # Loads the program: nothing of that may be captured.
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.run()

    def run(self) -> None:
        """Queues one step on the current stream; given results need no memory."""
        self.program(self.q, self.k, self.v, self.offsets, out=self.o)

    def step(self, lengths: list[int]) -> torch.Tensor:
        borders = [0]
        for length in lengths:
            borders.append(borders[-1] + length)
        borders += [borders[-1], self.capacity] if len(lengths) < MOST_REQUESTS else [self.capacity]
        borders += [self.capacity] * (MOST_REQUESTS + 2 - len(borders))
        self.offsets.copy_(torch.tensor(borders, dtype=torch.int32), non_blocking=True)
        if self.graph is not None:
            self.graph.replay()
        else:
            self.run()
        return self.o[:, :, : sum(lengths)]


def reference(lane: Lane, lengths: list[int]) -> torch.Tensor:
    """The same by dense attention, request by request."""
    parts, start = [], 0
    for length in lengths:
        rows = slice(start, start + length)
        group = HEADS // KV_HEADS
        k, v = (tensor[:, :, rows].repeat_interleave(group, 1) for tensor in (lane.k, lane.v))
        parts.append(torch.nn.functional.scaled_dot_product_attention(lane.q[:, :, rows], k, v, is_causal=True))
        start += length
    return torch.cat(parts, 2)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=("cpu", "cuda"))
    given = options.parse_args()
    device = torch.device(given.device)
    dtype = torch.bfloat16 if given.device == "cuda" else torch.float32
    program = lacuna.compile(SPEC.replace("TYPE", "bf16" if given.device == "cuda" else "f32"), target=given.device)
    lanes: dict[int, Lane] = {}
    draw = random.Random(1)
    worst = 0.0
    for _ in range(given.steps):
        lengths = [draw.randint(1, 60) for _ in range(draw.randint(1, 16))]
        capacity = next(size for size in CAPACITIES if size >= sum(lengths))
        if capacity not in lanes:
            lanes[capacity] = Lane(program, capacity, device, dtype)
        lane = lanes[capacity]
        for tensor in (lane.q, lane.k, lane.v):
            tensor.normal_()
        got = lane.step(lengths)
        worst = max(worst, (got - reference(lane, lengths)).abs().max().item())
    print(f"{given.steps} steps on {len(lanes)} graph(s), largest difference from dense attention {worst:.2e}")
    if worst > 0.05:
        raise SystemExit("expected the same results")


if __name__ == "__main__":
    main()
