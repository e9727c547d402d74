"""The memory of one call: every struct that lacuna_run_call reads, prepared once for arguments of one signature.

A call with arguments that were seen before writes addresses and numbers into it and nothing else. Words are of 64 bits,
little-endian, laid out as lacuna.h and DLPack declare; what a call writes lies at the same place in all frames of one program.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple, Sequence

from ._arrays import Description
from ._library import TENSOR

if sys.byteorder != "little":
    raise ImportError("lacuna runs on little-endian machines")

_TENSOR_WORDS, _CALL_WORDS = 6, 6


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


class Places(NamedTuple):
    """Numbers of words in the frames of one program."""

    numbers: list[int]
    """Of each argument that is a number, its value."""
    tensors: list[int]
    """Of each argument that is a tensor, its DLTensor, which starts with the address."""
    results: list[int]
    """Of each result, its DLTensor."""
    call: int
    """Of the lacuna_call."""
    end: int


def places_of(kinds: Sequence[int], result_count: int) -> Places:
    """Arguments, pointers to results, the call, then the DLTensors; shapes follow at the end."""
    call = 2 * len(kinds) + result_count
    tensors = call + _CALL_WORDS
    results = tensors + _TENSOR_WORDS * sum(kind == TENSOR for kind in kinds)
    end = results + _TENSOR_WORDS * result_count
    return Places([2 * index + 1 for index, kind in enumerate(kinds) if kind != TENSOR],
                  list(range(tensors, results, _TENSOR_WORDS)), list(range(results, end, _TENSOR_WORDS)), call, end)


class Frame:
    """Arguments and results of a call; one call at a time uses it."""

    __slots__ = ("words", "floats", "integers", "shapes", "strides", "device_id", "call_address", "error", "reference", "_bytes",
                 "_base")

    def __init__(self, places: Places, kinds: Sequence[int], tensors: Sequence[Description], results: Sequence[Description],
                 device_id: int, executable: int) -> None:
        described = [*tensors, *results]
        count = places.end + sum(2 * len(tensor.shape) for tensor in described)
        self._bytes = bytearray(8 * count)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._bytes))
        self.words = memoryview(self._bytes).cast("Q")
        self.floats = memoryview(self._bytes).cast("d")
        self.integers = memoryview(self._bytes).cast("q")
        self.shapes = [result.shape for result in results]
        self.strides = [result.strides for result in results]
        self.device_id = device_id
        self.call_address = self._base + 8 * places.call
        end = places.end
        for place, tensor in zip((*places.tensors, *places.results), described):
            end = self._describe(place, tensor, end)
        left = iter(places.tensors)
        for index, kind in enumerate(kinds):
            self.words[2 * index] = kind
            if kind == TENSOR:
                self.words[2 * index + 1] = self._base + 8 * next(left)
        pointers = 2 * len(kinds)
        for index, place in enumerate(places.results):
            self.words[pointers + index] = self._base + 8 * place
        call = (8 * _CALL_WORDS, executable, self._base, len(kinds), self._base + 8 * pointers, len(results))
        for index, word in enumerate(call):
            self.words[places.call + index] = word
        self.error = ctypes.c_void_p()
        self.reference = ctypes.byref(self.error)

    def _describe(self, place: int, tensor: Description, end: int) -> int:
        """Writes a DLTensor without an address, with shape and strides from word `end` on; the next free word."""
        rank = len(tensor.shape)
        self.words[place + 1] = tensor.device_type | tensor.device_id << 32
        self.words[place + 2] = rank | (tensor.code | tensor.bits << 8 | 1 << 16) << 32
        self.words[place + 3] = self._base + 8 * end
        self.words[place + 4] = self._base + 8 * (end + rank)
        for axis in range(rank):
            self.integers[end + axis] = tensor.shape[axis]
            self.integers[end + rank + axis] = tensor.strides[axis]
        return end + 2 * rank

    def take_error(self) -> ctypes.c_void_p:
        """The error of the last call, which is the caller's now."""
        error = ctypes.c_void_p(self.error.value)
        self.error.value = None
        return error
