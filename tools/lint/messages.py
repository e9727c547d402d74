"""Checks that the text of every diagnostic of dialects and compiler occurs in a test."""
import re

import common

CALL = re.compile(r"\b(?:emitOpError|emitError|attachNote|emitWarning)\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ALLOWED = common.ROOT / "tools/lint/untested-messages.txt"


def statement(text, start):
    """What follows `start` up to the end of the statement, comments left out."""
    end, quoted = start, False
    while end < len(text) and (quoted or text[end] != ";"):
        if text[end] == '"' and text[end - 1] != "\\":
            quoted = not quoted
        end += 1
    return re.sub(r"//[^\n]*", "", text[start:end])


def texts_of(source):
    """Pairs of line and literal of every diagnostic; adjacent literals are one."""
    for match in CALL.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        body = re.sub(r'"\s*\n?\s*"', "", statement(source, match.end()))
        for literal in LITERAL.findall(body):
            # Short pieces between two values ("' and '") say nothing on their own.
            if len(literal.strip()) >= 12:
                yield line, literal.replace('\\"', '"').strip()


def main():
    tests = "\n".join(common.read(path) for path in common.files(".mlir", ".test", ".cpp")
                      if str(path).startswith("test/"))
    # A message that a test splits over lines or writes with escapes still counts.
    tests = re.sub(r'"\s*\n\s*"', "", tests).replace('\\"', '"').replace("\\'", "'")
    allowed = {}
    if ALLOWED.exists():
        for line in ALLOWED.read_text().splitlines():
            if line and not line.startswith("#"):
                message, _, reason = line.partition(" | ")
                allowed[message] = reason
    problems, used = [], set()
    for path in common.files(".cpp", ".td"):
        if not str(path).startswith(("dialects/", "compiler/")):
            continue
        for line, text in texts_of(common.read(path)):
            if text in allowed:
                used.add(text)
            elif text not in tests:
                problems.append((path, line, f"no test has the message '{text}'"))
    for message, reason in allowed.items():
        if message not in used:
            problems.append((ALLOWED.relative_to(common.ROOT), 1, f"no code has the message '{message}'"))
        elif not reason.strip():
            problems.append((ALLOWED.relative_to(common.ROOT), 1, f"'{message}' is listed without a reason"))
    common.finish("messages", problems)


main()
