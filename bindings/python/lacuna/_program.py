"""Programs: compiled specs that are called like functions."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref, c_int64, c_void_p
from typing import Any, NamedTuple, Sequence

from . import _arrays
from ._frame import Frame, contiguous, places_of
from ._library import (CPU, CUDA, FLOAT, INTEGER, LINE_INFO, PING_PONG, TENSOR, Argument, CompileOptions,
                       ContextOptions, DLDevice, DLTensor, Handle, InvalidArgument, ValueInfo, call, library,
                       raise_error)
from ._prepared import make_call, make_prepared_call
from ._shapes import shape_function

_TARGETS = {"cpu": CPU, "cuda": CUDA}
_KINDS = {TENSOR: "tensor", INTEGER: "integer", FLOAT: "float"}
_run = library.lacuna_run
_run_call = library.lacuna_run_call
_run_allocating = library.lacuna_run_allocating


class Value(NamedTuple):
    """What a program takes or gives, as its spec declares it."""

    name: str
    kind: str
    """"tensor", "integer" or "float"."""
    type: str | None
    """Of tensors: "f16", "bf16", "f32", "f64", "i8", "i32" or "i64"."""
    shape: tuple[int | None, ...] | None
    """Of tensors: extents, None where any is accepted or where it follows from the arguments."""


class Context(Handle):
    """Settings and the cache of compiled programs. A process needs one; `default_context` makes it."""

    def __init__(self, *, threads: int = 0, driver_library: str | None = None, nvrtc_library: str | None = None,
                 cache_folder: str | None = None, cache_bytes: int = 0) -> None:
        def text(value: str | None) -> bytes | None:
            return None if value is None else os.fsencode(value)

        options = ContextOptions(ctypes.sizeof(ContextOptions), threads, text(driver_library), text(nvrtc_library),
                                 text(cache_folder), cache_bytes, None)
        super().__init__("lacuna_context_create", "lacuna_context_release", byref(options))
        self._devices: dict[tuple[int, int], Handle] = {}
        self._lock = threading.Lock()

    def device(self, device_type: int, device_id: int) -> Handle:
        """The device, opened once."""
        with self._lock:
            found = self._devices.get((device_type, device_id))
            if found is None:
                found = Handle("lacuna_device_open", "lacuna_device_release", self.pointer,
                               DLDevice(device_type, device_id))
                self._devices[device_type, device_id] = found
            return found

    def counters(self) -> dict[str, int]:
        """What this context compiled, loaded, ran and found in its cache."""
        return {library.lacuna_counter_name(i).decode(): library.lacuna_counter_value(self.pointer, i)
                for i in range(library.lacuna_counter_count())}


_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of calls that name none, with settings from the environment."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Context()
        return _default


def has_gpu(context: Context | None = None) -> bool:
    """Whether programs for the GPU run here: there is a driver and a GPU."""
    try:
        (context or default_context()).device(CUDA, 0)
    except (InvalidArgument, RuntimeError):
        return False
    return True


def _make_view(described: _arrays.Description, address: int) -> Any:
    """A DLTensor that keeps its arrays alive."""
    rank = len(described.shape)
    shape, strides = (c_int64 * rank)(*described.shape), (c_int64 * rank)(*described.strides)
    view = DLTensor(address, DLDevice(described.device_type, described.device_id), rank,
                    (described.code, described.bits, 1), ctypes.cast(shape, ctypes.POINTER(c_int64)),
                    ctypes.cast(strides, ctypes.POINTER(c_int64)), 0)
    view.kept = shape, strides
    return view


class Program:
    """A compiled spec. Calling it runs it: tensors and numbers by position or by name.

    Tensors are anything that speaks DLPack and stay where they are; results are of the kind of the first tensor. On
    a GPU the call returns when the work is queued on the current stream. Programs are compiled once for all lengths,
    batches, windows and lists that their spec leaves open. Threads may call one program at the same time.
    """

    def __init__(self, handle: Handle, context: Context) -> None:
        self._handle, self._context = handle, context
        pointer = handle.pointer
        self.name: str = library.lacuna_program_name(pointer).decode()
        self.architecture: str = library.lacuna_program_architecture(pointer).decode()
        self.target: str = "cpu" if self.architecture == "cpu" else "cuda"
        self._device_type = _TARGETS[self.target]
        arguments = self._values("argument")
        results = self._values("result")
        self.arguments: tuple[Value, ...] = tuple(value for value, _ in arguments)
        self.results: tuple[Value, ...] = tuple(value for value, _ in results)
        self._kinds = [info.kind for _, info in arguments]
        self._names = {value.name: index for index, value in enumerate(self.arguments)}
        self._result_types = [(info.dtype.code, info.dtype.bits) for _, info in results]
        self.formulas: tuple[tuple[str, ...], ...] = tuple(
            tuple(library.lacuna_program_result_extent(pointer, index, axis).decode()
                  for axis in range(len(value.shape or ())))
            for index, value in enumerate(self.results))
        self._shapes, self.shapes_read_numbers = shape_function(self.formulas)
        self._executables: dict[int, Handle] = {}
        self._first = next((index for index, kind in enumerate(self._kinds) if kind == TENSOR), None)
        # Per type of the first tensor, calls with given results and with new ones.
        self.prepared: tuple[dict[type, Any], dict[type, Any]] = {}, {}
        self.places = places_of(self._kinds, len(self.results))
        self._lock = threading.Lock()
        # What calls cost is mostly Python's: this program's `__call__` has its arguments, and no lists of them.
        self.__class__ = type("Program", (Program,), {"__call__": make_call(self), "__slots__": ()})

    def _values(self, what: str) -> list[tuple[Value, ValueInfo]]:
        count = getattr(library, f"lacuna_program_{what}_count")(self._handle.pointer)
        found = []
        for index in range(count):
            info = ValueInfo(ctypes.sizeof(ValueInfo))
            call(f"lacuna_program_{what}", self._handle.pointer, index, byref(info))
            kind = _KINDS[info.kind]
            tensor = kind == "tensor"
            shape = tuple(None if info.shape[axis] < 0 else info.shape[axis] for axis in range(info.rank))
            found.append((Value(info.name.decode(), kind,
                                _arrays.TYPE_NAMES[info.dtype.code, info.dtype.bits] if tensor else None,
                                shape if tensor else None), info))
        return found

    def __repr__(self) -> str:
        def text(value: Value) -> str:
            if value.kind != "tensor":
                return f"{value.name}: {value.kind}"
            extents = "x".join("?" if extent is None else str(extent) for extent in value.shape or ())
            return f"{value.name}: {extents}x{value.type}"

        return (f"<lacuna.Program {self.name}({', '.join(map(text, self.arguments))}) -> "
                f"({', '.join(map(text, self.results))}) for {self.architecture}>")

    def save(self, path: str | os.PathLike[str], *, machine_code: bool = False) -> None:
        """Writes an artifact that `load` and the runtime without a compiler read. Programs for a GPU only.

        With `machine_code` kernels are compiled now, which needs NVRTC and no GPU, and the machine that loads the artifact needs
        the driver alone. Otherwise it holds what this program has: sources, unless the program was loaded with machine code.
        """
        function = "lacuna_program_save_compiled" if machine_code else "lacuna_program_save"
        call(function, self._handle.pointer, os.fsencode(path))

    def result_shapes(self, *arguments: Any, **named: Any) -> tuple[tuple[int, ...], ...]:
        """The shapes that a call with these arguments gives. Tensors may be anything with a `shape`."""
        return self._infer(self._bind(arguments, named))

    def _infer(self, arguments: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
        shapes = [getattr(argument, "shape", ()) for argument in arguments]
        for declared, shape in zip(self.arguments, shapes):
            if declared.shape is not None and len(declared.shape) != len(shape):
                raise InvalidArgument(f"argument '{declared.name}': expected {len(declared.shape)} axes, got "
                                      f"{len(shape)}")
        return self._shapes(shapes, arguments)

    def _executable(self, device_id: int) -> Handle:
        with self._lock:
            found = self._executables.get(device_id)
            if found is None:
                device = self._context.device(self._device_type, device_id)
                found = Handle("lacuna_load", "lacuna_executable_release", device.pointer, self._handle.pointer)
                self._executables[device_id] = found
            return found

    def prepare(self, device_id: int = 0) -> None:
        """Loads the program on a device now, and not in the first call."""
        self._executable(device_id if self.target == "cuda" else 0)

    def _bind(self, arguments: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """All arguments by position."""
        bound = list(arguments)
        if named:
            missing = object()
            bound += [missing] * (len(self.arguments) - len(bound))
            for name, value in named.items():
                index = self._names.get(name)
                if index is None:
                    raise TypeError(f"{self.name}: expected arguments {', '.join(self._names)}, got '{name}'")
                if index < len(arguments) or bound[index] is not missing:
                    raise TypeError(f"{self.name}: argument '{name}' is given twice")
                bound[index] = value
            for value, declared in zip(bound, self.arguments):
                if value is missing:
                    raise TypeError(f"{self.name}: argument '{declared.name}' is missing")
        if len(bound) != len(self.arguments):
            raise TypeError(f"{self.name}: expected {len(self.arguments)} arguments ({', '.join(self._names)}), got "
                            f"{len(bound)}")
        return bound

    def _adapt(self, arguments: Sequence[Any]) -> tuple[list[Any], bool]:
        """The adapter of each tensor, None for numbers; whether a gradient is wanted."""
        adapters, gradient = [], False
        for index, argument in enumerate(arguments):
            adapter = None
            if self._kinds[index] == TENSOR:
                adapter = _arrays.adapter_of(argument)
                if adapter is None:
                    raise InvalidArgument(f"argument '{self.arguments[index].name}': expected a tensor, got "
                                          f"{type(argument).__name__}")
                gradient |= adapter.wants_gradient(argument)
            adapters.append(adapter)
        return adapters, gradient

    def __call__(self, *arguments: Any, out: Any = None, stream: int | None = None, **named: Any) -> Any:
        """Runs the program.

        `out` is a tensor, or one for each result, that is written instead of new ones. `stream` is a CUDA stream's
        address; by default it is the current stream of the first tensor's library. One result is returned as such,
        several as a tuple.
        """
        return self.call_general(self._bind(arguments, named), out, stream)

    def call_general(self, arguments: Sequence[Any], out: Any, stream: int | None) -> Any:
        """A call of any arguments; prepares calls of its kind where it can."""
        adapters, gradient = self._adapt(arguments)
        if gradient:
            from . import torch as with_torch

            return with_torch.run_recorded(self, arguments, out, stream)
        at = self._first
        first = None if at is None else adapters[at]
        if at is None or first is None or any(type(adapter) is _arrays.DlpackAdapter for adapter in adapters):
            return self._call_dlpack(adapters, arguments, out, stream)
        known = self.prepared[out is None]
        if first.kind not in known and type(arguments[at]) is first.kind:
            prepared = known[first.kind] = make_prepared_call(self, first, out is not None)
            return prepared(out, stream, *arguments)
        return self._call_plain(adapters, arguments, out, stream)

    def _device_of(self, adapters: Sequence[Any], arguments: Sequence[Any]) -> int:
        """Number of the device of the first tensor that lies on one of the program's kind."""
        for index, (adapter, argument) in enumerate(zip(adapters, arguments)):
            if adapter is None:
                continue
            if type(adapter) is _arrays.DlpackAdapter:
                device_type, device_id = argument.__dlpack_device__()
            else:
                described = adapter.describe(argument, f"argument '{self.arguments[index].name}'")
                device_type, device_id = described.device_type, described.device_id
            if device_type == self._device_type:
                return device_id
        return 0

    def make_frame(self, adapters: Sequence[Any], arguments: Sequence[Any], out: Any = None) -> Frame:
        """The memory of calls with arguments and results like these, on the device of the first."""
        tensors = [adapter.describe(argument, f"argument '{declared.name}'")
                   for adapter, argument, declared in zip(adapters, arguments, self.arguments) if adapter is not None]
        shapes = self._infer(arguments)
        device_id = self._device_of(adapters, arguments)
        results = [_arrays.Description(code, bits, shape, contiguous(shape), self._device_type, device_id)
                   for (code, bits), shape in zip(self._result_types, shapes)]
        if out is not None:
            results = [_arrays.adapter_of(result).describe(result, f"result '{declared.name}'")
                       for result, declared in zip(out, self.results)]
        return Frame(self.places, self._kinds, tensors, results, device_id, self._executable(device_id).pointer.value or 0)

    def _call_plain(self, adapters: Sequence[Any], arguments: Sequence[Any], out: Any, stream: int | None) -> Any:
        """A call of which nothing is kept."""
        frame = self.make_frame(adapters, arguments)
        first = next(adapter for adapter in adapters if adapter is not None)
        tensors, numbers = iter(self.places.tensors), iter(self.places.numbers)
        for index, (adapter, argument) in enumerate(zip(adapters, arguments)):
            if adapter is not None:
                frame.words[next(tensors)] = adapter.address(argument)
            elif self._kinds[index] == INTEGER:
                frame.integers[next(numbers)] = self.integer(index, argument)
            else:
                frame.floats[next(numbers)] = self.number(index, argument)
        if stream is None:
            stream = first.stream(frame.device_id) if self._device_type == CUDA else 0
        if out is not None:
            results = tuple(out) if isinstance(out, (tuple, list)) else (out,)
            pointers, _kept = self._read_out(results, stream)
            frame.words[self.places.call + 4] = ctypes.addressof(pointers)
            frame.words[self.places.call + 5] = len(results)
        else:
            where = frame.device_id if self._device_type == CUDA else -1
            results = tuple(first.empty(code, bits, shape, where)
                            for (code, bits), shape in zip(self._result_types, frame.shapes))
            for place, result in zip(self.places.results, results):
                frame.words[place] = first.address(result)
        if _run_call(frame.call_address, stream or None, frame.reference):
            raise_error(frame.take_error())
        return results[0] if len(results) == 1 else results

    def integer(self, index: int, value: Any) -> int:
        """An integer argument, or a refusal by name."""
        name = self.arguments[index].name
        if type(value) is not int:
            if not hasattr(value, "__index__") or hasattr(value, "__dlpack__"):
                raise InvalidArgument(f"argument '{name}': expected an integer, got {type(value).__name__}")
            value = value.__index__()
        if not -2**63 <= value < 2**63:
            raise InvalidArgument(f"argument '{name}': expected an integer of 64 bits, got {value}")
        return value

    def number(self, index: int, value: Any) -> float:
        """A float argument, or a refusal by name."""
        if type(value) is not float and (not hasattr(value, "__float__") or hasattr(value, "__dlpack__")):
            name = self.arguments[index].name
            raise InvalidArgument(f"argument '{name}': expected a number, got {type(value).__name__}")
        return float(value)

    def _read_out(self, results: Sequence[Any], stream: int) -> tuple[Any, ...]:
        """Pointers to the DLTensors of given results, and what keeps them."""
        kept: list[Any] = []
        pointers = (c_void_p * len(results))()
        for index, result in enumerate(results):
            name = self.results[index].name if index < len(self.results) else str(index)
            adapter = _arrays.adapter_of(result)
            if adapter is None:
                raise InvalidArgument(f"result '{name}': expected a tensor, got {type(result).__name__}")
            if not adapter.writable(result):
                raise InvalidArgument(f"result '{name}': expected a tensor that may be written, got a read-only one")
            if type(adapter) is _arrays.DlpackAdapter:
                capsule, pointers[index] = _arrays.export(result, stream, f"result '{name}'", is_written=True)
                kept.append(capsule)
                continue
            view = _make_view(adapter.describe(result, f"result '{name}'"), adapter.address(result))
            pointers[index] = ctypes.addressof(view)
            kept.append(view)
        return pointers, kept

    def _call_dlpack(self, adapters: Sequence[Any], arguments: Sequence[Any], out: Any, stream: int | None) -> Any:
        """A call with arrays that are only known to speak DLPack: nothing of it is kept."""
        first = next((index for index, adapter in enumerate(adapters) if adapter is not None), None)
        device_id = self._device_of(adapters, arguments)
        executable = self._executable(device_id)
        if stream is None:
            stream = adapters[first].stream(device_id) if first is not None and self._device_type == CUDA else 0
        structs, kept = (Argument * len(arguments))(), []
        for index, (adapter, argument) in enumerate(zip(adapters, arguments)):
            structs[index].kind = self._kinds[index]
            name = f"argument '{self.arguments[index].name}'"
            if adapter is None:
                if self._kinds[index] == INTEGER:
                    structs[index].value.integer = self.integer(index, argument)
                else:
                    structs[index].value.number = self.number(index, argument)
            elif type(adapter) is _arrays.DlpackAdapter:
                capsule, structs[index].value.tensor = _arrays.export(argument, stream, name)
                kept.append(capsule)
            else:
                view = _make_view(adapter.describe(argument, name), adapter.address(argument))
                structs[index].value.tensor = ctypes.addressof(view)
                kept.append(view)
        error = c_void_p()
        count = len(self.results)
        if out is None and first is not None and type(adapters[first]) is not _arrays.DlpackAdapter:
            where = device_id if self._device_type == CUDA else -1
            out = tuple(adapters[first].empty(code, bits, shape, where)
                        for (code, bits), shape in zip(self._result_types, self._infer(arguments)))
        if out is not None:
            results = tuple(out) if isinstance(out, (tuple, list)) else (out,)
            pointers, more = self._read_out(results, stream)
            if _run(executable.pointer, stream or None, ctypes.addressof(structs), len(arguments),
                    ctypes.addressof(pointers), len(results), byref(error)):
                raise_error(error)
            return results[0] if len(results) == 1 else results
        made = (c_void_p * count)()
        if _run_allocating(executable.pointer, stream or None, ctypes.addressof(structs), len(arguments),
                           ctypes.addressof(made), count, byref(error)):
            raise_error(error)
        tensors = [_arrays.LibraryTensor(made[index] or 0) for index in range(count)]
        if first is None:
            wrapped = tuple(tensors)
        else:
            wrapped = tuple(adapters[first].wrap(tensor, arguments[first]) for tensor in tensors)
        return wrapped[0] if count == 1 else wrapped


