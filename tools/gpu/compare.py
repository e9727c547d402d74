"""Times Lacuna beside cuDNN and FlexAttention on one GPU, in one run.

    python3 compare.py LACUNA [WORD ...] [--json FILE] [--rounds 2] [--deadline 420] [--no-peers] [--masks-only]

A word chooses the cases whose name has it. First, all at once: every peer compiles in a process of its own, and Lacuna is
checked against the oracle, all rows at a small size and a sample of rows at the size that is timed. Then, one at a time and in
turns (Lacuna, peer, Lacuna, peer; the chip is power limited, so what counts are ratios of neighbours): `lacuna bench` and the
peer, both the median of 20 runs on random normal numbers, after 0.2 s of warming, with the cache overwritten before each.
TFLOP/s count live pairs only: 2 (d + dv) operations per pair. A FlexAttention mask must have as many live pairs as the spec.

--masks-only needs no GPU: it compares masks and specs at small sizes.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time

import process
import speed_cases

HERE = os.path.dirname(os.path.abspath(__file__))
PREPARE_SECONDS, BENCH_SECONDS, PEER_SECONDS, CHECK_SECONDS = 180, 60, 30, 120
SAMPLED_ROWS = 192
MATRIX_FLOPS = 2 * 8192 ** 3


class Clock(threading.Thread):
    """Samples the clock of the multiprocessors; `lowest` is what they fall to under load."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples = []
        try:
            import pynvml
            pynvml.nvmlInit()
            device = pynvml.nvmlDeviceGetHandleByIndex(0)
            self.read = lambda: pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)
            self.start()
        except Exception:
            self.read = None

    def run(self):
        while True:
            self.samples.append((time.monotonic(), self.read()))
            time.sleep(0.01)

    def lowest(self, since):
        """In MHz; idle clocks do not count."""
        return min((clock for when, clock in list(self.samples) if when >= since and clock > 1000), default=None)


class Comparison:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.end = time.monotonic() + options.deadline
        self.cases = speed_cases.chosen(options.words)
        self.results = {case.name: {"case": case.name, "lacuna": [], "peer": {}} for case in self.cases}
        self.servers, self.clock = {}, Clock()

    def left(self):
        return self.end - time.monotonic()

    def write(self, case, kind, parameters=None):
        path = os.path.join(self.folder, f"{speed_cases.CASES.index(case)}-{kind}.mlir")
        with open(path, "w") as spec:
            spec.write(case.spec(parameters))
        return path

    # What is done all at once.

    def start_peers(self):
        lock, log = os.path.join(self.folder, "lock"), open(os.path.join(self.folder, "peers.log"), "w")
        for name in ["matrix product"] + [case.name for case in self.cases]:
            self.servers[name] = process.Server([sys.executable, os.path.join(HERE, "peer.py"), name, lock], log)

    def check(self, case):
        """Empty when the oracle agrees."""
        small = case.small_parameters
        runs = [(self.write(case, "small", small), case.values(small), "--check"),
                (self.write(case, "full"), case.values(), f"--check-rows={SAMPLED_ROWS}")]
        for spec, values, how in runs:
            command = [self.options.lacuna, "run", spec, "--set", values, "--target=cuda", "--threads=4", how]
            outcome = process.run(command, min(CHECK_SECONDS, self.left()))
            if outcome.code:
                return f"{how} --set {values[:60]}: {process.explanation(outcome)}"
        return ""

    def prepare(self):
        begin = time.monotonic()
        if not self.options.no_peers:
            self.start_peers()
        if not self.options.no_check:
            for case, problem in process.in_parallel(self.check, self.cases, 4):
                self.results[case.name]["check"] = problem or "ok"
        for name, server in list(self.servers.items()):
            answer = server.answer(min(PREPARE_SECONDS - (time.monotonic() - begin), self.left()))
            if "error" in answer:
                self.results.setdefault(name, {})["peer_error"] = answer["error"]
                self.servers.pop(name).stop()
            else:
                self.results.setdefault(name, {})["notes"] = answer
        print(f"prepared in {time.monotonic() - begin:.0f} s", flush=True)

    # What is done one at a time.

    def bench(self, case):
        result, since = self.results[case.name], time.monotonic()
        spec, values = self.write(case, "full"), case.values()
        outcome = process.run([self.options.lacuna, "bench", spec, "--set", values, "--target=cuda", "--json"],
                              min(BENCH_SECONDS, self.left()))
        if outcome.code:
            result["error"] = process.explanation(outcome)
            return
        report = json.loads(outcome.out)
        result["lacuna"].append(report["median_seconds"])
        result.update(flops=report["flops"], live_pairs=report["live_pairs"], compile_seconds=report["compile_seconds"])
        result.setdefault("clocks", []).append(self.clock.lowest(since))

    def time_peer(self, name):
        result, server = self.results.setdefault(name, {}), self.servers.get(name)
        if server is None or self.left() < 5:
            return
        answer = server.ask("time", min(PEER_SECONDS, self.left()))
        if "error" in answer:
            result["peer_error"] = answer["error"]
            self.servers.pop(name).stop()
            return
        for candidate, seconds in answer.items():
            result.setdefault("peer", {}).setdefault(candidate, []).append(seconds)

    def measure(self):
        self.time_peer("matrix product")
        for case in self.cases:
            if self.left() < 10:
                self.results[case.name]["error"] = "not run: the deadline came first"
            for _ in range(self.options.rounds):
                if "error" not in self.results[case.name]:
                    self.bench(case)
                    self.time_peer(case.name)
            self.summarize(case)
        self.time_peer("matrix product")

    # What is printed.

    def matrix_rate(self):
        times = self.results.get("matrix product", {}).get("peer", {}).get("cuBLAS", [])
        return MATRIX_FLOPS / statistics.median(times) if times else None

    def summarize(self, case):
        result = self.results[case.name]
        columns = [f"{case.name:30}", "ok" if result.get("check") == "ok" else "FAIL" if "check" in result else "-"]
        problems = [result[key] for key in ("error", "peer_error") if key in result]
        if result.get("check", "ok") != "ok":
            problems.append(result["check"])
        expected = result.get("notes", {}).get("pairs")
        if expected is not None and result.get("live_pairs", expected) != expected:
            problems.append(f"the mask of the peer has {expected} live pairs, the spec {result['live_pairs']}")
        if result["lacuna"]:
            seconds = statistics.median(result["lacuna"])
            result["tflops"] = result["flops"] / seconds / 1e12
            columns += [f"{result['tflops']:6.0f}", f"{100 * result['tflops'] * 1e12 / self.matrix_rate():4.0f}%"
                        if self.matrix_rate() else "    -"]
            if result["peer"]:
                best = min(result["peer"], key=lambda name: statistics.median(result["peer"][name]))
                result["peer_name"], peer = best, statistics.median(result["peer"][best])
                result["peer_tflops"], result["ratio"] = result["flops"] / peer / 1e12, peer / seconds
                columns += [f"{result['peer_tflops']:6.0f}", f"{result['ratio']:5.2f}x", f"{best:22}"]
            else:
                columns += ["     -", "     -", " " * 22]
            columns += [f"{case.floor:7}", self.verdict(case, result)]
        print("  ".join(columns), flush=True)
        for problem in problems:
            print("    " + problem, flush=True)
        result["failed"] = bool(problems) or not result["lacuna"]

    def verdict(self, case, result):
        """Whether the floor is reached, or how close a group of heads comes to equal heads."""
        if case.beside:
            other = self.results[case.beside].get("tflops")
            result["of_equal_heads"] = other and result["tflops"] / other
            return f"{100 * result['tflops'] / other:.0f}% of equal heads" if other else ""
        if not case.floor:
            return ""
        floor = float(case.floor.split()[0].rstrip("x"))
        reached = result["tflops"] if case.floor.endswith("TF") else result.get("ratio")
        return "" if reached is None else "reached" if reached >= floor else "below"

    def run(self):
        self.prepare()
        print(f"{'case':30}  ok  {'TF/s':>6}  {'of':>5}  {'peer':>6}  {'ratio':>6}  {'which':22}  {'floor':7}")
        self.measure()
        rates = [MATRIX_FLOPS / seconds / 1e12
                 for seconds in self.results.get("matrix product", {}).get("peer", {}).get("cuBLAS", [])]
        print("'of' is the share of an 8192-cubed matrix product of cuBLAS, before and after: "
              + ", ".join(f"{rate:.0f}" for rate in rates) + " TFLOP/s")
        for server in self.servers.values():
            server.stop()
        return 1 if any(self.results[case.name]["failed"] for case in self.cases) else 0


