"""Programs on PyTorch tensors, and as operators that torch.compile and torch.export see. Skipped without PyTorch."""
import os
import subprocess
import sys
import unittest

import support
from support import WINDOW, inputs, window

import numpy

import lacuna

try:
    import torch
    import lacuna.torch
except ImportError:
    torch = None


class OnGpu:
    """A program for the CPU that says that it is for a GPU."""

    def __init__(self, program):
        self.program = program
        self._device_type = lacuna._library.CUDA

    def __getattr__(self, name):
        return getattr(self.program, name)


@unittest.skipIf(torch is None, "PyTorch is not installed")
@unittest.skipUnless(lacuna.has_compiler(), "the library was built without the compiler")
class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = lacuna.compile(WINDOW, target="cpu")
        cls.operator = lacuna.torch.operator(cls.program, "lacuna_test::window")

    @staticmethod
    def tensors(n, batch=1):
        return tuple(map(torch.from_numpy, inputs(n, batch)))

    def expect(self, got, arrays, left):
        for result, want in zip(got, window(*(array.detach().numpy() for array in arrays), left)):
            self.assertIsInstance(result, torch.Tensor)
            numpy.testing.assert_allclose(result.detach().numpy(), want, atol=1e-5)

    def test_tensors_in_tensors_out(self):
        for n, left, batch in ((1, 0, 1), (33, 4, 2), (130, 500, 1)):
            arrays = self.tensors(n, batch)
            self.expect(self.program(*arrays, left), arrays, left)

    def test_strides(self):
        q, k, v = self.tensors(20)
        q, k, v = (tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in (q, k, v))
        self.expect(self.program(q, k, v, 3), (q, k, v), 3)

    def test_bf16(self):
        program = lacuna.compile(WINDOW.replace("16xf32", "16xbf16"), target="cpu")
        arrays = tuple(tensor.bfloat16() for tensor in self.tensors(40))
        output, lse = program(*arrays, 5)
        self.assertEqual((output.dtype, lse.dtype), (torch.bfloat16, torch.float32))
        want, _ = window(*(tensor.float().numpy() for tensor in arrays), 5)
        numpy.testing.assert_allclose(output.float().numpy(), want, atol=0.02)

    def test_given_results(self):
        arrays = self.tensors(9)
        out = (torch.empty(1, 2, 9, 16), torch.empty(1, 2, 9))
        self.assertIs(self.program(*arrays, 2, out=out)[0], out[0])
        self.expect(out, arrays, 2)

    # New results come from the quick way to memory where the program's GPU is the current one, else by name of the GPU.
    def test_memory_of_new_results(self):
        adapter = lacuna._arrays.TorchAdapter()
        asked = []

        def note(where):
            def empty(shape, strides, dtype):
                asked.append((where, shape, strides, dtype))
                return torch.empty_strided(shape, strides, dtype=dtype)
            return empty

        adapter.empty_cuda, adapter.empty_on = note("here"), lambda device_id: note(device_id)
        adapter.stream = lambda device_id: 0
        arrays = self.tensors(6)
        for current, where in ((0, "here"), (1, 0)):
            adapter.current_device = lambda current=current: current
            call = lacuna._prepared.make_prepared_call(OnGpu(self.program), adapter, given=False)
            self.expect(call(None, None, *arrays, 2), arrays, 2)
            self.assertEqual(asked, [(where, (1, 2, 6, 16), (192, 96, 16, 1), torch.float32),
                                     (where, (1, 2, 6), (12, 6, 1), torch.float32)])
            asked.clear()

    # Tensors that are contiguous and those that are not are two signatures, also of one shape.
    def test_contiguous_or_not(self):
        arrays = self.tensors(5)
        turned = tuple(tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in arrays)
        for _ in range(2):
            for these in (arrays, turned, (arrays[0], turned[1], arrays[2])):
                self.expect(self.program(*these, 2), arrays, 2)

    def test_refusals(self):
        q, k, v = self.tensors(8)
        for arguments, message in (
                ((q, k.double(), v, 1), "'k' to have elements of type f32, got f64"),
                ((q, k.to(torch.uint8), v, 1), "'k': expected elements of type f16"),
                ((q, k.to("meta"), v, 1), "'k': expected a tensor on a GPU or on the CPU, got one on meta"),
                ((q, k, v, torch.tensor(2)), "'left': expected an integer, got Tensor")):
            with self.subTest(message), self.assertRaisesRegex(lacuna.InvalidArgument, message):
                self.program(*arguments)

    def test_gradients_are_refused_aloud(self):
        q, k, v = self.tensors(8)
        q.requires_grad_()
        with torch.no_grad():
            self.assertFalse(self.program(q, k, v, 1)[0].requires_grad)
        for call in (self.program, self.operator):
            output, _ = call(q, k, v, 1)
            self.assertTrue(output.requires_grad)
            self.expect((output,), (q, k, v), 1)
            with self.assertRaisesRegex(lacuna.Unsupported, "has no backward yet"):
                output.sum().backward()
        parameter = torch.nn.Parameter(q.detach())
        self.assertTrue(self.program(parameter, k, v, 1)[0].requires_grad)

    def test_registered_backward(self):
        operator = lacuna.torch.operator(self.program, "lacuna_test::window_with_backward")

        def setup(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        operator.register_backward(lambda ctx, o, lse: (2 * ctx.saved_tensors[0], None, None, None), setup)
        q, k, v = self.tensors(8)
        q.requires_grad_()
        operator(q, k, v, 1)[0].sum().backward()
        self.assertTrue((q.grad == 2 * q.detach()).all())

    def test_operator_is_well_formed(self):
        torch.library.opcheck(self.operator.op, (*self.tensors(8), 3),
                              test_utils=("test_schema", "test_faketensor", "test_autograd_registration"))

    def test_compile(self):
        compiled = torch.compile(lambda q, k, v, left: self.operator(q, k, v, left=left)[0] * 2, backend="aot_eager",
                                 fullgraph=True, dynamic=True)
        for n, left in ((20, 3), (33, 7), (50, 2)):
            arrays = self.tensors(n)
            self.expect((compiled(*arrays, left) / 2,), arrays, left)

    def test_export(self):
        class Module(torch.nn.Module):
            def forward(self, q, k, v):
                return operator(q, k, v, 4)[0]

        operator = self.operator
        n = torch.export.Dim("n", min=2, max=4096)
        shapes = {name: {2: n} for name in ("q", "k", "v")}
        exported = torch.export.export(Module(), self.tensors(20), dynamic_shapes=shapes)
        self.assertIn("lacuna_test.window", str(exported.graph))
        arrays = self.tensors(77)
        self.expect((exported.module()(*arrays),), arrays, 4)

    def test_fake_shapes(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():
            output, lse = self.operator(torch.empty(3, 2, 5, 16), torch.empty(3, 1, 5, 16), torch.empty(3, 1, 5, 16), 1)
            self.assertEqual((tuple(output.shape), tuple(lse.shape)), ((3, 2, 5, 16), (3, 2, 5)))
            with self.assertRaisesRegex(Exception, "argument 'k': expected elements of type f32"):
                self.operator(torch.empty(3, 2, 5, 16), torch.empty(3, 1, 5, 16).double(), torch.empty(3, 1, 5, 16), 1)

    def test_examples(self):
        for words in (["torch_module.py"], ["server_loop.py", "--steps=3"]):
            script = support.ROOT / "examples/embed" / words[0]
            path = os.pathsep.join([str(support.ROOT / "bindings/python"), os.environ.get("PYTHONPATH", "")])
            done = subprocess.run([sys.executable, str(script), *words[1:], "--device=cpu"], text=True,
                                  capture_output=True, env={**os.environ, "PYTHONPATH": path}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("largest difference", done.stdout)

    def test_names(self):
        self.assertIs(lacuna.torch.operator(self.program, "lacuna_test::window"), self.operator)
        other = lacuna.compile(WINDOW, target="cpu")
        with self.assertRaisesRegex(lacuna.InvalidArgument, "no other program has"):
            lacuna.torch.operator(other, "lacuna_test::window")
        with self.assertRaisesRegex(lacuna.InvalidArgument, "got 'window'"):
            lacuna.torch.operator(other, "window")


if __name__ == "__main__":
    unittest.main()
