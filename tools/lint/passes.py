"""Checks that every pass has a summary, a description with its contract, a file and a test of its name."""
import re

import common

PASS = re.compile(r'^def (\w+) : Pass<"([\w-]+)"[^{]*\{(.*?)^\}', re.M | re.S)


def spellings(name):
    """PeelFullTilesPass -> PeelFullTiles, peel-full-tiles."""
    stem = name.removesuffix("Pass")
    return stem, re.sub(r"(?<!^)(?=[A-Z])", "-", stem).lower()


def main():
    problems = []
    sources = {path.name for path in common.files(".cpp") if path.parts[0] == "compiler"}
    for path in common.files("Passes.td"):
        text = common.read(path)
        for match in PASS.finditer(text):
            name, flag, body = match.groups()
            line = text.count("\n", 0, match.start()) + 1
            stem, dashed = spellings(name)
            if not name.endswith("Pass"):
                problems.append((path, line, f"expected the name of pass '{name}' to end in 'Pass'"))
            if flag != "lacuna-" + dashed:
                problems.append((path, line, f"expected the flag 'lacuna-{dashed}', got '{flag}'"))
            for word in ("summary =", "description =", "Requires:", "Leaves:"):
                if word not in body:
                    problems.append((path, line, f"pass '{name}' has no '{word.split()[0]}'"))
            if stem + ".cpp" not in sources:
                problems.append((path, line, f"pass '{name}' has no file compiler/*/{stem}.cpp"))
            test = common.ROOT / f"test/Passes/{dashed}.mlir"
            if not test.exists():
                problems.append((path, line, f"pass '{name}' has no test test/Passes/{dashed}.mlir"))
            elif not re.search(rf"RUN:.*\b{flag}\b", test.read_text()):
                problems.append((path, line, f"test/Passes/{dashed}.mlir never runs {flag}"))
    common.finish("passes", problems)


main()
