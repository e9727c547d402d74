"""Calls with arguments of a signature that was seen before, as straight-line code of one program and one kind of array.

The general way of _program.py costs a few times as much: a launch on a GPU should not wait for its Python.
"""

from __future__ import annotations

import keyword
from typing import Any

from ._library import CUDA, INTEGER, TENSOR, library, raise_error

MOST_SIGNATURES = 256
"""Beyond so many the oldest knowledge is forgotten: memory does not grow with the number of lengths."""

_CALL = """
def __call__(self, {parameters}*rest, out=None, stream=None, **named):
    if {missing}rest or named:
        return self.call_general(bind(self, ({arguments}), rest, named), out, stream)
    prepared = {known}.get(type({first}))
    if prepared is not None:
        return prepared(out, stream, {arguments})
    return self.call_general(({arguments}), out, stream)
"""

_MISSING = object()
_RESERVED = {"self", "rest", "out", "stream", "named", "prepared", "bind", "missing", "new", "given", "type"}


def _bind(program: Any, arguments: Any, rest: Any, named: dict[str, Any]) -> list[Any]:
    """Arguments of a call that Python did not put into their places by itself."""
    front = next((index for index, argument in enumerate(arguments) if argument is _MISSING), len(arguments))
    named = {**{program.arguments[index].name: argument for index, argument in enumerate(arguments)
                if index > front and argument is not _MISSING}, **named}
    return program._bind((*arguments[:front], *rest), named)


def make_call(program: Any) -> Any:
    """`__call__` of one program, with its arguments by position or by name."""
    names: list[str] = []
    for index, value in enumerate(program.arguments):
        usable = value.name.isidentifier() and not keyword.iskeyword(value.name)
        names.append(value.name if usable and value.name not in _RESERVED and value.name not in names else f"_{index}")
    first = "None" if program._first is None else names[program._first]
    source = _CALL.format(
        parameters="".join(f"{name}=missing, " for name in names), arguments="".join(f"{name}, " for name in names),
        missing="".join(f"{name} is missing or " for name in names), first=first,
        known="(new if out is None else given)" if program._first is not None else "{}")
    given, new = program.prepared
    scope = {"missing": _MISSING, "bind": _bind, "new": new, "given": given}
    exec(compile(source, f"<call of {program.name}>", "exec"), scope)  # noqa: S102
    scope["__call__"].__doc__ = type(program).__call__.__doc__
    return scope["__call__"]


_TEMPLATE = """
def call(out, stream, {arguments}):
{unpack}
    if {aside}:
        return slow(({arguments}), out, stream)
    key = ({key})
    pool = frames.get(key)
    if pool is None:
        pool = remember(key)
    frame = pool.pop() if pool else make(({arguments}), out)
    words = frame.words
{fill}
{results}
    if run(frame.call_address, {stream}, frame.reference):
        fail(frame.take_error())
    pool.append(frame)
    return {returned}
"""


def make_prepared_call(program: Any, adapter: Any, given: bool) -> Any:
    """The call for arrays of the adapter's type, into given results or new ones; arguments of another type go the
    general way."""
    kinds, places, on_gpu = program._kinds, program.places, program._device_type == CUDA
    names = [f"a{index}" for index in range(len(kinds))]
    made = [f"r{index}" for index in range(len(program.results))]
    tensors = [name for name, kind in zip(names, kinds) if kind == TENSOR] + (made if given else [])
    aside = [f"type({name}) is not kind" for name in tensors]
    if adapter.ASIDE:
        aside.append(adapter.ASIDE.format(requires=" or ".join(f"{name}.requires_grad" for name in tensors)))
    unpack = ["pass"]
    if given:
        aside += [adapter.LOCKED.format(name) for name in made]
        unpack = ["if type(out) is not tuple and type(out) is not list:", "    out = (out,)",
                  f"if len(out) != {len(made)}:", f"    return slow(({', '.join(names)},), out, stream)",
                  f"({', '.join(made)},) = out"]
    key = [piece.format(name) for name in tensors for piece in adapter.KEY]
    fill, places_of_tensors, places_of_numbers = [], iter(places.tensors), iter(places.numbers)
    for index, (name, kind) in enumerate(zip(names, kinds)):
        if kind == TENSOR:
            fill.append(f"words[{next(places_of_tensors)}] = {adapter.ADDRESS.format(name)}")
            continue
        view, check, wanted = ("integers", "integer", "int") if kind == INTEGER else ("floats", "number", "float")
        fill.append(f"frame.{view}[{next(places_of_numbers)}] = {name} if type({name}) is {wanted} and "
                    f"{'-limit <= ' + name + ' < limit' if kind == INTEGER else 'True'} else {check}({index}, {name})")
        if program.shapes_read_numbers:
            key.append(name)
    results = [] if given else [adapter.PICK if on_gpu else "pass", "shapes, strides = frame.shapes, frame.strides"]
    for index, name in enumerate(made):
        if not given:
            results.append(f"{name} = empty(shapes[{index}], {adapter.STRIDES.format(index)}type{index})")
        results.append(f"words[{places.results[index]}] = {adapter.ADDRESS.format(name)}")
    source = _TEMPLATE.format(
        arguments=", ".join(names) + ",", aside=" or ".join(aside), key=", ".join(key) + ",",
        unpack="\n".join("    " + line for line in unpack),
        fill="\n".join("    " + line for line in fill), results="\n".join("    " + line for line in results),
        stream=f"({adapter.STREAM} if stream is None else stream) or None" if on_gpu else "stream or None",
        returned=made[0] if len(made) == 1 else "(" + ", ".join(made) + ",)")
    frames: dict[Any, list[Any]] = {}

    def remember(key: Any) -> list[Any]:
        if len(frames) >= MOST_SIGNATURES:
            frames.clear()
        return frames.setdefault(key, [])

    adapters = [adapter if kind == TENSOR else None for kind in kinds]

    def make(arguments: Any, out: Any) -> Any:
        return program.make_frame(adapters, arguments, out)

    def slow(arguments: Any, out: Any, stream: Any) -> Any:
        return program.call_general(arguments, out, stream)

    scope = {"kind": adapter.kind, "frames": frames, "remember": remember, "make": make, "slow": slow,
             "run": library.lacuna_run_call, "fail": raise_error, "integer": program.integer,
             "number": program.number, "limit": 2**63, **adapter.names(on_gpu)}
    dtypes = [adapter.dtypes.get(key) for key in program._result_types]
    if not all(dtypes) and not given:
        return lambda out, stream, *arguments: slow(arguments, out, stream)
    scope.update({f"type{index}": dtype for index, dtype in enumerate(dtypes)})
    exec(compile(source, f"<prepared call of {program.name}>", "exec"), scope)  # noqa: S102
    return scope["call"]
