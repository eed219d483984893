# SPDX-License-Identifier: Apache-2.0
"""Results that lie where an operand lay: views, and those that a step writes over an operand.

Of an operator only its declaration is taken: for a view what it computes, for the other whether its
kernels read an element before they write the one in its place. Where elements lie is found out here.
"""

from __future__ import annotations

import numpy as np

from ...errors import CortexMError
from ...ir import Graph, Op, Operands, Tensor
from ..types import Plan, Step


def check_views(plan: Plan) -> None:
    """Raises a CortexMError if a step without calls is neither a concatenation of parts that lie in it
    (concat.py) nor a view: an operator whose result is its operand, byte by byte, in one place.
    """
    joined = {part.result for part in plan.parts.values()}
    for step in plan.steps:
        x, result = step.op.inputs[0], step.op.outputs[0]
        if step.calls or result in joined:
            continue
        if plan.offset(x) != plan.offset(result) or not _is_view(step.op, plan.graph):
            raise CortexMError(
                f"{step.op.kind} calls no kernel, and {plan.graph.tensors[result].name!r} does not "
                "lie there",
                where=str(step.op.layer),
            )


def _is_view(op: Op, graph: Graph) -> bool:
    """Whether an operator, applied to an array, gives another view of the same memory."""
    if len(op.inputs) != 1 or len(op.outputs) != 1:
        return False
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    memory = _array(x)
    made = op.attrs.compute((out,), memory)
    laid = made.transpose(out.dim_order)
    return (
        x.dtype is out.dtype
        and laid.size == memory.size
        and laid.flags.c_contiguous
        and laid.ctypes.data == memory.ctypes.data
    )


def overwrites_in_place(graph: Graph, step: Step, operand: int, result: int) -> bool:
    """Whether the calls of a step write `result` over `operand`, where both begin at one address,
    without losing an element that they have yet to read."""
    op, rule = step.op, step.op.attrs.traits.overwrites
    if step.fused or op.outputs[0] != result or rule is Operands.NONE:
        return False
    if rule is Operands.FIRST and (operand != op.inputs[0] or operand in op.inputs[1:]):
        return False
    x, out = graph.tensors[operand], graph.tensors[result]
    if x.dtype is not out.dtype or x.numel != out.numel or _places(x) != _places(out):
        return False
    return all(
        (arg.offset, arg.step) == (call.result.offset, call.result.step)
        for call in step.calls
        if call.result is not None and call.result.index == result
        for arg in call.tensors
        if arg.index == operand
    )


def _places(tensor: Tensor) -> list[tuple[int, int, int]]:
    """By dimension, counted from the last one as operands broadcast: the extent, and how far apart its
    elements lie in memory. Dimensions of size one have no influence."""
    strides = _array(tensor).strides
    return [
        (dim - len(strides), extent, stride)
        for dim, (extent, stride) in enumerate(zip(tensor.shape, strides, strict=True))
        if extent != 1
    ]


def _array(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """A logical array, of a byte an element, that lies in memory as the tensor does; it has no values,
    so that its size does not matter."""
    order = [tensor.dim_order.index(dim) for dim in range(len(tensor.shape))]
    return np.empty(tensor.memory_shape, np.int8).transpose(order)
