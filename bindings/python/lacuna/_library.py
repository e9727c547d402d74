"""liblacuna.so through ctypes: one declaration per function of lacuna.h, and errors as exceptions."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

CPU, CUDA = 1, 2
"""Device types of DLPack."""

TENSOR, INTEGER, FLOAT = 0, 1, 2
"""Kinds of values."""

PING_PONG, LINE_INFO = 1, 2
"""Flags of compile options."""


class LacunaError(Exception):
    """What the library refused, or what went wrong; ``status`` is the number of ``lacuna.h``."""

    status: int = 0


class InvalidArgument(LacunaError, ValueError):
    """An argument, an option or a spec that no version accepts."""


class Unsupported(LacunaError, NotImplementedError):
    """A meaningful request that this version or this machine cannot do."""


class NotFound(LacunaError, FileNotFoundError):
    """A file that is not there."""


class Corrupt(LacunaError):
    """A damaged artifact."""


class IoError(LacunaError, OSError):
    """The operating system refused a read or a write."""


class Missing(LacunaError, RuntimeError):
    """A component is missing on this machine: a driver, a GPU, NVRTC."""


class CompileError(LacunaError, RuntimeError):
    """The code generator failed on input that it had accepted."""


class DeviceError(LacunaError, RuntimeError):
    """A GPU or its driver refused a call."""


_ERRORS = {1: InvalidArgument, 2: Unsupported, 3: NotFound, 4: Corrupt, 5: IoError, 6: Missing, 7: CompileError,
           8: DeviceError}


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("threads", c_int32), ("driver_library", c_char_p),
                ("nvrtc_library", c_char_p), ("cache_folder", c_char_p), ("cache_bytes", c_uint64), ("allocator", c_void_p)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("target", c_int32), ("query_tile", POINTER(c_int64)),
                ("query_tile_count", c_size_t), ("key_tile", POINTER(c_int64)), ("key_tile_count", c_size_t),
                ("stages", c_int64), ("query_slots", c_int64), ("consumer_registers", c_int64),
                ("flags", c_uint64)]


class ValueInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("kind", c_int32), ("name", c_char_p), ("shape", POINTER(c_int64)),
                ("rank", c_int32), ("dtype", DLDataType)]


class _Value(ctypes.Union):
    _fields_ = [("tensor", c_void_p), ("integer", c_int64), ("number", c_double)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("reserved", c_int32), ("value", _Value)]


LOG_CALLBACK = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)

_ERROR = POINTER(c_void_p)
_OUT = POINTER(c_void_p)
# Name -> result and arguments, in the order of lacuna.h.
_FUNCTIONS = {
    "lacuna_version": (c_uint32,),
    "lacuna_version_text": (c_char_p,),
    "lacuna_has_compiler": (c_int32,),
    "lacuna_error_status": (c_int32, c_void_p),
    "lacuna_error_message": (c_char_p, c_void_p),
    "lacuna_error_release": (None, c_void_p),
    "lacuna_set_log_callback": (None, LOG_CALLBACK, c_void_p, c_int32),
    "lacuna_context_create": (c_int32, POINTER(ContextOptions), _OUT, _ERROR),
    "lacuna_context_release": (None, c_void_p),
    "lacuna_counter_count": (c_size_t,),
    "lacuna_counter_name": (c_char_p, c_size_t),
    "lacuna_counter_value": (c_uint64, c_void_p, c_size_t),
    "lacuna_compile": (c_int32, c_void_p, c_char_p, c_size_t, POINTER(CompileOptions), _OUT, _ERROR),
    "lacuna_program_open": (c_int32, c_void_p, c_char_p, _OUT, _ERROR),
    "lacuna_program_read": (c_int32, c_void_p, c_char_p, c_size_t, _OUT, _ERROR),
    "lacuna_program_save": (c_int32, c_void_p, c_char_p, _ERROR),
    "lacuna_program_save_compiled": (c_int32, c_void_p, c_char_p, _ERROR),
    "lacuna_program_release": (None, c_void_p),
    "lacuna_program_name": (c_char_p, c_void_p),
    "lacuna_program_architecture": (c_char_p, c_void_p),
    "lacuna_program_argument_count": (c_size_t, c_void_p),
    "lacuna_program_result_count": (c_size_t, c_void_p),
    "lacuna_program_argument": (c_int32, c_void_p, c_size_t, POINTER(ValueInfo), _ERROR),
    "lacuna_program_result": (c_int32, c_void_p, c_size_t, POINTER(ValueInfo), _ERROR),
    "lacuna_program_result_extent": (c_char_p, c_void_p, c_size_t, c_size_t),
    "lacuna_device_open": (c_int32, c_void_p, DLDevice, _OUT, _ERROR),
    "lacuna_device_release": (None, c_void_p),
    "lacuna_device_name": (c_char_p, c_void_p),
    "lacuna_device_architecture": (c_char_p, c_void_p),
    "lacuna_load": (c_int32, c_void_p, c_void_p, _OUT, _ERROR),
    "lacuna_executable_release": (None, c_void_p),
    "lacuna_run": (c_int32, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, _ERROR),
    "lacuna_run_call": (c_int32, c_void_p, c_void_p, _ERROR),
    "lacuna_run_allocating": (c_int32, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, _ERROR),
}


def _find() -> str:
    """LACUNA_LIBRARY and no other, else the library of this package, else what the loader finds."""
    named = os.environ.get("LACUNA_LIBRARY")
    if named:
        return named
    packaged = pathlib.Path(__file__).with_name("liblacuna.so.0")
    return str(packaged) if packaged.exists() else "liblacuna.so.0"


def _load() -> ctypes.CDLL:
    path = _find()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load '{path}': {error}; set LACUNA_LIBRARY to the path of liblacuna.so.0") from error
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


library = _load()


def raise_error(error: c_void_p) -> None:
    """Raises what an error handle says, and releases it."""
    status = library.lacuna_error_status(error)
    message = (library.lacuna_error_message(error) or b"").decode(errors="replace")
    library.lacuna_error_release(error)
    raised = _ERRORS.get(status, LacunaError)(message)
    raised.status = status
    raise raised


def call(name: str, *arguments: object) -> None:
    """Calls a function that takes an error last; raises when it fails."""
    error = c_void_p()
    if getattr(library, name)(*arguments, byref(error)):
        raise_error(error)


class Handle:
    """Owns a handle of the library."""

    def __init__(self, name: str, release: str, *arguments: object) -> None:
        self.pointer = c_void_p()
        self._release = getattr(library, release)
        call(name, *arguments, byref(self.pointer))

    def __del__(self) -> None:
        pointer = getattr(self, "pointer", None)
        if pointer:
            self._release(pointer)
            pointer.value = None
