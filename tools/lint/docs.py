"""Checks that relative links in Markdown lead somewhere, and that every example is shown."""
import re

import common

LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def main():
    problems = []
    pages = common.files(".md")
    for path in pages:
        fenced = False
        for number, line in enumerate(common.read(path).splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            for target in [] if fenced else LINK.findall(line):
                if "://" not in target and not (common.ROOT / path.parent / target).exists():
                    problems.append((path, number, f"the link to '{target}' leads nowhere"))
    page = common.ROOT / "docs/examples.md"
    shown = page.read_text(encoding="utf-8") if page.exists() else ""
    for path in common.files(".mlir"):
        # Which pairs of a system are live depends on its inputs: there is nothing to draw.
        sign = f"## systems/{path.stem}\n" if path.parts[1] == "systems" else f"images/{path.stem}.svg"
        # Those of applications are shown where the applications are.
        if path.parts[0] == "examples" and path.parts[1] != "embed" and sign not in shown:
            problems.append((path, 1, "docs/examples.md does not show this example; run tools/make-pictures.sh"))
    common.finish("docs", problems)


main()
