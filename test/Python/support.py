"""What the tests of the Python package share: specs, an oracle, and arrays that only speak DLPack."""
import ctypes
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# With LACUNA_TEST_INSTALLED the package is whichever Python finds.
if not os.environ.get("LACUNA_TEST_INSTALLED"):
    sys.path.insert(0, str(ROOT / "bindings/python"))

import numpy  # noqa: E402

import lacuna  # noqa: E402
from lacuna import _arrays  # noqa: E402

WINDOW = """
func.func @window(%q: tensor<?x2x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: tensor<?x1x?x16xf32>, %left: index)
    -> (tensor<?x2x?x16xf32>, tensor<?x2x?xf32>) {
  %near = sparsity.window left(%left) right(0)
  %o, %lse = attn.attend %q, %k, %v over %near : tensor<?x2x?x16xf32>, tensor<?x1x?x16xf32>,
      tensor<?x1x?x16xf32> -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
  return %o, %lse : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
}
"""
# The same for the GPU's types, at a head dimension that is worth a kernel.
WINDOW_F16 = WINDOW.replace("16xf32", "64xf16")


def inputs(n, batch=1, dtype="float32", channels=16, seed=1):
    """Queries, keys and values."""
    random = numpy.random.default_rng(seed)
    return tuple(random.standard_normal((batch, heads, n, channels)).astype(dtype) for heads in (2, 1, 1))


def window(q, k, v, left):
    """Outputs and log-sum-exps by their definition."""
    q, k, v = (array.astype("float64") for array in (q, k, v))
    n = q.shape[2]
    scores = numpy.einsum("bhid,bgjd->bhij", q, k) / numpy.sqrt(q.shape[3])
    i, j = numpy.arange(n)[:, None], numpy.arange(n)[None, :]
    scores = numpy.where((j <= i) & (i - j <= left), scores, -numpy.inf)
    lse = numpy.log(numpy.exp(scores).sum(-1))
    return numpy.einsum("bhij,bgjd->bhid", numpy.exp(scores - lse[..., None]), v), lse


class DlpackArray:
    """NumPy memory that shows nothing but DLPack as it was before versions, on whichever device it claims to be."""

    alive = 0

    def __init__(self, array, device=(_arrays.CPU, 0), error=None):
        self.array, self.device, self.error = array, device, error
        self.streams = []
        self.shape = array.shape

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        if self.error:
            raise self.error
        self.streams.append(stream)
        return self.share(_arrays.DLManagedTensor(), _arrays._DELETER, _arrays._NAME)

    def share(self, managed, deleter_type, name):
        code, bits = _arrays.adapter_of(self.array).types[self.array.dtype]
        rank = self.array.ndim
        tensor = managed.dl_tensor
        keep = [managed, self.array, (ctypes.c_int64 * rank)(*self.array.shape),
                (ctypes.c_int64 * rank)(*(stride // self.array.itemsize for stride in self.array.strides))]
        tensor.data, tensor.ndim = self.array.ctypes.data, rank
        tensor.device.device_type, tensor.device.device_id = self.device
        tensor.dtype = (code, bits, 1)
        tensor.shape, tensor.strides = (ctypes.cast(part, ctypes.POINTER(ctypes.c_int64)) for part in keep[2:])

        @deleter_type
        def deleter(_):
            DlpackArray.alive -= 1
            keep.clear()

        DlpackArray.kept = getattr(DlpackArray, "kept", []) + [deleter]
        managed.deleter = deleter
        DlpackArray.alive += 1
        return _arrays._new_capsule(ctypes.addressof(managed), name, _destroy)


class VersionedArray(DlpackArray):
    """The same as DLPack 1 has it: capsules with a version and flags, for consumers that say that they know them."""

    def __init__(self, array, device=(_arrays.CPU, 0), flags=0, major=1):
        super().__init__(array, device)
        self.flags, self.major, self.asked = flags, major, []

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        self.asked.append(max_version)
        if max_version is None or max_version[0] < 1:
            if self.flags & _arrays.READ_ONLY:
                raise BufferError("a read-only array needs a consumer of DLPack 1")
            return self.share(_arrays.DLManagedTensor(), _arrays._DELETER, _arrays._NAME)
        managed = _arrays.DLManagedTensorVersioned()
        managed.major, managed.flags = self.major, self.flags
        return self.share(managed, dict(managed._fields_)["deleter"], _arrays._VERSIONED_NAME)


@_arrays._DESTRUCTOR
def _destroy(capsule):
    """What a producer's capsule does when nobody took its tensor."""
    for name, kind in ((_arrays._NAME, _arrays.DLManagedTensor), (_arrays._VERSIONED_NAME, _arrays.DLManagedTensorVersioned)):
        if _arrays._raw_valid(capsule, name):
            pointer = ctypes.cast(_arrays._raw_pointer(capsule, name), ctypes.POINTER(kind))
            pointer.contents.deleter(pointer)


def to_numpy(tensor):
    """A copy of a result in memory of the library."""
    capsule = tensor.__dlpack__()
    view = ctypes.cast(_arrays._get_pointer(capsule, _arrays._NAME),
                       ctypes.POINTER(_arrays.DLManagedTensor)).contents.dl_tensor
    shape = tuple(view.shape[axis] for axis in range(view.ndim))
    dtype = {(2, 16): "float16", (2, 32): "float32"}[view.dtype.code, view.dtype.bits]
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    return numpy.frombuffer(ctypes.string_at(view.data, size), dtype).reshape(shape)
