"""The memory of one call: every struct that lacuna_run reads, prepared once for arguments of one signature.

A call with arguments that were seen before writes addresses and numbers into it and nothing else. Words are of 64 bits,
little-endian, laid out as lacuna.h and DLPack declare.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Sequence

from ._arrays import Description

if sys.byteorder != "little":
    raise ImportError("lacuna runs on little-endian machines")

_TENSOR_WORDS = 6


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


class Frame:
    """Arguments and results of a call; one call at a time uses it."""

    __slots__ = ("words", "floats", "tensors", "numbers", "results", "shapes", "device_id", "device", "executable",
                 "arguments_address", "results_address", "error", "reference", "_integers", "_bytes", "_base", "_next")

    def __init__(self, kinds: Sequence[int], tensors: Sequence[Description], results: Sequence[Description],
                 device_id: int) -> None:
        described = [*tensors, *results]
        count = 2 * len(kinds) + len(results)
        count += sum(_TENSOR_WORDS + 2 * len(tensor.shape) for tensor in described)
        self._bytes = bytearray(8 * count)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._bytes)) if count else 0
        self.words = memoryview(self._bytes).cast("Q")
        self.floats = memoryview(self._bytes).cast("d")
        self._integers = memoryview(self._bytes).cast("q")
        self._next = 2 * len(kinds) + len(results)
        self.shapes = [result.shape for result in results]
        self.device_id = device_id
        self.arguments_address = self._base
        self.results_address = self._base + 16 * len(kinds)
        places = [self._place(tensor) for tensor in described]
        self.tensors, self.numbers, left = places[:len(tensors)], [], list(places)
        for index, kind in enumerate(kinds):
            self.words[2 * index] = kind
            if kind == 0:
                self.words[2 * index + 1] = self._base + 8 * left.pop(0)
            else:
                self.numbers.append(2 * index + 1)
        self.results = places[len(tensors):]
        for index, place in enumerate(self.results):
            self.words[2 * len(kinds) + index] = self._base + 8 * place
        self.error = ctypes.c_void_p()
        self.reference = ctypes.byref(self.error)
        self.executable: Any = None
        self.device: Any = None

    def _place(self, tensor: Description) -> int:
        """Lays out a DLTensor without an address; the number of the word that takes it."""
        at, rank = self._next, len(tensor.shape)
        shape = at + _TENSOR_WORDS
        self.words[at + 1] = tensor.device_type | tensor.device_id << 32
        self.words[at + 2] = rank | (tensor.code | tensor.bits << 8 | 1 << 16) << 32
        self.words[at + 3] = self._base + 8 * shape
        self.words[at + 4] = self._base + 8 * (shape + rank)
        for axis in range(rank):
            self._integers[shape + axis] = tensor.shape[axis]
            self._integers[shape + rank + axis] = tensor.strides[axis]
        self._next = shape + 2 * rank
        return at

    def take_error(self) -> ctypes.c_void_p:
        """The error of the last call, which is the caller's now."""
        error = ctypes.c_void_p(self.error.value)
        self.error.value = None
        return error
