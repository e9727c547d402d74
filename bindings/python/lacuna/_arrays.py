"""Arrays of other libraries: what a call must know of them, and new ones of the same kind.

An adapter serves one type of array: ``describe`` says in the words of DLPack what it is, ``address`` where element 0
lies. Arrays that are only known to speak DLPack
have a new description with every call, and results for them are made by the library.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

from ._library import CPU, CUDA, DLTensor, InvalidArgument

INT, FLOAT, BFLOAT = 0, 2, 4
"""Codes of DLPack's types."""

TYPE_NAMES = {(FLOAT, 16): "f16", (BFLOAT, 16): "bf16", (FLOAT, 32): "f32", (FLOAT, 64): "f64", (INT, 8): "i8",
              (INT, 32): "i32", (INT, 64): "i64"}


class Description(NamedTuple):
    """A tensor without its memory; strides count elements."""

    code: int
    bits: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device_type: int
    device_id: int


class NumpyAdapter:
    """numpy.ndarray, on the CPU."""

    # Source of prepared calls (_prepared.py): pieces of the key, the address, and a condition for the slow way.
    KEY = ("{0}.dtype", "{0}.shape", "{0}.strides")
    ADDRESS = "{0}.ctypes.data"
    ASIDE = ""
    LOCKED = "not {0}.flags.writeable"
    STREAM = "0"
    # What chooses `empty` of a call, and its strides.
    PICK = "pass"
    STRIDES = ""

    def __init__(self) -> None:
        import numpy

        self.numpy = numpy
        self.kind = numpy.ndarray
        self.types = {numpy.dtype(name): key for name, key in (
            ("float16", (FLOAT, 16)), ("float32", (FLOAT, 32)), ("float64", (FLOAT, 64)), ("int8", (INT, 8)),
            ("int32", (INT, 32)), ("int64", (INT, 64)))}
        self.dtypes = {key: dtype for dtype, key in self.types.items()}

    def names(self, on_gpu: bool) -> dict[str, Any]:
        """What the source of a prepared call refers to."""
        return {"empty": self.numpy.empty}

    def describe(self, array: Any, name: str) -> Description:
        found = self.types.get(array.dtype)
        if found is None and array.dtype.name == "bfloat16":
            found = (BFLOAT, 16)
            self.types[array.dtype], self.dtypes[found] = found, array.dtype
        if found is None:
            raise InvalidArgument(f"{name}: expected elements of type f16, bf16, f32, f64, i8, i32 or i64 in the "
                                  f"machine's byte order, got {array.dtype}")
        width = array.itemsize
        if any(stride % width for stride in array.strides):
            raise InvalidArgument(f"{name}: expected strides of whole elements, got {array.strides} bytes")
        strides = tuple(stride // width for stride in array.strides)
        return Description(*found, array.shape, strides, CPU, 0)

    def address(self, array: Any) -> int:
        return array.ctypes.data

    def writable(self, array: Any) -> bool:
        return array.flags.writeable

    def wants_gradient(self, array: Any) -> bool:
        return False

    def empty(self, code: int, bits: int, shape: tuple[int, ...], device_id: int) -> Any:
        if (code, bits) not in self.dtypes:
            raise InvalidArgument("results of type bf16: NumPy has no such type; give arrays by out=, or import ml_dtypes "
                                  "and pass an array of its bfloat16")
        return self.numpy.empty(shape, self.dtypes[code, bits])

    def stream(self, device_id: int) -> int:
        return 0


class TorchAdapter:
    """torch.Tensor, on the CPU and on GPUs."""

    # Strides of contiguous tensors follow from the shape, but for extents of 1, whose strides nobody reads.
    KEY = ("{0}.dtype", "{0}.shape", "{0}.is_contiguous() or {0}.stride()", "{0}.device")
    ADDRESS = "{0}.data_ptr()"
    ASIDE = "({requires}) and is_grad_enabled()"
    LOCKED = "{0}.requires_grad"
    STREAM = "current_stream(frame.device_id)"
    PICK = "empty = empty_here if current_device() == frame.device_id else empty_on(frame.device_id)"
    STRIDES = "strides[{}], "

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.kind = torch.Tensor
        self.types = {torch.float16: (FLOAT, 16), torch.bfloat16: (BFLOAT, 16), torch.float32: (FLOAT, 32),
                      torch.float64: (FLOAT, 64), torch.int8: (INT, 8), torch.int32: (INT, 32),
                      torch.int64: (INT, 64)}
        self.dtypes = {key: dtype for dtype, key in self.types.items()}
        self.devices = {"cpu": CPU, "cuda": CUDA}
        self.cpu = torch.device("cpu")
        # What compiled code calls: a tenth of the time of torch.cuda.current_stream.
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or self.slow_stream
        # These allocate on the current GPU in a third of the time of torch.empty.
        guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
        self.empty_cpu = getattr(guards, "_empty_strided_cpu", None) or self.empty_on(-1)
        self.empty_cuda = getattr(guards, "_empty_strided_cuda", None)
        self.current_device = getattr(torch._C, "_cuda_getDevice", None)

    def names(self, on_gpu: bool) -> dict[str, Any]:
        """What the source of a prepared call refers to."""
        # Without the way to the current device every GPU is another one.
        knows = self.empty_cuda is not None and self.current_device is not None
        return {"empty": self.empty_cpu, "empty_here": self.empty_cuda, "empty_on": self.empty_on,
                "current_device": self.current_device if knows else lambda: None,
                "is_grad_enabled": self.torch.is_grad_enabled, "current_stream": self.stream}

    def empty_on(self, device_id: int) -> Any:
        """A function of shape, strides and type that makes tensors on one device."""
        empty, device = self.torch.empty_strided, self.device_of(device_id)
        return lambda shape, strides, dtype: empty(shape, strides, dtype=dtype, device=device)

    def describe(self, array: Any, name: str) -> Description:
        found = self.types.get(array.dtype)
        if found is None:
            raise InvalidArgument(f"{name}: expected elements of type f16, bf16, f32, f64, i8, i32 or i64, got "
                                  f"{array.dtype}")
        device = array.device
        if device.type not in self.devices:
            raise InvalidArgument(f"{name}: expected a tensor on a GPU or on the CPU, got one on {device}")
        return Description(*found, tuple(array.shape), tuple(array.stride()), self.devices[device.type],
                           device.index or 0)

    def address(self, array: Any) -> int:
        return array.data_ptr()

    def writable(self, array: Any) -> bool:
        return not array.requires_grad

    def wants_gradient(self, array: Any) -> bool:
        return array.requires_grad and self.torch.is_grad_enabled()

    def empty(self, code: int, bits: int, shape: tuple[int, ...], device_id: int) -> Any:
        return self.torch.empty(shape, dtype=self.dtypes[code, bits], device=self.device_of(device_id))

    def device_of(self, device_id: int) -> Any:
        return self.cpu if device_id < 0 else self.torch.device("cuda", device_id)

    def slow_stream(self, device_id: int) -> int:
        return self.torch.cuda.current_stream(device_id).cuda_stream


class DlpackAdapter:
    """Everything else that has ``__dlpack__``: JAX, CuPy and others."""

    def __init__(self, module: str) -> None:
        self.module = module

    def writable(self, array: Any) -> bool:
        return self.module != "jax"

    def wants_gradient(self, array: Any) -> bool:
        return False

    def stream(self, device_id: int) -> int:
        if self.module == "cupy":
            return sys.modules["cupy"].cuda.get_current_stream().ptr
        return 0

    def wrap(self, tensor: "LibraryTensor", like: Any) -> Any:
        """The same memory as an array of the kind of ``like``."""
        if self.module == "jax":
            import jax.dlpack

            return jax.dlpack.from_dlpack(tensor)
        if self.module == "cupy":
            return sys.modules["cupy"].from_dlpack(tensor)
        namespace = getattr(like, "__array_namespace__", None)
        return namespace().from_dlpack(tensor) if namespace else tensor


_adapters: dict[type, Any] = {}
_shared: dict[str, Any] = {}


def _make_adapter(kind: type) -> Any:
    modules = {base.__module__.split(".")[0] for base in kind.__mro__}
    for name, adapter in (("torch", TorchAdapter), ("numpy", NumpyAdapter)):
        if name in modules:
            if name not in _shared:
                _shared[name] = adapter()
            return _shared[name]
    if hasattr(kind, "__dlpack__"):
        module = kind.__module__.split(".")[0]
        return DlpackAdapter("jax" if module in ("jax", "jaxlib") else module)
    return None


def adapter_of(array: Any) -> Any:
    """The adapter of an array, or None for what is no array."""
    kind = type(array)
    found = _adapters.get(kind)
    if found is None and kind not in _adapters:
        found = _adapters[kind] = _make_adapter(kind)
    return found


# ----------------------------------------------------------------------
# DLPack capsules
# ----------------------------------------------------------------------


class DLManagedTensor(ctypes.Structure):
    pass


class DLManagedTensorVersioned(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _DELETER)]
DLManagedTensorVersioned._fields_ = [
    ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensorVersioned))), ("flags", ctypes.c_uint64),
    ("dl_tensor", DLTensor)]

