"""Builds Lacuna in several configurations, runs every suite, and counts what passed.

Run through tools/check.sh, which installs packages first. Needs only Python's standard library.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
JOBS = str(os.cpu_count() or 2)
LIT = "/usr/lib/llvm-22/bin/lit"
CLANG = {"CC": "clang-22", "CXX": "clang++-22"}


class Counts:
    """Passed, failed and skipped tests of one suite, or of all."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(*command, cwd=ROOT, env=None, limit=3600):
    """Exit code of a command, whose output goes to ours. A command that hangs counts as failed."""
    words = [str(word) for word in command]
    print("$ " + " ".join(words), flush=True)
    try:
        return subprocess.run(words, cwd=cwd, env={**os.environ, **(env or {})}, timeout=limit,
                              stdin=subprocess.DEVNULL, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"stopped after {limit} s", flush=True)
        return 124


def one(code):
    """A step that either works or does not, counted as one test."""
    return Counts(passed=1) if code == 0 else Counts(failed=1)


def build(preset, *targets):
    """Configures and builds a preset; true when both worked."""
    if run("cmake", "--preset", preset) != 0:
        return False
    wanted = [word for target in targets for word in ("--target", target)]
    return run("cmake", "--build", "--preset", preset, "-j", JOBS, *wanted) == 0


def gtest(program, env=None):
    """Counts of one GoogleTest program, from its own report. A crash leaves none and is a failure."""
    report = pathlib.Path(str(program) + ".json")
    report.unlink(missing_ok=True)
    code = run(program, "--gtest_brief=1", f"--gtest_output=json:{report}", env=env)
    if not report.exists():
        return Counts(failed=1)
    counts = Counts()
    for suite in json.loads(report.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            if test.get("failures"):
                counts.failed += 1
            elif test["status"] != "RUN" or test.get("result") != "COMPLETED":
                counts.skipped += 1
            else:
                counts.passed += 1
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def lit(folder, env=None, leave_out=None):
    """Counts of a lit run, from its report; tests whose name matches `leave_out` are not run."""
    report = BUILD / "lit-report.json"
    report.unlink(missing_ok=True)
    chosen = ["--filter-out", leave_out] if leave_out else []
    code = run(LIT, "-sv", f"-j{JOBS}", "--output", report, *chosen, folder, env=env)
    if not report.exists():
        return Counts(failed=1)
    counts = Counts()
    for test in json.loads(report.read_text())["tests"]:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            counts.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            counts.skipped += 1
        else:
            counts.failed += 1
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def suite_build():
    """The release configuration, everything."""
    return one(0 if build("release") else 1)


def suite_lints():
    """Every script of tools/lint is one test."""
    counts = Counts()
    for script in sorted((ROOT / "tools/lint").glob("*.py")):
        if script.name != "common.py":
            counts.add(one(run(sys.executable, script)))
    return counts


def suite_unit():
    """GoogleTest, property tests among them."""
    counts = Counts()
    for program in ("lacuna-lib-tests", "lacuna-compiler-tests"):
        counts.add(gtest(BUILD / "release/bin" / program))
    return counts


def suite_lit():
    """Ops, passes, pipelines, command lines and examples."""
    return lit(BUILD / "release/test")


def suite_runtime_only():
    """lib, runtime and the C library with no LLVM looked up; artifacts of the full build run there."""
    if not build("runtime-only"):
        return Counts(failed=1)
    built = BUILD / "runtime-only"
    counts = gtest(built / "bin/lacuna-lib-tests")
    with tempfile.TemporaryDirectory() as folder:
        program, library = pathlib.Path(folder) / "embed", built / "lib/liblacuna.so.0"
        code = run("gcc", "-std=c99", "-I", ROOT / "bindings/include", ROOT / "test/Bindings/Inputs/embed.c",
                   library, "-lm", f"-Wl,-rpath,{built / 'lib'}", "-o", program)
        counts.add(one(code or run(program)))
        python, artifact = python_with_numpy(), pathlib.Path(folder) / "window.lacuna"
        full = {**PYTHON_TESTS, "LACUNA_LIBRARY": str(BUILD / "release/lib/liblacuna.so.0")}
        if python is None or run(python, ROOT / "test/Python/make_artifact.py", artifact, env=full) != 0:
            counts.add(one(1))
            return counts
        here = {**PYTHON_TESTS, "LACUNA_LIBRARY": str(library), "LACUNA_TEST_ARTIFACT": str(artifact)}
        counts.add(unittest_counts(python, ROOT / "test/Python", here, "test_cuda.py"))
    return counts


# The distribution's LLVM is not instrumented: containers that cross into it look overflown, and memory that
# our side poisons in its allocators is never unpoisoned.
# Property tests draw a tenth of their cases.
SANITIZER = {
    "ASAN_OPTIONS": "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "LACUNA_PROPERTY_CASES": "200",
}


def table(script, *arguments):
    """Counts of a script of tools/gpu, from the last line that it prints."""
    words = [sys.executable, str(ROOT / "tools/gpu" / script), str(BUILD / "release/bin/lacuna"), *arguments]
    print("$ " + " ".join(words), flush=True)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    print(done.stdout + done.stderr, flush=True)
    found = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) refused)?[^\n]*\Z", done.stdout.strip())
    if not found:
        return Counts(failed=1)
    counts = Counts(*(int(number or 0) for number in found.groups()))
    if done.returncode != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


