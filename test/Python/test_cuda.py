"""Programs for the GPU without one: a driver whose memory is the host's, and kernels that run there.

LACUNA_FAKE_DRIVER and LACUNA_EMULATED_NVRTC name the libraries of test/; without them the tests are skipped.
"""
import os
import pathlib
import tempfile
import unittest

import support
from support import WINDOW, WINDOW_F16, DlpackArray, inputs, to_numpy, window

import numpy

import lacuna

DRIVER, NVRTC = os.environ.get("LACUNA_FAKE_DRIVER"), os.environ.get("LACUNA_EMULATED_NVRTC")
CUDA = (2, 0)


def on_gpu(arrays, device=CUDA):
    return tuple(DlpackArray(array, device) for array in arrays)


class NoGpu(unittest.TestCase):
    def test_says_what_is_missing(self):
        context = lacuna.Context(driver_library="libno-such-driver.so", cache_folder="")
        self.assertFalse(lacuna.has_gpu(context))
        program = None
        if lacuna.has_compiler():
            program = lacuna.compile(WINDOW_F16, target="cuda", context=context)
            self.assertEqual(program.architecture, "sm_90a")
            with self.assertRaisesRegex(lacuna.Missing, "libno-such-driver.so"):
                program(*on_gpu(inputs(8, dtype="float16", channels=64)), 1)
            # Shapes need no GPU.
            self.assertEqual(program.result_shapes(*inputs(8, channels=64), 1), ((1, 2, 8, 64), (1, 2, 8)))


