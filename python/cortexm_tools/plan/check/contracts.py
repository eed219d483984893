# SPDX-License-Identifier: Apache-2.0
"""Whether every call of a plan is one that its kernel `requires` in kernels.json, and has the scratch that it
asks for there: on the finished call, with facts found anew in the graph, by an evaluator of its own."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import CortexMError
from ...ir import Array, DType, Op, ops
from ..kernels.cmsis_nn import compiled_isa, level
from ..kernels.contract import FACTS
from ..types import Call, Plan, ScratchArg, Step

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}


def check_contracts(plan: Plan, step: Step) -> None:
    """
    Raises:
        CortexMError: names the layer, and what its kernel requires.
    """
    known: dict[int, _Layer] = {}
    for call in step.calls:
        kernel = call.kernel
        if not kernel.requires and kernel.scratch is None:
            continue
        op = step.op_of(call) or step.op
        layer = known.setdefault(id(op), _Layer(plan, op))

        def value(name: str, call: Call = call, layer: _Layer = layer) -> Any:
            if name in FACTS:
                return layer.fact(name, call)
            return dict(call.fields).get(name, 0)

        for each in kernel.requires:
            if not evaluate(each.node, value):
                raise CortexMError(f"{kernel.symbol} requires {each.text}", where=str(op.layer))
        scratch = [arg.nbytes for arg in call.args if isinstance(arg, ScratchArg)]
        if kernel.scratch and evaluate(kernel.scratch.node, value) > (scratch or [0])[-1]:
            raise CortexMError(f"{kernel.symbol} has not enough scratch", where=str(op.layer))


def evaluate(node: ast.AST, value: Callable[[str], Any]) -> Any:
    """An expression's value, with what `value` gives for names."""

    def of(part: ast.AST) -> Any:
        return evaluate(part, value)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return value(node.id)
        case ast.Subscript(slice=ast.Constant(value=at)):
            return of(node.value)[at]
        case ast.UnaryOp():
            return not of(node.operand) if isinstance(node.op, ast.Not) else -of(node.operand)
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)(map(of, node.values))
        case ast.IfExp():
            return of(node.body if of(node.test) else node.orelse)
        case ast.BinOp():
            return _BINARY[type(node.op)](of(node.left), of(node.right))
        case ast.Compare():
            sides = [of(node.left), *map(of, node.comparators)]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            return all(_BINARY[type(op)](a, b) for op, a, b in pairs)
        case ast.Call(func=ast.Name(id="ceil"), args=[a, b]):
            return (of(a) + of(b) - 1) // of(b)
        case ast.Call(func=ast.Name(id=("max" | "min") as name)):
            return (max if name == "max" else min)(map(of, node.args))
    raise AssertionError(ast.dump(node))


