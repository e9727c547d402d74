"""Checks kernels against the oracle on a GPU, from one table of cases.

    python3 verify.py LACUNA [WORD ...] [--random FOLDER] [--tool TOOL] [--deadline 240] [--keep FOLDER]
    python3 verify.py LACUNA [WORD ...] --compile-only | --target=cpu

A word chooses the cases whose title, `group: name`, has it. A case is a spec and several lines of sizes and values; one `lacuna
run --sets --check` compiles the spec once and compares every line with the f64 oracle. As many run at once as there are cores,
since the oracle is the slow part. A case that hangs is killed; what fails is listed last, and its spec is kept with --keep. A spec that the compiler refuses has failed
unless known-limits.txt says so, for random specs by the message.

--random   random specs as well, from a folder that `lacuna-random-specs FOLDER 200` wrote.
--tool     memcheck, racecheck, synccheck or initcheck: a smaller choice of cases, each under that tool of compute-sanitizer.
--compile-only  without a GPU: every spec becomes a cubin, without spills, serialised products or ignored register moves.
--text-only     as far as CUDA C++, which takes no NVRTC and a tenth of the time: what is refused, and what crashes.
--target=cpu    the same programs, with the tiles of the GPU, on the CPU; lines of more than 300 tokens are left out, unless only
           a sample of their rows is compared.
"""
import argparse
import collections
import json
import os
import re
import shutil
import sys
import tempfile
import time

import process
import verify_cases

SPEC_SECONDS, LARGE_SECONDS, TOOL_SECONDS, MOST_SMALL_TOKENS = 45, 150, 150, 300
# What is known to be wrong and may not get worse.
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known-limits.txt")


class Outcome:
    """What became of a case: lines that passed, problems, or the message that refused the spec."""

    def __init__(self, passed=0, problems=(), refused=None, seconds=0.0):
        self.passed, self.problems, self.refused, self.seconds = passed, list(problems), refused, seconds


def tokens(line):
    """Tokens that a line asks for; of a grid, the product of its sizes."""
    values = dict(part.split("=", 1) for part in line.split(","))
    lengths = [int(values[name]) for name in ("n", "nq", "nk") if name in values]
    product = 1
    for name in ("n0", "n1", "n2"):
        product *= int(values.get(name, 1))
    return max(lengths + [product])


