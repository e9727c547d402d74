"""Finds FileCheck directives and expected diagnostics that check nothing.

FileCheck says nothing about a directive without a colon, about a misspelt one, or about a file whose
RUN lines never call it.
"""
import re

import common

# A directive stands behind a comment sign, or at the start of a line of a .test file.
SIGN = r"^\s*(?:(?://|#|;)\s*)?"
RUN = re.compile(SIGN + r"RUN:(.*)$", re.M)
PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")
SUFFIX = r"(?:-NEXT|-SAME|-NOT|-DAG|-LABEL|-EMPTY|-COUNT-\d+)?"
WORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "END"}
CAPITALS = re.compile(SIGN + r"([A-Z][A-Z0-9_-]{2,}):")


def problems_of(path):
    text = common.read(path)
    runs = " ".join(RUN.findall(text))
    if not runs:
        yield 1, "expected a RUN line"
        return
    prefixes = {word for group in PREFIXES.findall(runs) for word in group.split(",")}
    calls = len(re.findall(r"\bFileCheck\b", runs))
    if calls > len(PREFIXES.findall(runs)):
        prefixes.add("CHECK")
    names = "|".join(sorted(map(re.escape, prefixes | {"CHECK"}), key=len, reverse=True))
    directive = re.compile(SIGN + rf"({names}){SUFFIX}(:|\{{|\s|$)")
    found = set()
    for number, line in enumerate(text.split("\n#--- ")[0].splitlines(), 1):
        if match := directive.match(line):
            if calls == 0:
                yield number, "a FileCheck directive in a file whose RUN lines never call FileCheck"
            elif match[2] not in (":", "{"):
                yield number, f"the directive '{line.strip()}' has no colon"
            elif match[1] not in prefixes:
                yield number, f"no RUN line uses the prefix '{match[1]}'"
            found.add(match[1])
        elif (match := CAPITALS.match(line)) and match[1] not in WORDS:
            yield number, f"'{match[1]}:' is neither a directive of this file nor a keyword of lit"
        if "expected-" in line and re.search(r"expected-(error|warning|note|remark)", line):
            if "verify-diagnostics" not in runs:
                yield number, "an expected diagnostic in a file whose RUN lines never verify diagnostics"
    for prefix in sorted(prefixes - found):
        yield 1, f"no directive has the prefix '{prefix}'"


def main():
    tests = [path for path in common.files(".mlir", ".test")
             if str(path).startswith("test/") and "Inputs" not in path.parts and "Fuzz" not in path.parts]
    common.finish("checks", [(path, line, text) for path in tests for line, text in problems_of(path)])


main()
