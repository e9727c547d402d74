"""Calls with arguments of a signature that was seen before, as straight-line code of one program and one kind of array.

The general way of _program.py costs a few times as much: a launch on a GPU should not wait for its Python.
"""

from __future__ import annotations

from typing import Any

from ._library import CUDA, FLOAT, INTEGER, TENSOR, library, raise_error

MOST_SIGNATURES = 256
"""Beyond so many the oldest knowledge is forgotten: memory does not grow with the number of lengths."""

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
    tensors = frame.tensors
{fill}
    shapes = frame.shapes
{results}
    if run(frame.executable, {stream}, frame.arguments_address, {count}, frame.results_address, {result_count}, frame.reference):
        fail(frame.take_error())
    pool.append(frame)
    return {returned}
"""


def make_prepared_call(program: Any, adapter: Any, given: bool) -> Any:
    """The call for arrays of the adapter's type, into given results or new ones; arguments of another type go the
    general way."""
    kinds = program._kinds
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
    fill, tensor, number = [], 0, 0
    for index, (name, kind) in enumerate(zip(names, kinds)):
        if kind == TENSOR:
            fill.append(f"words[tensors[{tensor}]] = {adapter.ADDRESS.format(name)}")
            tensor += 1
            continue
        view, check, wanted = ("_integers", "integer", "int") if kind == INTEGER else ("floats", "number", "float")
        fill.append(f"frame.{view}[frame.numbers[{number}]] = {name} if type({name}) is {wanted} and "
                    f"{'-limit <= ' + name + ' < limit' if kind == INTEGER else 'True'} else {check}({index}, {name})")
        number += 1
        if program.shapes_read_numbers:
            key.append(name)
    results = ["places = frame.results"]
    for index, name in enumerate(made):
        if not given:
            empty = adapter.EMPTY.format(shape=f"shapes[{index}]", dtype=f"dtypes[{index}]", device="frame.device")
            results.append(f"{name} = {empty}")
        results.append(f"words[places[{index}]] = {adapter.ADDRESS.format(name)}")
    on_gpu = program._device_type == CUDA
    source = _TEMPLATE.format(
        arguments=", ".join(names) + ",", aside=" or ".join(aside), key=", ".join(key) + ",",
        unpack="\n".join("    " + line for line in unpack),
        fill="\n".join("    " + line for line in fill), results="\n".join("    " + line for line in results),
        stream=f"({adapter.STREAM} if stream is None else stream) or None" if on_gpu else "stream or None",
        count=len(kinds), result_count=len(made), returned=made[0] if len(made) == 1 else "(" + ", ".join(made) + ",)")
    frames: dict[Any, list[Any]] = {}

    def remember(key: Any) -> list[Any]:
        if len(frames) >= MOST_SIGNATURES:
            frames.clear()
        return frames.setdefault(key, [])

    adapters = [adapter if kind == TENSOR else None for kind in kinds]

    def make(arguments: Any, out: Any) -> Any:
        frame = program.make_frame(adapters, arguments, out)
        if hasattr(adapter, "device_of"):
            frame.device = adapter.device_of(frame.device_id if on_gpu else -1)
        return frame

    def slow(arguments: Any, out: Any, stream: Any) -> Any:
        return program.call_general(arguments, out, stream)

    scope = {"kind": adapter.kind, "frames": frames, "remember": remember, "make": make, "slow": slow,
             "run": library.lacuna_run, "fail": raise_error, "integer": program.integer,
             "number": program.number, "limit": 2**63, **adapter.names(program._result_types)}
    if "empty" not in scope and not given:
        return lambda out, stream, *arguments: slow(arguments, out, stream)
    exec(compile(source, f"<prepared call of {program.name}>", "exec"), scope)  # noqa: S102
    return scope["call"]
