"""Shapes of results as functions of the arguments, from the formulas that a program declares."""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Sequence

Shapes = Callable[[Sequence[Any], Sequence[Any]], "tuple[tuple[Any, ...], ...]"]

_BINARY = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "floor-div": "({} // {})",
    "ceil-div": "(-(-{} // {}))",
    "mod": "({} % {})",
    "min": "minimum({}, {})",
    "max": "maximum({}, {})",
    "gcd": "gcd({}, {})",
    "equal": "({} == {})",
    "less": "({} < {})",
    "less-equal": "({} <= {})",
    "and": "(({} != 0) & ({} != 0))",
    "or": "(({} != 0) | ({} != 0))",
}


def _read(words: list[str]) -> tuple[str, bool]:
    """The Python expression of the formula at the front of ``words``, and whether it reads numbers."""
    word = words.pop(0)
    if word != "(":
        return str(int(word)), False
    operation = words.pop(0)
    if operation in ("extent", "scalar"):
        numbers = [int(words.pop(0)) for _ in range(2 if operation == "extent" else 1)]
        text = "shapes[{}][{}]" if operation == "extent" else "numbers[{}]"
        expression, scalar = text.format(*numbers), operation == "scalar"
    elif operation == "select":
        parts = [_read(words) for _ in range(3)]
        expression = "({1} if {0} else {2})".format(*(part for part, _ in parts))
        scalar = any(reads for _, reads in parts)
    else:
        left, right = _read(words), _read(words)
        expression, scalar = _BINARY[operation].format(left[0], right[0]), left[1] or right[1]
    assert words.pop(0) == ")"
    return expression, scalar


def shape_function(formulas: Sequence[Sequence[str]], minimum: Callable[[Any, Any], Any] = min,
                   maximum: Callable[[Any, Any], Any] = max) -> tuple[Shapes, bool]:
    """A function of (shapes of arguments, numbers of arguments) that gives the shapes of all results,
    and whether it reads the numbers. Works on symbolic integers where ``minimum`` and ``maximum`` do."""
    reads_numbers, shapes = False, []
    for axes in formulas:
        extents = []
        for formula in axes:
            expression, reads = _read(re.findall(r"[()]|[^\s()]+", formula))
            reads_numbers |= reads
            extents.append(expression + ",")
        shapes.append("(" + " ".join(extents) + "),")
    source = "lambda shapes, numbers: (" + " ".join(shapes) + ")"
    return eval(source, {"minimum": minimum, "maximum": maximum, "gcd": math.gcd}), reads_numbers  # noqa: S307
