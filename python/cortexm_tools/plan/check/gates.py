# SPDX-License-Identifier: Apache-2.0
"""Whether gates read the parts of their operands that the graph means, and write the result once.

Of the operator only its slices are taken. Where elements lie is found by cutting an array that has the
tensor's memory order, and following the strides that numpy then has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import CortexMError
from ...ir import Graph, ops
from ..types import Arg, Call, ConstantArg, Plan, ScratchArg, Step


def check_gates(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a gate reads other elements. It is a bug in the planner."""
    for call in step.calls:
        op, fields = step.op, call.int_fields
        if not isinstance(op.attrs, ops.Gate):
            if call.kernel.serves == "gate" or fields.get("stride"):
                raise CortexMError("reads parts, which the graph has not", where=str(op.layer))
            continue
        out = plan.graph.tensors[op.outputs[0]]
        begins = (op.attrs.a_begin, op.attrs.b_begin)
        good = len(step.calls) == 1 and not step.fused
        for arg, index, begin, name in zip(call.args, op.inputs, begins, "ab", strict=False):
            dims, stride = _rows(call, name)
            good = good and math.prod(dims) == out.numel
            walked = _walk(dims, (stride, 1))
            first = _first(plan.graph, op.attrs, index, begin) * out.dtype.size
            good = good and _begins(plan, arg, index) == first
            good = good and walked == _places(plan.graph, op.attrs, index, begin, op.outputs[0])
        if not good:
            raise CortexMError("reads other elements than the graph says", where=str(op.layer))


def _rows(call: Call, name: str) -> tuple[tuple[int, int], int]:
    """The rows of an operand that a kernel reads, their size, and how far apart they begin."""
    fields = call.int_fields
    if call.kernel.serves == "gate":
        return (fields["rows"], fields["size"]), fields[f"{name}_stride"]
    size = fields[f"{name}_period"]
    # Of periods that differ, or of one element, kernels know no stride.
    is_apart = size > 1 and fields["a_period"] == fields["b_period"] and fields["stride"] >= size
    rows = fields["count"] // size if is_apart and fields["count"] % size == 0 else 0
    return (rows, size), fields["stride"]


def _begins(plan: Plan, arg: Arg, index: int) -> int:
    """The byte of an operand to which an argument points: of its own, or of the result of a concatenation in
    which it lies in one piece; -1 if it is another tensor."""
    if isinstance(arg, ScratchArg):
        return -1
    if isinstance(arg, ConstantArg) or arg.index == index:
        return arg.offset
    if index not in plan.parts or plan.parts[index].pitch:
        return -1
    return plan.offset(arg.index) + arg.offset - plan.offset(index)


def _memory(graph: Graph, index: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """A logical array, without values, that lies in memory as the tensor does."""
    tensor = graph.tensors[index]
    order = [tensor.dim_order.index(dim) for dim in range(len(tensor.shape))]
    return np.empty(tensor.memory_shape, np.int8).transpose(order)


def _first(graph: Graph, attrs: ops.Gate, index: int, begin: int) -> int:
    return begin * _memory(graph, index).strides[attrs.dim]


def _places(
    graph: Graph, attrs: ops.Gate, index: int, begin: int, result: int
) -> tuple[tuple[int, int], ...]:
    """How far apart the elements lie that go into the result, in the order in which it lies."""
    out = graph.tensors[result]
    chosen = [slice(None)] * len(out.shape)
    chosen[attrs.dim] = slice(begin, begin + out.shape[attrs.dim])
    part = _memory(graph, index)[tuple(chosen)].transpose(out.dim_order)
    return _walk(part.shape, part.strides) if part.shape == out.memory_shape else ()


def _walk(dims: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Extents and strides with as few dimensions as possible."""
    merged: list[tuple[int, int]] = []
    for extent, stride in zip(dims, strides, strict=True):
        if extent == 1:
            continue
        if merged and merged[-1][1] == stride * extent:
            merged[-1] = (merged[-1][0] * extent, stride)
        else:
            merged.append((extent, stride))
    return tuple(merged)
