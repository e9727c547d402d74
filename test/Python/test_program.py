"""Programs on the CPU, called with NumPy arrays and with arrays that only speak DLPack."""
import gc
import os
import threading
import unittest

import support
from support import WINDOW, DlpackArray, inputs, to_numpy, window

import numpy

import lacuna


@unittest.skipUnless(lacuna.has_compiler(), "the library was built without the compiler")
class Cpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = lacuna.Context(threads=2, cache_folder="")
        cls.program = lacuna.compile(WINDOW, target="cpu", context=cls.context)

    def expect(self, n, left, batch=1):
        arrays = inputs(n, batch)
        for got, want in zip(self.program(*arrays, left), window(*arrays, left)):
            numpy.testing.assert_allclose(got, want, atol=1e-5)

    def test_one_program_runs_for_all_sizes(self):
        before = self.context.counters()["compiles"]
        for n, left, batch in ((1, 0, 1), (33, 4, 2), (130, 500, 1), (33, 9, 2)):
            self.expect(n, left, batch)
        self.assertEqual(self.context.counters()["compiles"], before)

    def test_empty(self):
        output, lse = self.program(*inputs(0), 3)
        self.assertEqual((output.shape, lse.shape), ((1, 2, 0, 16), (1, 2, 0)))

    def test_describes_itself(self):
        q, left = self.program.arguments[0], self.program.arguments[3]
        self.assertEqual((q.name, q.kind, q.type, q.shape), ("q", "tensor", "f32", (None, 2, None, 16)))
        self.assertEqual((left.name, left.kind, left.type, left.shape), ("left", "integer", None, None))
        self.assertEqual([value.name for value in self.program.results], ["o", "o.lse"])
        self.assertEqual(self.program.formulas[1], ("(extent 0 0)", "2", "(extent 0 2)"))
        self.assertEqual(self.program.result_shapes(*inputs(5, 3), 1), ((3, 2, 5, 16), (3, 2, 5)))
        self.assertIn("window(q: ?x2x?x16xf32", repr(self.program))
        self.assertEqual(self.program.target, "cpu")

    def test_arguments_by_name(self):
        q, k, v = inputs(20)
        want, _ = self.program(q, k, v, 3)
        got, _ = self.program(q, left=3, v=v, k=k)
        self.assertTrue((got == want).all())
        for arguments, named, message in (
                ((q, k, v), {}, "expected 4 arguments"), ((q, k), {"left": 1}, "argument 'v' is missing"),
                ((q, k, v), {"right": 1}, "got 'right'"), ((q, k, v, 1), {"left": 1}, "multiple values for argument 'left'")):
            with self.assertRaisesRegex(TypeError, message):
                self.program(*arguments, **named)

    def test_strided_arrays_are_not_copied(self):
        q, k, v = inputs(40)
        want = self.program(q[:, :, ::2], k[:, :, ::2], v[:, :, ::-2], 5)
        got = self.program(*(array.copy() for array in (q[:, :, ::2], k[:, :, ::2], v[:, :, ::-2])), 5)
        for a, b in zip(got, want):
            self.assertTrue((a == b).all())
        # H2 of the failures that others reported: a transposed view.
        transposed = numpy.ascontiguousarray(v.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
        for a, b in zip(self.program(q, k, transposed, 5), self.program(q, k, v, 5)):
            self.assertTrue((a == b).all())
        tokens_first = tuple(numpy.ascontiguousarray(array.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
                             for array in (q, k, v))
        for a, b in zip(self.program(*tokens_first, 5), self.program(q, k, v, 5)):
            self.assertTrue((a == b).all())

    # A program only reads its arguments.
    def test_read_only_inputs(self):
        arrays = inputs(12)
        want, _ = self.program(*arrays, 2)
        for array in arrays:
            array.flags.writeable = False
        self.assertTrue((self.program(*arrays, 2)[0] == want).all())

    def test_given_results(self):
        arrays = inputs(12)
        want = self.program(*arrays, 2)
        wide = numpy.full((1, 2, 12, 20), -7, "float32")
        given = (wide[..., :16], numpy.empty((1, 2, 12), "float32"))
        got = self.program(*arrays, 2, out=given)
        self.assertIs(got[0], given[0])
        self.assertIs(self.program(*arrays, 2, out=list(given))[1], given[1])
        for a, b in zip(given, want):
            self.assertTrue((a == b).all())
        self.assertTrue((wide[..., 16:] == -7).all())
        given[1].flags.writeable = False
        with self.assertRaisesRegex(lacuna.InvalidArgument, "result 'o.lse': expected a tensor that may be written"):
            self.program(*arrays, 2, out=given)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "expected 2 results of window, got 1"):
            self.program(*arrays, 2, out=wide)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "got f32 of shape 1x2x12x20"):
            self.program(*arrays, 2, out=(wide, numpy.empty((1, 2, 12), "float32")))

    def test_refusals_name_the_argument(self):
        q, k, v = inputs(8)
        swapped = k.astype(k.dtype.newbyteorder())
        odd = numpy.zeros((1, 1, 8, 16), numpy.dtype({"names": ["a", "b"], "formats": ["f4", "i1"]}, align=False))["a"]
        for arguments, message in (
                ((q, k.astype("float64"), v, 1), "'k' to have elements of type f32, got f64"),
                ((q, k.astype("uint8"), v, 1), "'k': expected elements of type f16"),
                ((q, swapped, v, 1), "'k': expected elements of type f16"),
                ((q, odd, v, 1), "'k': expected strides of whole elements"),
                ((q, k, v[0], 1), "'v': expected 4 axes, got 3"),
                ((q, k, v[..., :8], 1), "'v' to have extent 16 along axis 3, got 8"),
                ((q, k, None, 1), "'v': expected a tensor, got NoneType"),
                ((q, k, v, 1.5), "'left': expected an integer, got float"),
                ((q, k, v, numpy.array([1])), "'left': expected an integer, got ndarray"),
                ((q, k, v, 2**63), "'left': expected an integer of 64 bits"),
                ((q, k, DlpackArray(v, (2, 0)), 1), "'v': expected a tensor on cpu, got one on cuda:0"),
                ((q, k, DlpackArray(v, error=BufferError("readonly")), 1), "'v': expected an array that DLPack")):
            with self.subTest(message), self.assertRaisesRegex(lacuna.InvalidArgument, message):
                self.program(*arguments)
        # Nothing of a refused call stays behind.
        self.expect(8, 1)

    # I7 of the failures that others reported. 0-d arrays are tensors; numbers are plain values (an index of NumPy is one).
    def test_I7_numbers_are_plain_values(self):
        q, k, v = inputs(8)
        self.assertTrue((self.program(q, k, v, numpy.int64(2))[0] == self.program(q, k, v, 2)[0]).all())
        with self.assertRaises(lacuna.InvalidArgument):
            self.program(q, k, v, numpy.array(2))

    def test_dlpack_arrays(self):
        arrays = inputs(20)
        want = self.program(*arrays, 3)
        wrapped = [DlpackArray(array) for array in arrays]
        got = self.program(*wrapped, 3)
        for a, b in zip(got, want):
            self.assertEqual(a.__dlpack_device__(), (1, 0))
            self.assertTrue((to_numpy(a) == b).all())
            with self.assertRaisesRegex(lacuna.InvalidArgument, "taken before"):
                a.__dlpack__()
        # Mixed kinds: results are of the first one's.
        mixed = self.program(arrays[0], wrapped[1], arrays[2], 3)
        self.assertIsInstance(mixed[0], numpy.ndarray)
        self.assertTrue((mixed[0] == want[0]).all())
        given = tuple(numpy.empty_like(result) for result in want)
        self.program(*wrapped, 3, out=given)
        self.assertTrue((given[0] == want[0]).all())
        gc.collect()
        self.assertEqual(DlpackArray.alive, 0)

    def test_threads(self):
        failures = []

        def work(seed):
            try:
                for n in range(1, 40, 3):
                    arrays = inputs(n, seed=seed)
                    numpy.testing.assert_allclose(self.program(*arrays, seed)[0], window(*arrays, seed)[0], atol=1e-5)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    # As a data loader's processes do: a child that was forked off computes, and ends.
    def test_fork(self):
        arrays = inputs(60)
        want = self.program(*arrays, 5)[0]
        child = os.fork()
        if child == 0:
            right = (self.program(*arrays, 5)[0] == want).all()
            # Without the cleanup of a test runner, with that of the program.
            type(self).program = None
            gc.collect()
            os._exit(0 if right else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    # Kernels of a concatenated domain fill one result in turn.
    def test_segments(self):
        text = (support.ROOT / "examples/text_and_video.mlir").read_text()
        program = lacuna.compile(text, target="cpu", context=self.context)
        random = numpy.random.default_rng(1)
        tensors = [random.standard_normal([1 if axis == 0 else extent or 484 for axis, extent in enumerate(value.shape)])
                   .astype("float32") for value in program.arguments if value.kind == "tensor"]
        numbers = [100, 4]
        self.assertEqual([value.kind for value in program.arguments][3:], ["integer"] * (len(program.arguments) - 3))
        made = program(*tensors, *numbers[:len(program.arguments) - 3])
        given = numpy.full_like(made, numpy.nan)
        program(*tensors, *numbers[:len(program.arguments) - 3], out=given)
        self.assertTrue((given == made).all())

    # What is remembered of signatures has a bound.
    def test_many_lengths(self):
        for n in range(1, 600):
            self.program(*(numpy.zeros((1, heads, n, 16), "float32") for heads in (2, 1, 1)), 1)
        _, new = self.program.prepared
        frames = new[numpy.ndarray].__globals__["frames"]
        self.assertLessEqual(len(frames), 256)

    def test_diagnostics(self):
        with self.assertRaisesRegex(lacuna.InvalidArgument, r"^2:3: error: .*nonsense"):
            lacuna.compile("func.func @f() {\n  nonsense\n}", target="cpu", context=self.context)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "positive extents for query"):
            lacuna.compile(WINDOW, target="cpu", query_tile=0, context=self.context)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "target 'cuda' or 'cpu', got 'tpu'"):
            lacuna.compile(WINDOW, target="tpu", context=self.context)
        with self.assertRaisesRegex(lacuna.InvalidArgument, "stages"):
            lacuna.compile(WINDOW, target="cuda", stages=99, context=self.context)
        with self.assertRaisesRegex(lacuna.Unsupported, "part of this process"):
            self.program.save("never-written")
        with self.assertRaises(lacuna.Unsupported):
            self.program.save("never-written", machine_code=True)

    def test_planner_overrides(self):
        arrays = inputs(50)
        other = lacuna.compile(WINDOW, target="cpu", query_tile=8, key_tile=16, context=self.context)
        numpy.testing.assert_allclose(other(*arrays, 7)[0], window(*arrays, 7)[0], atol=1e-5)

    def test_log(self):
        seen = []
        lacuna.set_log(lambda level, message: seen.append((level, message)))
        try:
            context = lacuna.Context(cache_folder="/proc/no/such/folder", cache_bytes=1 << 20)
            lacuna.compile(support.WINDOW_F16, target="cuda", context=context)
        finally:
            lacuna.set_log(None)
        self.assertEqual([level for level, _ in seen], ["warning"])
        self.assertIn("/proc/no/such/folder", seen[0][1])

    def test_missing_files(self):
        with self.assertRaises(lacuna.LacunaError):
            lacuna.load("no-such-artifact", context=self.context)
        with self.assertRaises(lacuna.Corrupt):
            lacuna.loads(b"no artifact", context=self.context)


class Sources(unittest.TestCase):
    # The examples need PyTorch to run; that they are Python can be told without.
    def test_examples_are_python(self):
        scripts = sorted((support.ROOT / "examples/embed").glob("*.py"))
        self.assertEqual(len(scripts), 2)
        for script in scripts:
            compile(script.read_text(), str(script), "exec")


class Formulas(unittest.TestCase):
    def test_all_operations(self):
        from lacuna._shapes import shape_function
        formula = ("(add (mul (extent 0 1) 2) (floor-div (sub (scalar 1) 7) 2))", "(ceil-div 7 2)", "(mod -7 4)",
                   "(max (min 5 (gcd 12 18)) 3)",
                   "(select (and (less 1 2) (or (equal 1 2) (less-equal 2 2))) (extent 0 0) -1)")
        shapes, reads_numbers = shape_function([formula, ("1",)])
        self.assertTrue(reads_numbers)
        self.assertEqual(shapes([(9, 4), None], [None, 2]), ((5, 4, 1, 5, 9), (1,)))
        self.assertFalse(shape_function([("(extent 0 0)",)])[1])


if __name__ == "__main__":
    unittest.main()