class _Layer:
    """The facts of an operator."""

    def __init__(self, plan: Plan, op: Op) -> None:
        self._plan, self._op, self._attrs = plan, op, op.attrs

    def fact(self, name: str, call: Call) -> int:
        if name == "reach":
            return _reach(call)
        if name == "scale_exponent":
            scale = next(value for field, value in call.fields if field.endswith("scale"))
            assert isinstance(scale, float)
            return math.floor(math.log2(scale))
        if name.startswith("affine"):
            return isinstance(self._attrs, ops.Add)  # affine.py adds all codes
        found: int = getattr(self, name)
        return found

    def _data(self, number: int) -> Array | None:
        """The constant that an operand is."""
        inputs = self._op.inputs
        tensor = self._plan.graph.tensors[inputs[number]] if number < len(inputs) else None
        return tensor.data if tensor is not None else None

    @cached_property
    def _is_wide(self) -> bool:
        return self._plan.graph.tensors[self._op.inputs[0]].dtype is DType.S16

    @cached_property
    def _first(self) -> int:
        """The number of the weights among the operands."""
        return 2 if isinstance(self._attrs, ops.DepthwiseRing) else 1

    @cached_property
    def _parts(self) -> list[Array]:
        """The weights less their zero point, [outputs, terms]; of a transposed convolution also by phase."""
        weight = self._data(self._first)
        assert weight is not None
        values = weight.astype(np.int64) - getattr(self._attrs, "weight_zero_point", 0)
        if isinstance(self._attrs, ops.DepthwiseConv2d | ops.DepthwiseRing):
            values = np.moveaxis(values, -1, 0)  # output channels come last there
        parts = [values]
        if isinstance(self._attrs, ops.TransposeConv2d):
            by = self._attrs.window.stride
            parts += [values[:, y :: by[0], x :: by[1]] for y, x in np.ndindex(by)]
        return [part.reshape(len(part), -1) for part in parts]

    def _sums(self, largest: int, zero_point: int) -> int:
        """The largest absolute value of a bias with a zero point folded in, and so many times all weights."""
        bias = self._data(self._first + 1)
        plain = 0 if bias is None else bias.reshape(-1).astype(np.int64)
        return max(
            int((largest * np.abs(part).sum(1) + np.abs(plain - zero_point * part.sum(1))).max())
            for part in self._parts
        )

    @cached_property
    def largest_sum(self) -> int:
        if isinstance(self._attrs, ops.RecurrentAttrs):
            tensors = self._plan.graph.tensors
            constants = [tensors[index].data for index in self._op.inputs[-3:]]
            dtype = tensors[self._op.inputs[0]].dtype
            known = (data for data in constants if data is not None)
            return max(self._attrs.largest_sums(dtype, *known))
        return self._sums(32768, 0) if self._is_wide else self._sums(128, self._zero_point)

    @cached_property
    def _zero_point(self) -> int:
        return int(getattr(self._attrs, "in_zero_point", 0))

    @cached_property
    def largest_bias(self) -> int:
        return self._sums(0, self._zero_point)

    @cached_property
    def largest_plain_sum(self) -> int:
        is_linear = isinstance(self._attrs, ops.Linear)
        return self.largest_sum if self._is_wide or is_linear else self._sums(255, 0)

    @cached_property
    def largest_start(self) -> int:
        return int(np.abs(self._parts[0][:, :512]).sum(1).max()) << 15

    @cached_property
    def _rescales(self) -> list[tuple[int, int]]:
        assert isinstance(self._attrs, ops.ConvAttrs | ops.Linear | ops.DepthwiseRing)
        return [(each.multiplier, each.shift) for each in self._attrs.rescales]

    @cached_property
    def least_shift(self) -> int:
        return min(shift for _, shift in self._rescales)

    @cached_property
    def greatest_shift(self) -> int:
        return max(shift for _, shift in self._rescales)

    @cached_property
    def narrow_multipliers(self) -> bool:
        return not any(multiplier & 0xFFFF for multiplier, _ in self._rescales)

    @cached_property
    def largest_result(self) -> int:
        """Of multipliers rounded to 16 bits, which may not become 2^15."""
        return max(
            self.largest_sum * min((multiplier + 0x8000) >> 16, 0x7FFF) >> (14 - shift)
            for multiplier, shift in self._rescales
        )

    @cached_property
    def least_weight(self) -> int:
        data = self._data(1)
        assert data is not None
        return int(data.min(initial=0))

    @cached_property
    def constant_weights(self) -> bool:
        return self._data(1) is not None

    @cached_property
    def largest_step(self) -> int:
        data = self._data(len(self._op.inputs) - 1)
        return 1 << 16 if data is None else int(np.ptp(_neighbours(data), axis=0).max())

    @cached_property
    def isa(self) -> int:
        return level(compiled_isa(self._plan.target))


def _neighbours(table: Array) -> Array:
    values = table.reshape(-1).astype(np.int64)
    return np.stack([values[1:], values[:-1]])


def _reach(call: Call) -> int:
    """How far a window's inputs are from the first of their sixteen, each row of which begins sixteen of its
    own where all rows take no more of these so."""
    fields = call.int_fields
    inputs = fields["in_c"] // fields["groups"]
    row = (fields["out_w"] - 1) * fields["stride_w"]
    row += (fields["kernel_w"] - 1) * fields["dilation_w"] + 1
    kernel_h, kernel_w, inner = np.indices((fields["kernel_h"], fields["kernel_w"], inputs))
    place = (kernel_h * fields["dilation_h"] * row + kernel_w * fields["dilation_w"]) * inputs
    place = (place + inner).reshape(-1)
    piece = fields["kernel_w"] * inputs
    filled = -(-piece // 16) * 16
    if filled * fields["kernel_h"] > -(-piece * fields["kernel_h"] // 16) * 16:
        filled = piece
    number = (kernel_h * filled + kernel_w * inputs + inner).reshape(-1)
    return int((place - place[number % 16 == 0][number // 16]).max())
