"""How long it takes from the text of a spec to the end of its first launch, and the host to queue a launch.

    python3 latency.py LACUNA [--runs 3] [--only WORD] [--json FILE]

Every run is a new process with empty caches of its own: NVRTC's and the driver's lie below CUDA_CACHE_PATH and HOME. 'start' is
what a process takes that does nothing. The other columns are phases that `lacuna bench --json` reports; 'total' is their sum,
the median over the runs, and 'worst' the largest. The second table runs one compilation on other sizes and numbers: the first
line compiles, and the fake driver of the unit tests (LoadedProgramTest, RelaunchTest) shows that no later one loads a kernel
or allocates.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

import process
import verify_cases

RUN_SECONDS = 40
WINDOW, WINDOW_ARGUMENTS = verify_cases.WINDOW, verify_cases.WINDOW_ARGUMENTS
VOLUME = ("%g = sparsity.grid [%n0, %n1, %n2]\n%set = sparsity.radius [%r0, %r1, %r2] in %g : !sparsity.domain<3>",
          ", %n0: index, %n1: index, %n2: index, %r0: index, %r1: index, %r2: index")
DOCUMENTS = ("%set = sparsity.documents %cu, %cu causal : tensor<?xi32>, tensor<?xi32>", ", %cu: tensor<?xi32>")
CASES = [
    ("dense D128", verify_cases.spec("%set = sparsity.all", hq=16, hkv=16, d=128), ["b=1,n=128"]),
    ("causal D64", verify_cases.spec("%set = sparsity.causal", hq=16, hkv=16, d=64), ["b=1,n=128"]),
    ("causal D256", verify_cases.spec("%set = sparsity.causal", hq=16, hkv=16, d=256), ["b=1,n=128"]),
    ("window D128", verify_cases.spec(WINDOW, arguments=WINDOW_ARGUMENTS, hq=16, hkv=16, d=128),
     ["b=1,n=128,left=100,right=0", "b=2,n=4096,left=100,right=0", "b=1,nq=65,nk=3000,left=1023,right=5",
      "b=1,n=128,left=7,right=0"]),
    ("documents D128", verify_cases.spec(DOCUMENTS[0], arguments=DOCUMENTS[1], hq=16, hkv=16, d=128),
     ["b=1,n=128,cu=0:50:128", "b=1,n=700,cu=0:1:300:700"]),
    ("3-D radius D128", verify_cases.spec(VOLUME[0], arguments=VOLUME[1], hq=16, hkv=16, d=128, axes=3),
     ["b=1,n0=4,n1=8,n2=16,r0=2,r1=5,r2=8", "b=2,n0=5,n1=9,n2=17,r0=1,r1=1,r2=3"]),
]
PHASES = ("parse", "lower", "open", "build", "first_launch")


def fresh(folder):
    """An environment whose caches are empty."""
    empty = tempfile.mkdtemp(dir=folder)
    return {"LACUNA_CACHE_DIR": os.path.join(empty, "lacuna"), "HOME": empty, "CUDA_CACHE_PATH": os.path.join(empty, "cuda"), "XDG_CACHE_HOME": empty}


def start_seconds(lacuna):
    times = []
    for _ in range(5):
        begin = time.monotonic()
        process.run([lacuna, "--version"], 10)
        times.append(time.monotonic() - begin)
    return statistics.median(times)


def cold(lacuna, path, values, runs, folder):
    """One report per run, or a message."""
    found = []
    for _ in range(runs):
        done = process.run([lacuna, "bench", path, "--set", values, "--target=cuda", "--json"], RUN_SECONDS, fresh(folder))
        if done.code:
            return process.explanation(done)
        found.append(json.loads(done.out))
    return found


def print_cold(name, start, found):
    median = lambda key: statistics.median(report[key] for report in found)
    phases = "".join(f"{1e3 * median(phase + '_seconds'):8.0f}" for phase in PHASES)
    totals = [report["cold_seconds"] for report in found]
    print(f"{name:18}{1e3 * start:7.0f}{phases}{1e3 * (start + statistics.median(totals)):8.0f}{1e3 * (start + max(totals)):8.0f}"
          f"{1e6 * median('host_seconds'):9.2f}", flush=True)


def relaunch(lacuna, name, path, sets, folder):
    """One compilation on all sets; what each takes on the GPU, and how far from the oracle it is."""
    lines = os.path.join(folder, "sets")
    with open(lines, "w") as out:
        out.write("\n".join(sets) + "\n")
    done = process.run([lacuna, "run", path, "--sets", lines, "--target=cuda", "--check", "--json", "--repeat=20"], RUN_SECONDS)
    if done.code:
        print(f"{name}: {process.explanation(done)}")
        return False
    decoder, text = json.JSONDecoder(), done.out
    while text.strip():
        report, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        print(f"{name:18} {report['set']:45} {1e6 * report['run_seconds']:9.1f} us  {'ok' if report['check']['passed'] else 'FAIL'}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lacuna")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", metavar="WORD", help="only cases whose name has it")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        start = start_seconds(options.lacuna)
        print(f"{'ms':18}{'start':>7}" + "".join(f"{phase.split('_')[0]:>8}" for phase in PHASES)
              + f"{'total':>8}{'worst':>8}{'host us':>9}")
        paths = {}
        cases = [case for case in CASES if options.only in case[0]]
        for name, text, sets in cases:
            paths[name] = os.path.join(folder, name.replace(" ", "-") + ".mlir")
            with open(paths[name], "w") as out:
                out.write(text)
            found = cold(options.lacuna, paths[name], sets[0], options.runs, folder)
            if isinstance(found, str):
                print(f"{name}: {found}")
                failed += 1
                continue
            results[name] = found
            print_cold(name, start, found)
        print("floors: total 1500 ms, host 5 us; goals: 800 ms, 3 us\n")
        for name, _, sets in cases:
            if len(sets) > 1:
                failed += not relaunch(options.lacuna, name, paths[name], sets, folder)
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"start_seconds": start, "results": results}, out, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
