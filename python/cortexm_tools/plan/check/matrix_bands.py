# SPDX-License-Identifier: Apache-2.0
"""Proves on a step that computes rows of matrices in bands that every call finds the rows it needs.

It keeps book of the tensor and the row that lie in each place of a band's buffer, which several tensors
may take in turn. Rows are counted through all matrices of a tensor. What an operand that is no such band
gives to each element is compared with what broadcasting says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CortexMError
from ...ir import Graph, Op, Operands, Tensor, ops
from ..types import Call, ConstantArg, Plan, Step, TensorArg

Ints = npt.NDArray[np.int64]

_EMPTY = -1


def is_in_matrix_bands(step: Step) -> bool:
    """Whether the step computes products of matrices in bands."""
    return bool(step.fused) and isinstance(step.op.attrs, ops.BatchMatmul)


def check_matrix_bands(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of `step` reads a row that is not there, writes outside of its
    buffer, or if not all rows are computed. It is a bug in the planner."""
    _Check(plan, step).run()


class _Check:
    def __init__(self, plan: Plan, step: Step) -> None:
        self.plan = plan
        self.graph: Graph = plan.graph
        self.step = step
        self.makers = {op.outputs[0]: op for op in step.ops}
        placed = {op.outputs[0]: self.matrices(op) for op in step.ops}
        # Of products: the places of the elements of both operands and of the result, matrix by matrix.
        self.places: dict[int, list[Ints]] = {
            index: [each.places().astype(np.int64) for each in found]
            for index, found in placed.items()
            if found
        }
        self.height = self.places[step.op.outputs[0]][2].shape[1]
        self.done = {index: 0 for index in self.makers}
        # By buffer, in bytes; a row is a number that its tensor and its place in that give.
        self.books = {
            place: np.full(plan.buffers[place].nbytes, _EMPTY, np.int64)
            for place in {plan.buffer_of[index] for index in step.inside}
        }
        self.shown: dict[int, int] = {}  # views have the rows of what they show
        for op in step.fused:
            if isinstance(op.attrs, ops.View):
                source = op.inputs[0]
                self.shown[op.outputs[0]] = self.shown.get(source, source)
                if plan.buffer_of[source] != plan.buffer_of[op.outputs[0]]:
                    raise self.error(f"{self.name(op.outputs[0])} does not lie where it is read")

    def run(self) -> None:
        for call in self.step.trace():
            op = self.makers.get(call.tensors[-1].index)
            if op is None or not self.fits(op, call):
                raise self.error(f"{call.kernel.symbol} computes no rows of it")
            rows = self.rows(op, call)
            for position, index in enumerate(op.inputs):
                self.read(op, call, position, index, rows)
            self.write(op, call, rows)
        for index, done in self.done.items():
            if index not in self.shown and done != self.all_rows(index):
                raise self.error(f"some rows of {self.name(index)} are never computed")

    def matrices(self, op: Op) -> tuple[ops.Matrices, ...] | None:
        if not isinstance(op.attrs, ops.BatchMatmul):
            return None
        return op.attrs.placed(*(self.graph.tensors[index] for index in op.inputs))

    def fits(self, op: Op, call: Call) -> bool:
        """Whether the call computes whole rows as the operator does, and with its operands."""
        tables = [arg for arg in call.args[len(op.inputs) :] if isinstance(arg, ConstantArg)]
        if any(arg.offset for arg in tables):
            return False
        f: dict[str, Any] = dict(call.fields)
        made = self.graph.tensors[op.outputs[0]].shape
        named = [arg.index if isinstance(arg, TensorArg) else None for arg in call.args]
        own = [None if self.graph.tensors[i].is_constant else i for i in op.inputs]
        if isinstance(op.attrs, ops.BatchMatmul):
            own_shape = (1, 1, *self.places[op.outputs[0]][1].shape[1:])
            shape = tuple(f[name] for name in ("groups", "batches", "cols", "inner"))
            return named[:2] == own and shape == own_shape
        if isinstance(op.attrs, (ops.Softmax, ops.WideSoftmax)):
            return named[0] == own[0] and (f["size"], f["inner"]) == (made[-1], 1)
        count = math.prod(f["dims"]) if "dims" in f else f["count"]
        return named[: len(own)] == own and count % made[-1] == 0

    def rows(self, op: Op, call: Call) -> int:
        f: dict[str, Any] = dict(call.fields)
        if isinstance(op.attrs, ops.BatchMatmul):
            return int(f["rows"])
        if isinstance(op.attrs, (ops.Softmax, ops.WideSoftmax)):
            return int(f["outer"])
        count = math.prod(f["dims"]) if "dims" in f else f["count"]
        return int(count) // self.graph.tensors[op.outputs[0]].shape[-1]

    def read(self, op: Op, call: Call, position: int, index: int, rows: int) -> None:
        arg, tensor = call.args[position], self.graph.tensors[index]
        assert isinstance(arg, (TensorArg, ConstantArg))
        size, first = tensor.dtype.size, self.done[op.outputs[0]]
        row = math.prod(tensor.shape[-1:]) * size
        if isinstance(op.attrs, ops.BatchMatmul) and position == 1:
            matrix = first // self.height
            there = index not in self.makers and first % self.height + rows <= self.height
            places = self.places[op.outputs[0]][1][matrix]
            if not there or not self.are_at(call, "rhs_strides", arg.offset / size, places):
                raise self.error(f"matrix {matrix} of {self.name(index)} is not there")
        elif isinstance(op.attrs, ops.BatchMatmul) and index not in self.makers:
            places = self.rows_of(self.places[op.outputs[0]][0], first, rows)
            if not self.are_at(call, "lhs_strides", arg.offset / size, places):
                raise self.error(f"row {first} of {self.name(index)} is not there")
        elif index in self.makers:
            book = self.books[self.plan.buffer_of[index]][arg.offset :][: rows * row]
            if not np.array_equal(book, self.tags(index, first, rows)):
                raise self.error(f"row {first} of {self.name(index)} is not there")
            if not self.is_dense(op, call, position, rows):
                raise self.error(f"{self.name(index)} is not read row by row")
        elif isinstance(op.attrs, (ops.Softmax, ops.WideSoftmax)):
            if arg.offset != first * row:
                raise self.error(f"row {first} of {self.name(index)} is not there")
        elif self.varies(call, position):
            out = self.graph.tensors[op.outputs[0]]
            wanted = _broadcast(tensor, out).reshape(-1, out.shape[-1])[first : first + rows]
            if not np.array_equal(
                self.elements(call, position, rows * out.shape[-1]) + arg.offset // size,
                wanted.reshape(-1),
            ):
                raise self.error(
                    f"the elements of {self.name(index)} for row {first} are not there"
                )
        elif arg.offset:
            raise self.error(f"{self.name(index)} is not read from its beginning")

    def rows_of(self, places: Ints, first: int, rows: int) -> Ints:
        """Of some rows, counted through all matrices."""
        return places.reshape(-1, places.shape[-1])[first : first + rows]

    def are_at(self, call: Call, name: str, offset: float, places: Ints) -> bool:
        """Whether a product finds the rows of one matrix at these places, its operand beginning with
        element `offset`."""
        steps: Any = dict(call.fields)[name]
        rows, columns = np.indices(places.shape, np.int64)
        last = steps[3] if len(steps) > 3 else 1
        return np.array_equal(offset + rows * steps[2] + columns * last, places)

    def varies(self, call: Call, position: int) -> bool:
        """Whether an argument is an operand by elements, and not a table for all of them."""
        fields = dict(call.fields)
        return position == 0 or "a_period" in fields or "dims" in fields

    def elements(self, call: Call, position: int, count: int) -> Ints:
        """Which elements behind its pointer a call reads of an operand, by element of the result."""
        f: dict[str, Any] = dict(call.fields)
        if "dims" in f:
            steps = [f[name] for name in f if name.endswith("_stride")][position]
            grid = np.indices(f["dims"], np.int64).reshape(len(f["dims"]), -1)
            places: Ints = np.array(steps, np.int64) @ grid
            return places
        turn: Ints = np.arange(count, dtype=np.int64)
        turn %= int(f.get(("a_period", "b_period")[position], count))
        return turn

    def is_dense(self, op: Op, call: Call, position: int, rows: int) -> bool:
        if isinstance(op.attrs, ops.BatchMatmul):
            steps: Any = dict(call.fields)["lhs_strides"]
            return bool(steps[2] == self.graph.tensors[op.inputs[0]].shape[-1])
        if isinstance(op.attrs, (ops.Softmax, ops.WideSoftmax)):
            return True
        count = rows * self.graph.tensors[op.outputs[0]].shape[-1]
        return np.array_equal(self.elements(call, position, count), np.arange(count))

    def write(self, op: Op, call: Call, rows: int) -> None:
        made, target = op.outputs[0], call.tensors[-1]
        tensor, first = self.graph.tensors[made], self.done[made]
        row = tensor.shape[-1] * tensor.dtype.size
        if made in self.step.inside:
            place = self.plan.buffer_of[made]
            book = self.books[place]
            if target.offset + rows * row > len(book):
                raise self.error(f"{self.name(made)} is larger than its buffer")
            for position, index in enumerate(op.inputs):
                arg = call.args[position]
                if index in self.makers and self.plan.buffer_of[index] == place:
                    assert isinstance(arg, TensorArg)
                    goes_over = op.attrs.traits.overwrites
                    same = self.graph.tensors[index].dtype is tensor.dtype
                    if (
                        goes_over is Operands.NONE
                        or (goes_over is Operands.FIRST and position)
                        or not (same and arg.offset == target.offset)
                    ):
                        raise self.error(
                            f"{self.name(made)} is written over what is yet to be read"
                        )
            book[target.offset :][: rows * row] = self.tags(made, first, rows)
        elif made in self.places:
            places = self.rows_of(self.places[made][2], first, rows)
            if not self.are_at(call, "out_strides", target.offset / tensor.dtype.size, places):
                raise self.error(f"a band of {self.name(made)} lies in the wrong place")
        elif target.offset != first * row:
            raise self.error(f"a band of {self.name(made)} lies in the wrong place")
        self.done[made] += rows

    def tags(self, index: int, first: int, rows: int) -> Ints:
        tensor = self.graph.tensors[index]
        row = tensor.shape[-1] * tensor.dtype.size
        shown = self.shown.get(index, index)
        return (shown << 40) + first * row + np.arange(rows * row, dtype=np.int64)

    def all_rows(self, index: int) -> int:
        tensor = self.graph.tensors[index]
        width = self.places[index][2].shape[-1] if index in self.places else tensor.shape[-1]
        return tensor.numel // width

    def name(self, index: int) -> str:
        return repr(self.graph.tensors[index].name)

    def error(self, message: str) -> CortexMError:
        return CortexMError(message, where=str(self.step.op.layer))


def _broadcast(tensor: Tensor, out: Tensor) -> Ints:
    """By element of `out`, in C order, the element of `tensor` in its memory order that it takes."""
    order = tuple(tensor.dim_order.index(dim) for dim in range(len(tensor.shape)))
    places = np.arange(tensor.numel, dtype=np.int64).reshape(tensor.memory_shape).transpose(order)
    return np.broadcast_to(places, out.shape)