# A GPU whose memory is the host's, kernels that run there, and nothing kept between runs.
PYTHON_TESTS = {
    "LACUNA_CACHE_SIZE": "0",
    "LACUNA_FAKE_DRIVER": str(BUILD / "release/test/liblacuna-fake-driver.so"),
    "LACUNA_EMULATED_NVRTC": str(BUILD / "release/test/liblacuna-emulated-nvrtc.so"),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def python_with_numpy():
    """An interpreter that has NumPy: ours, or the distribution's; None when neither has."""
    for program in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([program, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            return program
    return None


def suite_python():
    """The Python package on the built library: NumPy on the CPU, the GPU by the fake driver."""
    program = python_with_numpy()
    if program is None:
        print("no interpreter has NumPy; tools/install-packages.sh installs it", flush=True)
        return Counts(failed=1)
    library = BUILD / "release/lib/liblacuna.so.0"
    counts = unittest_counts(program, ROOT / "test/Python", {**PYTHON_TESTS, "LACUNA_LIBRARY": str(library)})
    counts.add(one(check_wheel(program, library)))
    return counts


def check_wheel(program, library):
    """Builds the wheel by its backend, unpacks it, and runs the tests on nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        source, site = pathlib.Path(folder) / "source", pathlib.Path(folder) / "site"
        shutil.copytree(ROOT / "bindings/python", source)
        version = re.search(r"project\(Lacuna VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        build = f"import setuptools.build_meta as backend; backend.build_wheel({folder!r})"
        code = run(program, "-c", build, cwd=source, env={"LACUNA_LIBRARY": str(library), "LACUNA_VERSION": version})
        wheels = list(pathlib.Path(folder).glob(f"lacuna_attention-{version}-py3-none-*.whl"))
        if code != 0 or len(wheels) != 1:
            return 1
        shutil.unpack_archive(wheels[0], site, "zip")
        return run(program, "-m", "unittest", "discover", "-s", ROOT / "test/Python", "-p", "test_program.py",
                   env={**PYTHON_TESTS, "PYTHONPATH": str(site), "LACUNA_LIBRARY": "", "LACUNA_TEST_INSTALLED": "1"})


def unittest_counts(program, folder, env, pattern="test*.py"):
    """Counts of the tests below a folder, from the report of Python's unittest."""
    words = [program, "-m", "unittest", "discover", "-s", str(folder), "-p", pattern]
    print("$ " + " ".join(words), flush=True)
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **env}, text=True,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600, check=False)
    print(done.stderr, flush=True)
    ran = re.search(r"^Ran (\d+) tests? in", done.stderr, re.M)
    if not ran:
        return Counts(failed=1)
    said = {word: int(count) for word, count in re.findall(r"(\w+)=(\d+)", done.stderr.splitlines()[-1])}
    failed = said.get("failures", 0) + said.get("errors", 0)
    if done.returncode != 0 and failed == 0:
        failed = 1
    skipped = said.get("skipped", 0)
    return Counts(max(int(ran[1]) - failed - skipped, 0), failed, skipped)


def suite_gpu_tables():
    """The tables of tools/gpu without a GPU: every kernel compiled by NVRTC, its programs run on the CPU."""
    program, spec = BUILD / "release/bin/lacuna", ROOT / "tools/gpu/smallest.mlir"
    counts = table("verify.py", "--target=cpu", "--quick", "--deadline=1200")
    with tempfile.TemporaryDirectory() as folder:
        counts.add(one(run(BUILD / "release/bin/lacuna-random-specs", folder, "300", "3")))
        counts.add(table("verify.py", "random:", f"--random={folder}", "--text-only", "--deadline=1200"))
    # Exit code 3: this machine has no NVRTC.
    if run(program, "compile", spec, "--emit=sass-report") == 3:
        counts.add(Counts(skipped=1))
        return counts
    counts.add(table("verify.py", "--compile-only", "--quick", "--deadline=1200"))
    counts.add(table("compare.py", "--masks-only"))
    return counts


def suite_asan():
    """Unit and lit tests under the address and undefined-behaviour sanitizers."""
    if not build("asan"):
        return Counts(failed=1)
    # There is no LLVM in lib and runtime, whose leaks are ours.
    counts = gtest(BUILD / "asan/bin/lacuna-lib-tests",
                   {**SANITIZER, "ASAN_OPTIONS": SANITIZER["ASAN_OPTIONS"].replace("detect_leaks=0", "detect_leaks=1")})
    counts.add(gtest(BUILD / "asan/bin/lacuna-compiler-tests", SANITIZER))
    # Emulated kernels and those that NVRTC compiles by the dozen spend their time in programs that no sanitizer sees; their specs
    # are those of other tests.
    counts.add(lit(BUILD / "asan/test", SANITIZER, leave_out="Emulator/|Emit/(examples|spills|systems)"))
    return counts


def suite_tsan():
    """Unit tests of lib and runtime under the thread sanitizer: a race fails the program."""
    if not build("tsan"):
        return Counts(failed=1)
    return gtest(BUILD / "tsan/bin/lacuna-lib-tests")


def fuzz(target, seconds, *corpus_script):
    """A fuzzer on the corpus that a script collects in a folder, and some seconds of mutations."""
    program = BUILD / "asan/bin" / target
    with tempfile.TemporaryDirectory() as corpus:
        script, *arguments = corpus_script
        code = run(sys.executable, ROOT / "test/Fuzz" / script, corpus, *arguments)
        return one(code or run(program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", "-seed=1",
                               f"-artifact_prefix={BUILD}/asan/{target}-", corpus,
                               env={**SANITIZER, "LACUNA_CACHE_SIZE": "0"}))


def suite_fuzz():
    """The fuzzers of specs and of artifacts, each from what this tree has of them."""
    if not build("asan", "lacuna-parse-fuzz", "lacuna-artifact-fuzz"):
        return Counts(failed=1)
    counts = fuzz("lacuna-parse-fuzz", 20, "corpus.py")
    counts.add(fuzz("lacuna-artifact-fuzz", 20, "artifact_corpus.py", BUILD / "release/bin/lacuna"))
    return counts


def consume(source, build_folder, prefix, *options):
    """Whether a project that finds the installed Lacuna configures and builds."""
    code = run("cmake", "-G", "Ninja", "-S", ROOT / source, "-B", build_folder, f"-DCMAKE_PREFIX_PATH={prefix}",
               *options, env=CLANG)
    return code or run("cmake", "--build", build_folder, "-j", JOBS)


def suite_install():
    """Installs the release build; consumers of the archives, of the C library and examples/embed find it."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        prefix, consumer = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "consumer"
        shared, embed = pathlib.Path(folder) / "shared", pathlib.Path(folder) / "embed"
        examples = prefix / "share/lacuna/examples"
        code = run("cmake", "--install", BUILD / "release", "--prefix", prefix)
        code = code or run(prefix / "bin/lacuna", "--version")
        code = code or consume("test/Install", consumer, prefix)
        counts.add(one(code or run(consumer / "consumer", examples / "causal.mlir")))
        # No LLVM to be found, no C++ compiler asked for.
        code = consume("test/Install/Shared", shared, prefix, "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
        counts.add(one(code or run(shared / "shared-consumer")))
        code = consume("examples/embed", embed, prefix)
        code = code or run(embed / "compile_and_run", examples / "sliding_window_sinks.mlir")
        code = code or run(embed / "from_c", examples / "causal.mlir")
        artifact = pathlib.Path(folder) / "smallest.lacuna"
        code = code or run(prefix / "bin/lacuna", "compile", ROOT / "tools/gpu/smallest.mlir", "--emit=artifact",
                           "-o", artifact, env={"LACUNA_CACHE_SIZE": "0"})
        code = code or run(embed / "ahead_of_time", artifact, env={"LACUNA_CACHE_SIZE": "0"})
        packed = pathlib.Path(folder) / "packed.lacuna"
        code = code or run(prefix / "bin/lacuna", "compile", ROOT / "examples/embed/server_loop.mlir", "--emit=artifact",
                           "-o", packed, env={"LACUNA_CACHE_SIZE": "0"})
        code = code or run(embed / "server_loop", packed, env={"LACUNA_CACHE_SIZE": "0"})
        # A program without LLVM is a hundredth of one with it.
        if code == 0 and (embed / "ahead_of_time").stat().st_size > 8 << 20:
            print("expected ahead_of_time to have no LLVM inside", flush=True)
            code = 1
        counts.add(one(code))
    return counts


SUITES = {
    "build": suite_build,
    "lints": suite_lints,
    "unit": suite_unit,
    "lit": suite_lit,
    "python": suite_python,
    "gpu-tables": suite_gpu_tables,
    "runtime-only": suite_runtime_only,
    "install": suite_install,
    "tsan": suite_tsan,
    "asan": suite_asan,
    "fuzz": suite_fuzz,
}


def main(names):
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"check: unknown suite '{unknown[0]}', known are: {' '.join(SUITES)}", file=sys.stderr)
        return 2
    if shutil.which("cmake") is None:
        print("check: cmake is missing; run tools/check.sh, which installs it", file=sys.stderr)
        return 3
    total, lines = Counts(), []
    for name in names or SUITES:
        print(f"\n=== {name}: {SUITES[name].__doc__}", flush=True)
        start = time.monotonic()
        counts = SUITES[name]()
        total.add(counts)
        lines.append(f"{name:13} {counts}, {time.monotonic() - start:.0f} s")
        print(lines[-1], flush=True)
    print("\n=== summary\n" + "\n".join(lines))
    print(total)
    return 0 if total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
