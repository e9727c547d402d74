"""Sparse attention from specs: compiled at run time or ahead of time, called on the tensors of any library.

    import lacuna
    window = lacuna.compile(open("examples/sliding_window_sinks.mlir").read())
    o = window(q, k, v, left=127)

`lacuna.torch` makes a program an operator of PyTorch. docs/python.md has a tour.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable

from ._library import (CompileError, Corrupt, DeviceError, InvalidArgument, IoError, LacunaError, Missing, NotFound,
                       Unsupported)
from ._library import LOG_CALLBACK as _LOG_CALLBACK
from ._library import library as _loaded
from ._program import Context, Program, Value, compile, default_context, has_gpu, load, loads  # noqa: A004

__version__: str = _loaded.lacuna_version_text().decode()


_LEVELS = ("debug", "info", "warning", "error")
_log_callback = _LOG_CALLBACK()


def set_log(callback: Callable[[str, str], None] | None, level: str = "warning") -> None:
    """Sends messages of at least `level` ("debug", "info", "warning", "error") to `callback(level, message)`; None sends
    them to stderr again. The callback comes from any thread and must not call this package."""
    global _log_callback
    number = _LEVELS.index(level)

    def receive(of: int, message: bytes, _: object) -> None:
        if callback is not None:
            callback(_LEVELS[of], message.decode(errors="replace"))

    kept = _LOG_CALLBACK() if callback is None else _LOG_CALLBACK(receive)
    _loaded.lacuna_set_log_callback(kept, None, number)
    # The one before is not called any more.
    _log_callback = kept


# No callback outlives its interpreter.
atexit.register(lambda: _loaded.lacuna_set_log_callback(_LOG_CALLBACK(), None, _LEVELS.index("warning")))


def has_compiler() -> bool:
    """Whether the library can compile specs, or only load artifacts."""
    return bool(_loaded.lacuna_has_compiler())


__all__ = ["CompileError", "Context", "Corrupt", "DeviceError", "InvalidArgument", "IoError", "LacunaError", "Missing",
           "NotFound", "Program", "Unsupported", "Value", "compile", "default_context", "has_compiler", "has_gpu",
           "load", "loads", "set_log"]
