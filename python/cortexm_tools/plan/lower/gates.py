# SPDX-License-Identifier: Apache-2.0
"""Gates, as of GLU and SwiGLU: a product with a function of codes becomes one operator.

What a table gives for `b` has no other reader than the product, so that nothing is lost if it is looked up
where it is multiplied: the same codes meet in the same product, which is requantized in the same way. If the
operands are cut out of a larger tensor along one dimension, their elements are read where they lie.

The product of two parts of int8 without a function is a gate as well, whose table gives each code itself:
the parts are not copied, which is a tenth to a third of the instructions and a quarter of the memory or more.
Of int16 there is no such table, as its last entry belongs to what is no code. Their gate has none: it is the
kernel of products, which reads rows of both operands that are equally far apart.

Whether a gate pays is decided elsewhere (choose/fusions.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...ir import DType, Graph, Op, Tensor, ops, same_layout
from ...ir.edit import GraphBuilder, consumers, producers
from ...ir.rules import CODES


@dataclass(frozen=True)
class _Operand:
    """A tensor, or its part from `begin` on along `dim` and the slice that would copy it."""

    index: int
    dim: int | None = None
    begin: int = 0
    cut: Op | None = None


def find_gates(graph: Graph) -> tuple[Graph, dict[Op, list[Op]]]:
    """`graph`, whose layouts are assigned, with a table that gates might read, and by gates the operators
    that they would make needless."""
    fuse, build = _Fuse(graph), GraphBuilder(graph)
    codes = np.arange(-128, 128, dtype=np.int8)
    table = build.add_tensor(Tensor("codes", DType.S8, codes.shape, (0,), codes))
    tables = {DType.S8: (table,), DType.S16: ()}
    gates = {}
    for op, dtype in product(graph.ops, CODES):
        found = fuse.gate(op, dtype) or fuse.plain_gate(op, dtype, *tables[dtype])
        if found is not None:
            gates[found[0]] = [op, *found[1]]
    return (replace(graph, tensors=tuple(build.tensors)) if gates else graph), gates


_Found = tuple[Op, Sequence[Op]]  # a gate, and the operators that it makes needless


class _Fuse:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._made_by, self._read_by = producers(graph), consumers(graph)
        self._number = {op.outputs[0]: number for number, op in enumerate(graph.ops)}

    def gate(self, op: Op, dtype: DType) -> _Found | None:
        """A product of codes of a type and a function of others."""
        attrs = self._product(op, dtype)
        if attrs is None:
            return None
        for position in (1, 0):
            table = self._sole(op.inputs[position])
            if table is not None and isinstance(table.attrs, ops.Activation):
                return self._made(op, attrs, table, op.inputs[1 - position], position == 0)
        return None

    def plain_gate(self, op: Op, dtype: DType, *table: int) -> _Found | None:
        """A product of two parts; of int8 with the table of codes themselves."""
        attrs = self._product(op, dtype)
        if attrs is None:
            return None
        a, b = (self._cut(_Operand(index)) for index in op.inputs)
        if a.cut is None or b.cut is None or a.dim is None or a.dim != b.dim:
            return None
        without = (a.cut, b.cut)
        out = self._graph.tensors[op.outputs[0]]
        piece = math.prod(out.memory_shape[out.dim_order.index(a.dim) :])
        is_alike = self._graph.tensors[a.index].shape == self._graph.tensors[b.index].shape
        if dtype is DType.S16 and (piece == 1 or not is_alike):
            return None
        if not self._are_near(op, without):
            return None
        zeros = attrs.a_zero_point, attrs.b_zero_point
        gate = ops.Gate(a.dim, a.begin, b.begin, *zeros, attrs.out_zero_point, attrs.rescale)
        return replace(op, attrs=gate, inputs=(a.index, b.index, *table)), without

    def _product(self, op: Op, dtype: DType) -> ops.Mul | None:
        """What a product of codes of a type does that can be a gate."""
        attrs, out = op.attrs, self._graph.tensors[op.outputs[0]]
        if not isinstance(attrs, ops.Mul) or out.dtype is not dtype or not out.shape:
            return None
        (low, high), (least, most) = ops.GATE_SHIFT[dtype], ops.GATE_ZERO_POINT[dtype]
        if not low <= attrs.rescale.shift <= high or not all(
            least <= zero <= most for zero in (attrs.a_zero_point, attrs.b_zero_point)
        ):
            return None
        operands = [self._graph.tensors[index] for index in op.inputs]
        return attrs if all(x.shape == out.shape and _lie_alike(x, out) for x in operands) else None

    def _made(self, op: Op, attrs: ops.Mul, table: Op, other: int, turned: bool) -> _Found | None:
        """The gate, `turned` where the function is the first operand."""
        tensors = self._graph.tensors
        out = tensors[op.outputs[0]]
        zeros = attrs.a_zero_point, attrs.b_zero_point
        a, b = _Operand(other), _Operand(table.inputs[0])
        x = tensors[b.index]
        if x.shape != out.shape or not _lie_alike(x, out):
            return None
        if not tensors[table.inputs[1]].is_constant:
            return None
        from_a, from_b = self._cut(a), self._cut(b)
        if from_b.dim is None or from_a.dim in (None, from_b.dim):
            a, b = from_a, from_b
        without = [table, *(each.cut for each in (a, b) if each.cut is not None)]
        if not self._are_near(op, without):
            a, b, without = _Operand(other), _Operand(table.inputs[0]), [table]
        dims = [each.dim for each in (a, b) if each.dim is not None]
        gate = ops.Gate(
            dims[0] if dims else len(out.shape) - 1,
            a.begin,
            b.begin,
            *(zeros[::-1] if turned else zeros),
            attrs.out_zero_point,
            attrs.rescale,
        )
        inputs = a.index, b.index, table.inputs[1]
        return replace(op, attrs=gate, inputs=inputs), without

    def _sole(self, index: int) -> Op | None:
        """The operator that makes a tensor which is read once, and nowhere outside."""
        if index in self._graph.kept or len(self._read_by.get(index, ())) != 1:
            return None
        return self._made_by.get(index)

    def _cut(self, whole: _Operand) -> _Operand:
        """The tensor of which an operand is a part along one dimension; else the operand."""
        cut = self._sole(whole.index)
        if cut is None or not isinstance(cut.attrs, ops.Slice):
            return whole
        x, part = self._graph.tensors[cut.inputs[0]], self._graph.tensors[whole.index]
        dims = [d for d, n in enumerate(x.shape) if n != part.shape[d]]
        is_plain = all(step == 1 for step in cut.attrs.step) and not x.is_constant
        if len(dims) != 1 or not is_plain or not _lie_alike(x, part):
            return whole
        return _Operand(cut.inputs[0], dims[0], cut.attrs.begin[dims[0]], cut)

    def _are_near(self, op: Op, without: Iterable[Op]) -> bool:
        """Whether nothing else is computed between them, for which what is cut would stay in memory."""
        numbers = {self._number[each.outputs[0]] for each in without}
        last = self._number[op.outputs[0]]
        return all(number in numbers for number in range(min(numbers), last))


def _lie_alike(x: Tensor, part: Tensor) -> bool:
    return same_layout(x.shape, x.dim_order, part.dim_order)
