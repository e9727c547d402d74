"""Checks that clang-format 22 would change nothing."""
import shutil
import subprocess
import sys

import common


def main():
    program = shutil.which("clang-format-22")
    if program is None:
        print("format: clang-format-22 is missing; run sh tools/install-packages.sh")
        sys.exit(3)
    sources = [str(path) for path in common.files(".cpp", ".h")]
    result = subprocess.run([program, "--dry-run", "-Werror", *sources], cwd=common.ROOT, check=False)
    print(f"format: {len(sources)} files, exit code {result.returncode}")
    sys.exit(1 if result.returncode else 0)


main()
