"""Finds paths of one machine, and marks of unfinished work, in the tree."""
import re

import common

# Spelt in pieces, so that this file does not find itself.
MACHINE = re.compile("/(?:" + "|".join(["wo" + "rk", "ho" + "me", "ro" + "ot", "Use" + "rs"]) + r")/[\w.]")
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")


def main():
    problems = []
    for path in common.files():
        if path.suffix in (".png", ".npy", ".gz"):
            continue
        for number, line in enumerate(common.read(path).splitlines(), 1):
            if match := MACHINE.search(line):
                problems.append((path, number, f"a path of one machine: '{match[0]}'"))
            if match := UNFINISHED.search(line):
                problems.append((path, number, f"a mark of unfinished work: '{match[0]}'"))
    common.finish("paths", problems)


main()
