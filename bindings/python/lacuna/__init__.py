"""Sparse attention from specs: compiled at run time or ahead of time, called on the tensors of any library.

    import lacuna
    window = lacuna.compile(open("examples/sliding_window_sinks.mlir").read())
    o = window(q, k, v, left=127)

`lacuna.torch` makes a program an operator of PyTorch. docs/python.md has a tour.
"""

from ._library import (CompileError, Corrupt, DeviceError, InvalidArgument, IoError, LacunaError, Missing, NotFound,
                       Unsupported)
from ._library import library as _loaded
from ._program import Context, Program, Value, compile, default_context, has_gpu, load, loads  # noqa: A004

__version__: str = _loaded.lacuna_version_text().decode()


def has_compiler() -> bool:
    """Whether the library can compile specs, or only load artifacts."""
    return bool(_loaded.lacuna_has_compiler())


__all__ = ["CompileError", "Context", "Corrupt", "DeviceError", "InvalidArgument", "IoError", "LacunaError", "Missing",
           "NotFound", "Program", "Unsupported", "Value", "compile", "default_context", "has_compiler", "has_gpu",
           "load", "loads"]
