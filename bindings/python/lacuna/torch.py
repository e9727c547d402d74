"""Programs as operators of PyTorch.

    window = lacuna.torch.operator(lacuna.compile(text))
    model = torch.compile(lambda q, k, v: window(q, k, v, left=127))

An operator is a `torch.library` custom op: torch.compile and torch.export see one node whose shapes follow from the
program's declarations, also for lengths that are not known yet. There are no gradients of programs yet; an operator
takes a backward by `register_backward`, and raises where one is asked for and there is none.
"""

from __future__ import annotations

import re
import threading
from typing import Any, Callable, Sequence

import torch

from ._library import FLOAT, INTEGER, TENSOR, InvalidArgument, Unsupported
from ._program import Program
from ._shapes import shape_function

_DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
           "i32": torch.int32, "i64": torch.int64}
_SCHEMA_TYPES = {TENSOR: "Tensor", INTEGER: "SymInt", FLOAT: "float"}

_registered: dict[str, "Operator"] = {}
_lock = threading.Lock()


def _no_backward(name: str) -> Unsupported:
    return Unsupported(f"'{name}' has no backward yet: detach its inputs, call it under torch.no_grad(), or give the "
                       "operator a backward with register_backward")


class _Recorded(torch.autograd.Function):
    """A direct call in a graph of gradients: runs forward, and refuses the way back."""

    @staticmethod
    def forward(context: Any, program: Program, out: Any, stream: Any, *arguments: Any) -> Any:
        context.name = program.name
        return program.call_general(arguments, out, stream)

    @staticmethod
    def backward(context: Any, *_: Any) -> Any:
        raise _no_backward(context.name)


def run_recorded(program: Program, arguments: Sequence[Any], out: Any, stream: int | None) -> Any:
    """`program` on tensors of which some want gradients: an error when they are asked for, not silence."""
    if out is not None:
        raise InvalidArgument(f"'{program.name}': expected no out= for tensors that want gradients, got some")
    return _Recorded.apply(program, out, stream, *arguments)


def _identifiers(program: Program) -> list[str]:
    """Names of arguments that a schema can have."""
    names = []
    for index, value in enumerate(program.arguments):
        name = re.sub(r"\W", "_", value.name)
        names.append(name if name.isidentifier() and name not in names else f"argument{index}")
    return names


class Operator:
    """A program as `torch.ops.<namespace>.<name>`. Calling it takes the program's arguments."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self._backward: Callable[..., Any] | None = None
        self._save: Callable[..., Any] | None = None
        self._names = _identifiers(program)
        parameters = ", ".join(f"{_SCHEMA_TYPES[kind]} {argument}"
                               for kind, argument in zip(program._kinds, self._names))
        returned = ", ".join("Tensor" for _ in program.results)
        self.schema = f"({parameters}) -> {returned if len(program.results) == 1 else f'({returned})'}"
        self._shapes, _ = shape_function(program.formulas, torch.sym_min, torch.sym_max)
        self.op = torch.library.custom_op(name, self._run, mutates_args=(), schema=self.schema)
        self.op.register_fake(self._fake)
        self.op.register_autograd(self._call_backward, setup_context=self._call_save)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.op(*arguments, **named)

    def register_backward(self, backward: Callable[..., Any],
                          setup_context: Callable[..., None] | None = None) -> None:
        """Gradients of the operator, as `torch.library.register_autograd` takes them: `backward(context, *gradients)`
        returns one gradient, or None, for each argument; `setup_context(context, inputs, output)` saves what it needs.
        """
        self._backward, self._save = backward, setup_context

    def _run(self, *arguments: Any) -> Any:
        return self.program(*arguments)

    def _fake(self, *arguments: Any) -> Any:
        """Results without contents: what a tracer sees."""
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        for declared, argument in zip(self.program.arguments, arguments):
            if declared.shape is None:
                continue
            if argument.dtype != _DTYPES[str(declared.type)]:
                raise InvalidArgument(f"argument '{declared.name}': expected elements of type {declared.type}, got "
                                      f"{argument.dtype}")
            if argument.dim() != len(declared.shape):
                raise InvalidArgument(f"argument '{declared.name}': expected {len(declared.shape)} axes, got "
                                      f"{argument.dim()}")
        shapes = self._shapes([getattr(argument, "shape", ()) for argument in arguments], arguments)
        results = tuple(torch.empty(shape, dtype=_DTYPES[str(value.type)], device=tensors[0].device)
                        for value, shape in zip(self.program.results, shapes))
        return results[0] if len(results) == 1 else results

    def _call_save(self, ctx: Any, inputs: Any, output: Any) -> None:
        if self._save is not None:
            self._save(ctx, inputs, output)

    def _call_backward(self, ctx: Any, *gradients: Any) -> Any:
        if self._backward is None:
            raise _no_backward(self.name)
        return self._backward(ctx, *gradients)


def operator(program: Program, name: str | None = None) -> Operator:
    """Registers `program` as a custom op, "lacuna::<function>" unless `name` ("namespace::op") says otherwise.

    The same program and name give the same operator; a name that another program has is refused.
    """
    if not any(kind == TENSOR for kind in program._kinds):
        raise InvalidArgument(f"'{program.name}': expected a program that takes tensors")
    name = name or f"lacuna::{program.name}"
    if "::" not in name:
        raise InvalidArgument(f"expected a name such as 'lacuna::window', got '{name}'")
    with _lock:
        found = _registered.get(name)
        if found is None:
            found = _registered[name] = Operator(program, name)
        elif found.program is not program:
            raise InvalidArgument(f"expected a name that no other program has, got '{name}'")
        return found
