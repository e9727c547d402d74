"""Checks the banner line, the length and the line width of every C++ and TableGen file."""
import re

import common

LONGEST_FILE = 500
LONGEST_LINE = 120
BANNER = re.compile(r"^//===- ([\w.-]+)(?: - \S.*?)? -*===//$")


def main():
    problems = []
    for path in common.files(".cpp", ".h", ".td"):
        lines = common.read(path).splitlines()
        first = BANNER.match(lines[0]) if lines else None
        # The precompiled header's carrier is one line.
        if path.name != "Pch.cpp" and (first is None or first[1] != path.name):
            problems.append((path, 1, f"expected a banner line that starts '//===- {path.name} - '"))
        if len(lines) > LONGEST_FILE:
            problems.append((path, len(lines), f"expected at most {LONGEST_FILE} lines, got {len(lines)}"))
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_LINE:
                problems.append((path, number, f"expected at most {LONGEST_LINE} columns, got {len(line)}"))
    common.finish("files", problems)


main()