_NAME, _VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
_VERSION = (1, 0)
READ_ONLY, COPIED = 1, 2
"""Flags of versioned tensors."""

_python = ctypes.pythonapi
_get_pointer = _python.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = _python.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR]
# The same functions on a capsule that is being destroyed, which must not be counted again.
_raw_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python))


@_DESTRUCTOR
def _destroy(capsule: int) -> None:
    """Frees a tensor that nobody took out of its capsule."""
    if _raw_valid(capsule, _NAME):
        pointer = ctypes.cast(_raw_pointer(capsule, _NAME), ctypes.POINTER(DLManagedTensor))
        pointer.contents.deleter(pointer)


_unversioned: set[type] = set()
"""Types whose arrays know nothing of versions."""


def _capsule_of(array: Any, options: dict[str, int]) -> Any:
    kind = type(array)
    if kind not in _unversioned:
        try:
            return array.__dlpack__(max_version=_VERSION, **options)
        except TypeError:
            _unversioned.add(kind)
    return array.__dlpack__(**options)


def export(array: Any, stream: int, name: str, is_written: bool = False) -> tuple[Any, int]:
    """A capsule that keeps the array's DLTensor, and the address of that."""
    device_type, _ = array.__dlpack_device__()
    try:
        # 1 is the default stream's number in this protocol.
        capsule = _capsule_of(array, {"stream": stream or 1} if device_type == CUDA else {})
    except (BufferError, TypeError, ValueError, RuntimeError) as error:
        raise InvalidArgument(f"{name}: expected an array that DLPack can share, got: {error}") from error
    if not _is_valid(capsule, _VERSIONED_NAME):
        return capsule, _get_pointer(capsule, _NAME)
    address = _get_pointer(capsule, _VERSIONED_NAME)
    tensor = DLManagedTensorVersioned.from_address(address)
    if tensor.major != _VERSION[0]:
        raise InvalidArgument(f"{name}: expected an array of DLPack {_VERSION[0]}, got one of DLPack {tensor.major}.{tensor.minor}")
    if is_written and tensor.flags & (READ_ONLY | COPIED):
        what = "read-only one" if tensor.flags & READ_ONLY else "copy"
        raise InvalidArgument(f"{name}: expected a tensor that may be written, got a {what}")
    return capsule, address + DLManagedTensorVersioned.dl_tensor.offset


class LibraryTensor:
    """A result in memory of the library, for one consumer of DLPack."""

    def __init__(self, pointer: int) -> None:
        self._pointer: int | None = pointer
        tensor = ctypes.cast(pointer, ctypes.POINTER(DLManagedTensor)).contents.dl_tensor
        self._device = (tensor.device.device_type, tensor.device.device_id)
        self.shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """A capsule; the memory is its consumer's. Queued work on the stream of the call is the caller's to order."""
        if copy or (dl_device is not None and tuple(dl_device) != self._device):
            raise BufferError(f"expected to be taken where it is, on device {self._device}, and without a copy")
        if self._pointer is None:
            raise InvalidArgument("expected a tensor that nobody has taken, got one that was taken before")
        capsule = _new_capsule(self._pointer, _NAME, _destroy)
        self._pointer = None
        return capsule

    def __del__(self) -> None:
        address = getattr(self, "_pointer", None)
        if address is not None:
            pointer = ctypes.cast(address, ctypes.POINTER(DLManagedTensor))
            pointer.contents.deleter(pointer)