def machine():
    """Versions of what took part."""
    ask = lambda *command: process.run(list(command), 10).out.strip()
    return {"gpu": ask("nvidia-smi", "--query-gpu=name,driver_version,power.limit", "--format=csv,noheader"),
            "commit": ask("git", "-C", HERE, "rev-parse", "--short", "HEAD"),
            "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime())}


def count_mask(case, parameters):
    """Live pairs of a head, by Python."""
    mask, n = case.mask(parameters, list), parameters["n"]
    return sum(bool(mask(0, 0, i, j)) for i in range(n) for j in range(n))


def compare_mask(lacuna, case, folder):
    """Empty when the peer's mask has as many live pairs as the spec, at the small size."""
    parameters = case.small_parameters
    path = os.path.join(folder, f"{speed_cases.CASES.index(case)}-small.mlir")
    with open(path, "w") as spec:
        spec.write(case.spec(parameters))
    outcome = process.run([lacuna, "explain", path, "--set", case.values(parameters), "--json"], 60)
    if outcome.code:
        return process.explanation(outcome)
    counted = json.loads(outcome.out)["attends"][0]["total_live_pairs"]
    expected = case.h * parameters["b"] * count_mask(case, parameters)
    return "" if counted == expected else f"the mask has {expected} live pairs, the spec {counted}"


def masks_only(options, folder):
    failures = 0
    cases = [case for case in speed_cases.chosen(options.words) if case.mask]
    for case in cases:
        problem = compare_mask(options.lacuna, case, folder)
        failures += bool(problem)
        print(f"{case.name:30}  {problem or 'ok'}", flush=True)
    print(f"{len(cases) - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lacuna")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--deadline", type=float, default=420, help="seconds after which no further case starts")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--masks-only", action="store_true")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.masks_only:
            return masks_only(options, folder)
        comparison = Comparison(options, folder)
        try:
            return comparison.run()
        finally:
            if options.json:
                with open(options.json, "w") as out:
                    json.dump({"machine": machine(), "command": sys.argv, "results": comparison.results}, out, indent=1)


if __name__ == "__main__":
    sys.exit(main())
