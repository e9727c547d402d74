"""Arrays of libraries that only speak DLPack, as CuPy and JAX do: minimal ones of our own, old and new."""
import gc
import os
import unittest

from support import WINDOW, WINDOW_F16, DlpackArray, VersionedArray, inputs, to_numpy, window

import numpy

import lacuna
from lacuna import _arrays

CUDA = (_arrays.CUDA, 0)
DRIVER = os.environ.get("LACUNA_FAKE_DRIVER")
NVRTC = os.environ.get("LACUNA_EMULATED_NVRTC")


@unittest.skipUnless(lacuna.has_compiler(), "the library was built without the compiler")
class OnTheCpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = lacuna.compile(WINDOW, target="cpu")

    def tearDown(self):
        gc.collect()
        self.assertEqual(DlpackArray.alive, 0)

    def expect(self, results, arrays, left):
        for result, want in zip(results, window(*arrays, left)):
            numpy.testing.assert_allclose(result, want, atol=1e-5)

    def test_both_kinds_of_capsules(self):
        arrays = inputs(20)
        for kinds in ((DlpackArray,) * 3, (VersionedArray,) * 3, (DlpackArray, VersionedArray, DlpackArray)):
            wrapped = [kind(array) for kind, array in zip(kinds, arrays)]
            self.expect(map(to_numpy, self.program(*wrapped, 3)), arrays, 3)
            for array in wrapped:
                # On the CPU there is no stream, and every consumer of DLPack 1 says so.
                self.assertEqual(array.streams, [None])
                self.assertEqual(getattr(array, "asked", [(1, 0)]), [(1, 0)])

    # Arguments are only read. What an array cannot say without a version, it says with one.
    def test_read_only_arguments(self):
        arrays = inputs(12)
        wrapped = [VersionedArray(array, flags=_arrays.READ_ONLY) for array in arrays]
        self.expect(map(to_numpy, self.program(*wrapped, 2)), arrays, 2)

    def test_results_must_be_writable(self):
        arrays = inputs(12)
        lse = numpy.empty((1, 2, 12), "float32")
        for flags, message in ((_arrays.READ_ONLY, "got a read-only one"), (_arrays.COPIED, "got a copy")):
            out = VersionedArray(numpy.empty((1, 2, 12, 16), "float32"), flags=flags), VersionedArray(lse)
            with self.assertRaisesRegex(lacuna.InvalidArgument, "result 'o': expected a tensor that may be written, " + message):
                self.program(*arrays, 2, out=out)
        out = VersionedArray(numpy.empty((1, 2, 12, 16), "float32")), DlpackArray(lse)
        self.assertEqual(self.program(*arrays, 2, out=out), out)
        self.expect((out[0].array, lse), arrays, 2)

    def test_later_versions_are_refused(self):
        q, k, v = inputs(4)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "'v': expected an array of DLPack 1, got one of DLPack 2.0"):
            self.program(VersionedArray(q), VersionedArray(k), VersionedArray(v, major=2), 1)

    def test_strides(self):
        q, k, v = inputs(40)
        wrapped = [VersionedArray(array[:, :, ::2]) for array in (q, k, v)]
        self.expect(map(to_numpy, self.program(*wrapped, 5)), [array[:, :, ::2] for array in (q, k, v)], 5)

    def test_other_devices_are_refused_by_name(self):
        q, k, v = inputs(4)
        for device, named in ((CUDA, "cuda:0"), ((_arrays.CUDA, 2), "cuda:2"), ((8, 1), "device type 8, number 1")):
            with self.assertRaisesRegex(lacuna.InvalidArgument, f"argument 'k': expected a tensor on cpu, got one on {named}"):
                self.program(VersionedArray(q), VersionedArray(k, device), VersionedArray(v), 1)
        # The CPU reads what is pinned for a GPU.
        self.expect(map(to_numpy, self.program(VersionedArray(q), VersionedArray(k, (3, 0)), VersionedArray(v), 1)), (q, k, v), 1)

    # A result is taken once, where it is.
    def test_results_are_taken_by_the_protocol(self):
        made, lse = self.program(*map(VersionedArray, inputs(4)), 1)
        with self.assertRaises(BufferError):
            made.__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            made.__dlpack__(dl_device=CUDA)
        taken = numpy.from_dlpack(made)
        self.assertEqual(taken.shape, (1, 2, 4, 16))
        self.assertEqual(to_numpy(lse).shape, (1, 2, 4))


@unittest.skipUnless(DRIVER and NVRTC, "tools/check.sh names the fake driver and the emulated NVRTC")
@unittest.skipUnless(lacuna.has_compiler(), "the library was built without the compiler")
class OnAGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = lacuna.Context(driver_library=DRIVER, nvrtc_library=NVRTC, cache_folder="")
        cls.program = lacuna.compile(WINDOW_F16, target="cuda", context=cls.context)

    # The protocol's numbers of streams: 1 is the default one, 2 each thread's own, more are handles. 0 is none.
    def test_streams(self):
        arrays = inputs(8, dtype="float16", channels=64)
        wrapped = [VersionedArray(array, CUDA) for array in arrays]
        for stream in (None, 0, 1, 2, 0x7000):
            results = self.program(*wrapped, 1, stream=stream)
            for result, want in zip(map(to_numpy, results), window(*arrays, 1)):
                numpy.testing.assert_allclose(result.astype("float64"), want, atol=4e-3)
        for array in wrapped:
            self.assertEqual(array.streams, [1, 1, 1, 2, 0x7000])

    def test_given_results_are_exported_for_the_stream(self):
        arrays = inputs(8, dtype="float16", channels=64)
        out = [VersionedArray(numpy.empty(shape, kind), CUDA) for shape, kind in (((1, 2, 8, 64), "float16"), ((1, 2, 8), "float32"))]
        self.program(*(VersionedArray(array, CUDA) for array in arrays), 1, out=tuple(out), stream=0x7000)
        for array in out:
            self.assertEqual(array.streams, [0x7000])

    def test_other_devices_are_refused_by_name(self):
        q, k, v = inputs(8, dtype="float16", channels=64)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "'v': expected a tensor on cuda:0, got one on cuda:1"):
            self.program(VersionedArray(q, CUDA), VersionedArray(k, CUDA), VersionedArray(v, (_arrays.CUDA, 1)), 1)
        # All of them on a GPU that is not there.
        with self.assertRaisesRegex(lacuna.LacunaError, "GPU"):
            self.program(*(VersionedArray(array, (_arrays.CUDA, 5)) for array in (q, k, v)), 1)


if __name__ == "__main__":
    unittest.main()