@unittest.skipUnless(DRIVER and NVRTC, "no fake driver is named")
@unittest.skipUnless(lacuna.has_compiler(), "the library was built without the compiler")
class Cuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = lacuna.Context(driver_library=DRIVER, nvrtc_library=NVRTC, cache_folder="")
        cls.program = lacuna.compile(WINDOW_F16, target="cuda", context=cls.context)

    def expect(self, got, arrays, left):
        for result, want in zip(got, window(*arrays, left)):
            numpy.testing.assert_allclose(result.astype("float64"), want, atol=4e-3)

    def test_gpu_is_the_default(self):
        self.assertEqual(lacuna.compile(WINDOW_F16, context=self.context).target, "cuda")

    def test_one_program_runs_for_all_sizes(self):
        for n, left in ((1, 0), (100, 7), (300, 1000)):
            arrays = inputs(n, dtype="float16", channels=64)
            results = self.program(*on_gpu(arrays), left)
            self.assertEqual(results[0].__dlpack_device__(), CUDA)
            self.expect(tuple(map(to_numpy, results)), arrays, left)

    def test_given_results(self):
        arrays = inputs(70, dtype="float16", channels=64)
        out = numpy.empty((1, 2, 70, 64), "float16"), numpy.empty((1, 2, 70), "float32")
        self.program(*on_gpu(arrays), 9, out=on_gpu(out))
        self.expect(out, arrays, 9)

    def test_stream_reaches_the_arrays(self):
        arrays = on_gpu(inputs(8, dtype="float16", channels=64))
        self.program(*arrays, 1)
        self.program(*arrays, 1, stream=0x7000)
        # The protocol calls the default stream 1.
        self.assertEqual(arrays[0].streams, [1, 0x7000])

    def test_refusals(self):
        q, k, v = inputs(8, dtype="float16", channels=64)
        for arguments, message in (
                ((*on_gpu((q, k)), DlpackArray(v), 1), "'v': expected a tensor on cuda:0, got one on cpu"),
                ((*on_gpu((q, k)), DlpackArray(v, (2, 3)), 1), "'v': expected a tensor on cuda:0, got one on cuda:3"),
                ((*on_gpu((q, k)), DlpackArray(v, (3, 0)), 1), "'v': expected a tensor on cuda:0, got one on pinned"),
                ((q, k, v, 1), "'q': expected a tensor on cuda:0, got one on cpu"),
                ((*on_gpu((q, k, v.astype("float32"))), 1), "'v': expected elements of type f16, got f32"),
                ((*on_gpu((q, k, v[..., :32])), 1), "'v': expected shape")):
            with self.subTest(message), self.assertRaisesRegex(lacuna.InvalidArgument, message):
                self.program(*arguments)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "expected f16 or bf16 elements on this target"):
            lacuna.compile(WINDOW, target="cuda", context=self.context)

    # H1, H4 of the failures that others reported: keys that are every second row of a larger buffer beside contiguous
    # values, queries that are contiguous as (batch, length, heads, channels).
    def test_strides(self):
        q, k, v = inputs(130, batch=2, dtype="float16", channels=64)
        wide = numpy.full((2, 1, 260, 64), numpy.nan, "float16")
        wide[:, :, ::2] = k
        tokens_first = numpy.ascontiguousarray(q.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        for arrays in ((q, wide[:, :, ::2], v), (tokens_first, k, v)):
            self.expect(tuple(map(to_numpy, self.program(*on_gpu(arrays), 30))), (q, k, v), 30)

    # H2: channels that are not neighbours in memory are read right or refused by name, never read wrong.
    def test_transposed_values(self):
        q, k, v = inputs(130, dtype="float16", channels=64)
        transposed = numpy.ascontiguousarray(v.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "argument 'v': .*stride"):
            self.program(*on_gpu((q, k, transposed)), 30)

    # A second context on the same folder compiles nothing: as a second process does.
    def test_cache(self):
        arrays = inputs(20, dtype="float16", channels=64)
        with tempfile.TemporaryDirectory() as folder:
            for compiles in (1, 0):
                context = lacuna.Context(driver_library=DRIVER, nvrtc_library=NVRTC, cache_folder=folder,
                                         cache_bytes=1 << 24)
                program = lacuna.compile("// Words that change nothing.\n" * compiles + WINDOW_F16, target="cuda",
                                         context=context)
                self.expect(tuple(map(to_numpy, program(*on_gpu(arrays), 3))), arrays, 3)
                self.assertEqual(context.counters()["compiles"], compiles)
            self.assertTrue(any(pathlib.Path(folder).rglob("cubin-*")))

    # With machine code an artifact runs where there is no NVRTC; without, it says what is missing.
    def test_artifact_with_machine_code(self):
        arrays = inputs(30, dtype="float16", channels=64)
        without = lacuna.Context(driver_library=DRIVER, nvrtc_library="/nowhere/libnvrtc.so", cache_folder="")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "window.lacuna"
            self.program.save(path, machine_code=True)
            self.expect(tuple(map(to_numpy, lacuna.load(path, context=without)(*on_gpu(arrays), 5))), arrays, 5)
            compiled = path.read_bytes()
            self.program.save(path)
            self.assertLess(path.stat().st_size, len(compiled))
            with self.assertRaisesRegex(lacuna.Missing, "NVRTC"):
                lacuna.load(path, context=without)(*on_gpu(arrays), 5)
            # Nothing is written without NVRTC.
            with self.assertRaisesRegex(lacuna.Missing, "NVRTC"):
                lacuna.load(path, context=without).save(pathlib.Path(folder) / "never", machine_code=True)
            self.assertFalse((pathlib.Path(folder) / "never").exists())
            # What has machine code keeps it.
            lacuna.loads(compiled, context=without).save(path)
            self.assertEqual(path.read_bytes(), compiled)

    def test_artifact(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "window.lacuna"
            self.program.save(path)
            loaded = lacuna.load(path, context=self.context)
            same = lacuna.loads(path.read_bytes(), context=self.context)
            broken = bytearray(path.read_bytes())
        self.assertEqual(repr(loaded), repr(self.program))
        self.assertEqual((same.formulas, same.results), (self.program.formulas, self.program.results))
        arrays = inputs(40, dtype="float16", channels=64)
        self.expect(tuple(map(to_numpy, loaded(*on_gpu(arrays), 5))), arrays, 5)
        broken[len(broken) // 2] ^= 1
        with self.assertRaises(lacuna.Corrupt):
            lacuna.loads(bytes(broken), context=self.context)


@unittest.skipUnless(DRIVER and NVRTC, "no fake driver is named")
@unittest.skipUnless(os.environ.get("LACUNA_TEST_ARTIFACT"), "no artifact is named")
class AheadOfTime(unittest.TestCase):
    """An artifact that another process wrote, in a library that has no compiler."""

    def test_runs(self):
        self.assertFalse(lacuna.has_compiler())
        context = lacuna.Context(driver_library=DRIVER, nvrtc_library=NVRTC, cache_folder="")
        with self.assertRaisesRegex(lacuna.Unsupported, "built without it"):
            lacuna.compile(WINDOW, target="cpu", context=context)
        program = lacuna.load(os.environ["LACUNA_TEST_ARTIFACT"], context=context)
        for n, left in ((1, 0), (130, 9)):
            arrays = inputs(n, dtype="float16", channels=64)
            for got, want in zip(program(*on_gpu(arrays), left), window(*arrays, left)):
                numpy.testing.assert_allclose(to_numpy(got).astype("float64"), want, atol=4e-3)


if __name__ == "__main__":
    unittest.main()