def _tile(extents: int | Sequence[int] | None) -> tuple[Any, int]:
    if extents is None:
        return None, 0
    numbers = (extents,) if isinstance(extents, int) else tuple(extents)
    return (c_int64 * len(numbers))(*numbers), len(numbers)


def compile(text: str, *, target: str | None = None, query_tile: int | Sequence[int] | None = None,  # noqa: A001
            key_tile: int | Sequence[int] | None = None, stages: int = 0, query_slots: int = 0,
            consumer_registers: int = 0, ping_pong: bool = False, line_info: bool = False,
            context: Context | None = None) -> Program:
    """Compiles a spec, or takes it from the cache.

    `target` is "cuda" or "cpu"; by default the GPU where there is one, else the CPU. The other options override the
    planner; 0, None and False leave the choice to it. A mistake in the text is an `InvalidArgument` with one line for
    each diagnostic, "3:12: error: expected ...".
    """
    context = context or default_context()
    if target is None:
        target = "cuda" if has_gpu(context) else "cpu"
    if target not in _TARGETS:
        raise InvalidArgument(f"expected target 'cuda' or 'cpu', got '{target}'")
    query, query_count = _tile(query_tile)
    key, key_count = _tile(key_tile)
    options = CompileOptions(ctypes.sizeof(CompileOptions), _TARGETS[target], query, query_count, key, key_count, stages,
                             query_slots, consumer_registers,
                             (PING_PONG if ping_pong else 0) | (LINE_INFO if line_info else 0))
    encoded = text.encode()
    handle = Handle("lacuna_compile", "lacuna_program_release", context.pointer, encoded, len(encoded), byref(options))
    return Program(handle, context)


def load(path: str | os.PathLike[str], *, context: Context | None = None) -> Program:
    """Reads an artifact that `lacuna compile --emit=artifact` or `Program.save` wrote."""
    context = context or default_context()
    handle = Handle("lacuna_program_open", "lacuna_program_release", context.pointer, os.fsencode(path))
    return Program(handle, context)


def loads(data: bytes, *, context: Context | None = None) -> Program:
    """The same from memory."""
    context = context or default_context()
    handle = Handle("lacuna_program_read", "lacuna_program_release", context.pointer, data, len(data))
    return Program(handle, context)
