"""The Python package on a GPU: numbers, streams, graphs, devices, and the host time of a call.

    LACUNA_LIBRARY=build/release/lib/liblacuna.so.0 python3 tools/gpu/python_calls.py [--json FILE]

Needs PyTorch with a GPU. Every check is one line; the last line is 'N passed, N failed'. The host time is that of a call that
returns when its kernel is queued, the median over batches that the GPU keeps up with.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/python"))

import torch  # noqa: E402

import lacuna  # noqa: E402
import lacuna.torch  # noqa: E402

HEADS, KV_HEADS, DIM = 8, 2, 128
SPEC = f"""
func.func @window(%q: tensor<?x{HEADS}x?x{DIM}xbf16>, %k: tensor<?x{KV_HEADS}x?x{DIM}xbf16>,
                  %v: tensor<?x{KV_HEADS}x?x{DIM}xbf16>, %left: index) -> (tensor<?x{HEADS}x?x{DIM}xbf16>, tensor<?x{HEADS}x?xf32>) {{
  %near = sparsity.window left(%left) right(0)
  %o, %lse = attn.attend %q, %k, %v over %near
    : tensor<?x{HEADS}x?x{DIM}xbf16>, tensor<?x{KV_HEADS}x?x{DIM}xbf16>, tensor<?x{KV_HEADS}x?x{DIM}xbf16>
    -> tensor<?x{HEADS}x?x{DIM}xbf16>, tensor<?x{HEADS}x?xf32>
  return %o, %lse : tensor<?x{HEADS}x?x{DIM}xbf16>, tensor<?x{HEADS}x?xf32>
}}
"""


def inputs(n, batch=1, device="cuda", tokens_first=False):
    def draw(heads):
        if tokens_first:
            return torch.randn(batch, n, heads, DIM, device=device, dtype=torch.bfloat16).transpose(1, 2)
        return torch.randn(batch, heads, n, DIM, device=device, dtype=torch.bfloat16)

    return draw(HEADS), draw(KV_HEADS), draw(KV_HEADS)


def expect(results, arrays, left):
    """Against dense attention in f32."""
    q, k, v = (tensor.float() for tensor in arrays)
    k, v = (tensor.repeat_interleave(HEADS // KV_HEADS, 1) for tensor in (k, v))
    n = q.shape[2]
    i, j = torch.arange(n, device=q.device)[:, None], torch.arange(n, device=q.device)[None, :]
    scores = (q @ k.transpose(2, 3) / DIM**0.5).masked_fill(~((j <= i) & (i - j <= left)), float("-inf"))
    torch.testing.assert_close(results[0].float(), scores.softmax(-1) @ v, atol=2e-2, rtol=2e-2)
    torch.testing.assert_close(results[1], scores.logsumexp(-1), atol=1e-2, rtol=1e-3)


def check_sizes(program):
    for n, left, batch in ((1, 0, 1), (129, 7, 2), (1000, 127, 1), (333, 5000, 3)):
        arrays = inputs(n, batch)
        expect(program(*arrays, left), arrays, left)


def check_strides(program):
    arrays = inputs(300, 2, tokens_first=True)
    expect(program(*arrays, 64), arrays, 64)


def check_current_stream(program):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)  # What comes before on the stream is late.
        arrays = inputs(512)
        results = program(*arrays, 100)
    torch.cuda.current_stream().wait_stream(stream)
    expect(results, arrays, 100)


def check_graph(program):
    arrays = inputs(700)
    out = torch.empty_like(arrays[0]), torch.empty(1, HEADS, 700, device="cuda")
    program(*arrays, 50, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        program(*arrays, 50, out=out)
    for _ in range(3):
        for tensor in arrays:
            tensor.normal_()
        graph.replay()
        expect(out, arrays, 50)


def check_threads(program):
    failures = []

    def work():
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for n in range(100, 140):
                    arrays = inputs(n)
                    expect(program(*arrays, 31), arrays, 31)
        except BaseException:  # noqa: BLE001
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def check_devices(program):
    q, k, v = inputs(64)
    for wrong in (v.cpu(), *([v.to("cuda:1")] if torch.cuda.device_count() > 1 else [])):
        try:
            program(q, k, wrong, 3)
        except lacuna.InvalidArgument as error:
            assert "argument 'v'" in str(error), error
        else:
            raise AssertionError(f"expected a refusal of a tensor on {wrong.device}")
    if torch.cuda.device_count() > 1:
        arrays = inputs(200, device="cuda:1")
        expect(program(*arrays, 9), arrays, 9)


def check_operator(program):
    operator = lacuna.torch.operator(program, "lacuna_gpu::window")
    compiled = torch.compile(lambda q, k, v, left: operator(q, k, v, left)[0] + 1, dynamic=True, fullgraph=True)
    for n in (100, 257, 640):
        arrays = inputs(n)
        torch.testing.assert_close(compiled(*arrays, 40), program(*arrays, 40)[0] + 1)


def check_dlpack(program):
    class Foreign:
        """A tensor that shows nothing but DLPack."""

        def __init__(self, tensor):
            self.tensor, self.shape = tensor, tensor.shape

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    arrays = inputs(150)
    results = program(*map(Foreign, arrays), 20)
    torch.cuda.synchronize()
    expect(tuple(torch.from_dlpack(result) for result in results), arrays, 20)


def check_examples(_):
    for words in (["torch_module.py"], ["server_loop.py", "--steps=50"]):
        done = subprocess.run([sys.executable, str(ROOT / "examples/embed" / words[0]), *words[1:], "--device=cuda"],
                              text=True, capture_output=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")})
        assert done.returncode == 0, done.stderr[-2000:]


def host_microseconds(call, batches=200, calls=50):
    """Median time of a call; between batches the GPU catches up."""
    times = []
    for _ in range(batches):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json")
    given = options.parse_args()
    program = lacuna.compile(SPEC, target="cuda")
    failed, checks = 0, [(name, check) for name, check in globals().items() if name.startswith("check_")]
    for name, check in checks:
        try:
            check(program)
            print(f"{name:22} ok", flush=True)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"{name:22} failed\n{traceback.format_exc()}", flush=True)
    q, k, v = inputs(64)
    out = torch.empty_like(q), torch.empty(1, HEADS, 64, device="cuda")
    operator = lacuna.torch.operator(program, "lacuna_gpu::window")
    times = {"new results": host_microseconds(lambda: program(q, k, v, 16)),
             "given results": host_microseconds(lambda: program(q, k, v, 16, out=out)),
             "operator": host_microseconds(lambda: operator(q, k, v, 16)),
             "torch.add, for comparison": host_microseconds(lambda: torch.add(q, q, out=out[0]))}
    for name, microseconds in times.items():
        print(f"{name:26} {microseconds:6.1f} us")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps({"host_us": times, "failed": failed}))
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
