"""Hardware counters of one launch of a speed case, from Nsight Compute.

    python3 counters.py LACUNA WORD [WORD ...] [--set NAME=VALUE,...] [--csv FOLDER]

A word chooses the cases of speed_cases.py whose name has it. `lacuna bench` runs under ncu; its fourth launch is replayed for
the counters, with the clocks left alone, so that the clock is that of a chip that is not warm: compare shares, not TFLOP/s.
Counters that this ncu does not know are left out and named.
"""
import argparse
import csv
import io
import os
import re
import sys
import tempfile

import process
import speed_cases

RUN_SECONDS = 120
# What to ask for, how to call it, and what to multiply it by.
METRICS = [
    ("gpu__time_duration.sum", "time, us", 1e-3),
    ("sm__cycles_elapsed.avg.per_second", "clock, GHz", 1e-9),
    ("sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active", "matrix instructions, % of peak", 1),
    ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "matrix pipe active, %", 1),
    ("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "exp2 and conversions, % of peak", 1),
    ("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "fma, % of peak", 1),
    ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "alu, % of peak", 1),
    ("smsp__issue_active.avg.pct_of_peak_sustained_active", "issue slots, % used", 1),
    ("smsp__inst_executed.sum", "warp instructions, millions", 1e-6),
    ("smsp__inst_executed_op_local_ld.sum", "local loads, millions", 1e-6),
    ("l1tex__data_bank_conflicts_pipe_lsu.sum", "bank conflicts, millions", 1e-6),
    ("lts__t_bytes.sum.per_second", "L2, TB/s", 1e-12),
    ("lts__t_sector_hit_rate.pct", "L2 hits, %", 1),
    ("dram__bytes_read.sum.per_second", "memory reads, TB/s", 1e-12),
]
STALLS = ("barrier", "branch_resolve", "dispatch_stall", "gmma", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle",
          "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected", "short_scoreboard", "sleeping",
          "tex_throttle", "wait", "drain")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
UNITS = {"nsecond": 1, "usecond": 1e3, "msecond": 1e6, "second": 1e9, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def collect(lacuna, path, values, metrics):
    """The outcome of ncu and what it printed as tables."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--kernel-name", "regex:attend", "--launch-skip", "3",
               "--launch-count", "1", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics),
               lacuna, "bench", path, "--set", values, "--target=cuda"]
    return process.run(command, RUN_SECONDS)


def parse(text):
    """Values by metric, from the lines of ncu that are CSV: names, units, values."""
    rows = list(csv.reader(io.StringIO("\n".join(line for line in text.splitlines() if line.startswith('"')))))
    if len(rows) < 3:
        return {}
    found = {}
    for name, unit, value in zip(rows[0], rows[1], rows[2]):
        try:
            found[name] = float(value.replace(",", "")) * (UNITS.get(unit, 1) if "duration" in name else 1)
        except ValueError:
            continue
    return found


def counters(lacuna, path, values):
    """Values by metric, the names that ncu refuses left out; or a message."""
    wanted = [name for name, _, _ in METRICS] + [STALL.format(reason) for reason in STALLS]
    for _ in range(4):
        done = collect(lacuna, path, values, wanted)
        found = parse(done.out)
        if found:
            return found, [name for name in wanted if name not in found], done
        unknown = [name for name in wanted if re.search(re.escape(name.split(".")[0]) + r"\b", done.err + done.out)]
        if not unknown or len(unknown) == len(wanted):
            break
        wanted = [name for name in wanted if name not in unknown]
    return {}, [], done


def show(case, found, missing):
    print(f"== {case.name}")
    for name, title, factor in METRICS:
        if name in found:
            print(f"  {title:34}{found[name] * factor:10.2f}")
    stalls = sorted(((found[STALL.format(reason)], reason) for reason in STALLS if STALL.format(reason) in found), reverse=True)
    print("  warps per issue, by what they wait for: "
          + ", ".join(f"{reason} {value:.2f}" for value, reason in stalls[:8] if value > 0.005))
    left_out = [name for name in missing if not name.startswith("smsp__average")]
    if left_out:
        print("  not known here: " + ", ".join(left_out))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lacuna")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--set", help="instead of the size that is timed")
    parser.add_argument("--csv", metavar="FOLDER", help="where what ncu printed goes")
    options = parser.parse_intermixed_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in speed_cases.chosen(options.words):
            path = os.path.join(folder, "case.mlir")
            with open(path, "w") as spec:
                spec.write(case.spec())
            found, missing, done = counters(options.lacuna, path, options.set or case.values())
            if options.csv:
                os.makedirs(options.csv, exist_ok=True)
                with open(os.path.join(options.csv, re.sub(r"[^A-Za-z0-9]+", "-", case.name) + ".csv"), "w") as out:
                    out.write(done.out + done.err)
            if found:
                show(case, found, missing)
            else:
                failures += 1
                print(f"== {case.name}: {process.explanation(done)}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