def reports(text):
    """The JSON reports that stand one after another."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while True:
        start = text.find("{", at)
        if start < 0:
            return found
        try:
            report, at = decoder.raw_decode(text, start)
        except ValueError:
            return found
        found.append(report)


def describe_failure(report):
    worst = [f"{result['name']}: {result['beyond']} of {result['values']} values, worst at {result['worst_at']}: got "
             f"{short(result['worst_got'])}, exact {short(result['worst_exact'])}, {short(result['worst_of_tolerance'])} of its tolerance"
             for result in report["check"]["results"] if not result["passed"]]
    return "; ".join(worst)


def short(number):
    """JSON has words for infinities and NaN."""
    return number if isinstance(number, str) else f"{number:.4g}"


class Verifier:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.end = time.monotonic() + options.deadline

    def left(self):
        return self.end - time.monotonic()

    def write(self, number, check):
        """Files of one case; returns their common path."""
        path = os.path.join(self.folder, f"{number:04}")
        lines = check.sets
        if self.options.target == "cpu" or self.options.tool:
            sampled = any(flag.startswith("--check-rows") for flag in check.flags)
            lines = [line for line in lines if sampled or tokens(line) <= MOST_SMALL_TOKENS]
        with open(path + ".mlir", "w") as out:
            out.write(check.spec)
        with open(path + ".sets", "w") as out:
            out.write("\n".join(lines) + "\n")
        if check.files:
            os.makedirs(path, exist_ok=True)
            check.files(path)
        return path, lines

    def command(self, check, path):
        command = [self.options.lacuna, "run", path + ".mlir", "--sets", path + ".sets", "--check", "--json",
                   f"--target={self.options.target}", *check.flags]
        if not any(flag.startswith("--threads") for flag in check.flags):
            command.append("--threads=1")
        if check.files:
            command += ["--inputs", path]
        if self.options.target == "cpu":
            command += self.gpu_tiles(path)
        if self.options.tool:
            command = ["compute-sanitizer", "--tool", self.options.tool, "--error-exitcode", "9", *command]
        return command

    def gpu_tiles(self, path):
        """The tiles that the planner chooses for the GPU, where the spec has one loop to name them."""
        printed = process.run([self.options.lacuna, "compile", path + ".mlir", "--emit=tile", "--target=cuda"], SPEC_SECONDS).out
        loops = {tuple(re.findall(r"box \[([0-9, ]+)\]", line)) for line in printed.splitlines() if "tile.for_each" in line}
        if len(loops) != 1 or len(next(iter(loops))) != 2:
            return []
        query, key = (box.replace(", ", "x") for box in next(iter(loops)))
        return ["--query-tile", query, "--key-tile", key]

    def check(self, item):
        number, check = item
        begin = time.monotonic()
        path, lines = self.write(number, check)
        if self.left() <= 0:
            return Outcome(problems=["not run: the deadline came first"])
        limit = TOOL_SECONDS if self.options.tool else LARGE_SECONDS if check.group == "large" else SPEC_SECONDS
        limit = min(limit, self.left())
        outcome = self.compile(path, limit) if self.options.compile_only or self.options.text_only else self.compare(check, path, lines, limit)
        outcome.seconds = time.monotonic() - begin
        return outcome

    def compare(self, check, path, lines, limit):
        if not lines:
            return Outcome()
        done = process.run(self.command(check, path), limit)
        found = {report.get("set"): report for report in reports(done.out)}
        problems = []
        for line in lines:
            if line not in found:
                continue
            if not found[line]["check"]["passed"]:
                problems.append(f"{line}: {describe_failure(found[line])}")
        missing = [line for line in lines if line not in found]
        if missing and not found and "error:" in done.err and self.refuses(done):
            return Outcome(refused=self.refusal(done))
        if missing:
            problems.append(f"{len(missing)} lines have no result, the first {missing[0]}: {process.explanation(done)}")
        if self.options.tool and not re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", done.out + done.err):
            said = [line for line in (done.out + done.err).splitlines() if line.startswith("=========")]
            problems.append(f"{self.options.tool}: " + " ".join(" ".join(said[:12]).replace("=========", "").split())[:500])
        elif done.code and not problems:
            problems.append(process.explanation(done))
        return Outcome(len(found) - sum(not report["check"]["passed"] for report in found.values()), problems)

    @staticmethod
    def refusal(done):
        """The first diagnostic, without where it is, what is named, and numbers."""
        line = next(line for line in done.err.splitlines() if "error:" in line)
        return re.sub(r"[0-9]+", "#", re.sub(r"'[^']*'", "'...'", line.split("error:", 1)[1].strip()))[:110]

    @staticmethod
    def refuses(done):
        """Whether a diagnostic at a place in the spec ended it: the compiler says no, nothing went wrong on the GPU."""
        return done.code == 1 and re.search(r"\.mlir:\d+:\d+: error:", done.err)

    def compile(self, path, limit):
        level = "cuda" if self.options.text_only else "sass-report"
        done = process.run([self.options.lacuna, "compile", path + ".mlir", "--emit=" + level], limit)
        if done.code:
            if "error:" in done.err and self.refuses(done):
                return Outcome(refused=self.refusal(done))
            return Outcome(problems=[process.explanation(done)])
        if self.options.text_only:
            return Outcome(1)
        problems = []
        for kernel in json.loads(done.out)["kernels"]:
            for key in ("spill_bytes", "wgmma_serialized", "setmaxnreg_ignored"):
                if kernel[key]:
                    problems.append(f"{kernel['name']}: {key} {kernel[key]}")
        return Outcome(0 if problems else 1, problems)


def chosen(options):
    checks = verify_cases.table(options.random)
    if options.words:
        checks = [check for check in checks if any(word in check.title for word in options.words)]
    if options.tool:
        checks = [check for check in checks if check.sanitize]
    if options.target == "cpu" or options.quick:
        checks = [check for check in checks if not check.slow]
    return checks


def known_limits():
    """Bytes or `refused`, by title."""
    with open(LIMITS) as file:
        return dict(line.strip().rsplit(" | ", 1) for line in file if " | " in line and not line.startswith("#"))


def limit_of(outcome):
    """What would have to be known for the outcome to pass: `refused`, or the most bytes that a kernel spills; None for neither."""
    if outcome.refused is not None:
        return "refused"
    sizes = [int(problem.split()[-1]) for problem in outcome.problems if "spill_bytes" in problem]
    return str(max(sizes)) if sizes else None


def known_title(check, outcome):
    """What known-limits.txt calls it: random specs have no names that last, so their refusals go by the message."""
    return f"random: {outcome.refused}" if check.group == "random" and outcome.refused else check.title


def allowed(outcome, known):
    """Problems that are known and did not get worse are no problems; a refusal that is not known is one."""
    if outcome.refused is not None:
        if known == "refused":
            return outcome
        return Outcome(outcome.passed, ["refused: " + outcome.refused], None, outcome.seconds)
    found = limit_of(outcome)
    if found is None or known in (None, "refused") or int(found) > int(known):
        return outcome
    rest = [problem for problem in outcome.problems if "spill_bytes" not in problem]
    return Outcome(outcome.passed + (not rest), rest, None, outcome.seconds)


def write_limits(found):
    with open(LIMITS, "w") as out:
        out.write("# Cases of verify_cases.py whose kernels spill, with the bytes, or that have no kernel yet. There should be none.\n"
                  "# Written by verify.py --compile-only --write-limits.\n")
        out.writelines(f"{title} | {limit}\n" for title, limit in sorted(found.items()) if limit)


def better(found, known):
    """Whether a case came out better than what is known of it."""
    return known is not None and (found is None or known != "refused" and found != "refused" and int(found) < int(known))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lacuna")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--random", metavar="FOLDER")
    parser.add_argument("--tool", choices=["memcheck", "racecheck", "synccheck", "initcheck"])
    parser.add_argument("--target", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--text-only", action="store_true")
    parser.add_argument("--write-limits", action="store_true", help="with --compile-only: take what is found as known")
    parser.add_argument("--quick", action="store_true", help="leave out cases that resemble others")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--deadline", type=float, default=240, help="seconds after which no further case starts")
    parser.add_argument("--keep", metavar="FOLDER", help="where specs of failures go")
    parser.add_argument("--most", type=int, default=25, help="how many failures to print")
    options = parser.parse_intermixed_args()
    checks = chosen(options)
    # What takes long starts first, so that nothing is left for one core alone.
    checks.sort(key=lambda check: check.group not in ("large", "heads"))
    rows = collections.OrderedDict((check.group, [0, 0, 0, 0.0]) for check in sorted(checks, key=lambda check: check.group))
    known, limits = known_limits(), {}
    failures, refusals, begin = [], collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        verifier = Verifier(options, folder)
        for (number, check), outcome in process.in_parallel(verifier.check, list(enumerate(checks)), options.jobs):
            title = known_title(check, outcome)
            if check.group != "random" or outcome.refused:
                limits[title] = limit_of(outcome)
            outcome = allowed(outcome, known.get(title))
            row = rows[check.group]
            row[0] += outcome.passed
            row[1] += len(outcome.problems)
            row[2] += outcome.refused is not None
            row[3] += outcome.seconds
            failures += [(number, check, problem) for problem in outcome.problems]
            if outcome.refused:
                refusals[check.group if check.group == "random" else check.title, outcome.refused] += 1
        for number, check, _ in failures:
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                for ending in (".mlir", ".sets"):
                    shutil.copy(os.path.join(folder, f"{number:04}{ending}"), options.keep)
    if options.write_limits:
        write_limits({**known, **limits})
    gained = [title for title, limit in limits.items() if options.compile_only and better(limit, known.get(title))]
    if gained:
        print(f"{len(gained)} cases are better than {os.path.basename(LIMITS)} says: run with --write-limits")
    print(f"{'group':14} {'passed':>7} {'failed':>7} {'refused':>8} {'cpu s':>7}")
    for group, (passed, failed, refused, seconds) in rows.items():
        print(f"{group:14} {passed:7} {failed:7} {refused:8} {seconds:7.0f}")
    for (title, message), count in sorted(refusals.items()):
        print(f"refused {count:3} {title}: {message}")
    for number, check, problem in failures[:options.most]:
        print(f"FAILED {number:04} {check.title}: {problem}")
    if len(failures) > options.most:
        print(f"... and {len(failures) - options.most} more")
    print(f"{sum(row[0] for row in rows.values())} passed, {len(failures)} failed, {sum(refusals.values())} refused, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
