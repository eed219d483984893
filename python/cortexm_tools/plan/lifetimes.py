# SPDX-License-Identifier: Apache-2.0
"""Which tensors share memory, and when each piece of memory is in use."""

from __future__ import annotations

from ..ir import Graph, Op, Tensor, ops, same_layout
from ..ir import ops_more as more
from .types import Buffer, ScratchArg, Step

_IN_PLACE = (
    *(ops.Add, ops.Mul, ops.Div, ops.Minimum, ops.Maximum, ops.Activation),
    *(more.Unary, more.Binary, more.Clamp),
)


def is_alias(op: Op, graph: Graph) -> bool:
    """Whether the result has the operand's bytes in the operand's order, so that no copy is needed."""
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if x.is_constant:
        return False
    if isinstance(op.attrs, ops.View):
        return True
    if isinstance(op.attrs, ops.Clone):
        return same_layout(x.shape, x.dim_order, out.dim_order)
    if isinstance(op.attrs, ops.Transpose):
        order = tuple(op.attrs.perm[dim] for dim in out.dim_order)
        return same_layout(x.shape, x.dim_order, order)
    return False


def share_memory(graph: Graph) -> dict[int, int]:
    """Maps every tensor in the arena to the tensor whose memory it uses.

    Views share with their operand, unless both are visible from outside (an input returned as an
    output needs a copy, and so do two outputs with one content). An element-wise result takes the
    memory of an operand of its size that dies there: its kernel reads an element before it writes
    the one in its place.
    """
    group: dict[int, int] = {i: i for i in graph.inputs}
    last = last_uses(graph)
    for step, op in enumerate(graph.ops):
        for out in op.outputs:
            group[out] = out
        if is_alias(op, graph) and _may_alias(op, graph, group):
            group[op.outputs[0]] = group[op.inputs[0]]
        elif isinstance(op.attrs, _IN_PLACE):
            target = _dying_operand(op, graph, group, last, step)
            if target is not None:
                group[op.outputs[0]] = target
        root = group[op.outputs[0]]
        last[root] = max(last[root], last[op.outputs[0]])
    return group


def _may_alias(op: Op, graph: Graph, group: dict[int, int]) -> bool:
    outside = {group[i] for i in graph.inputs}
    outside.update(group[i] for i in graph.outputs if i in group and i != op.outputs[0])
    return not (op.outputs[0] in graph.outputs and group[op.inputs[0]] in outside)


def _dying_operand(
    op: Op, graph: Graph, group: dict[int, int], last: dict[int, int], step: int
) -> int | None:
    out = graph.tensors[op.outputs[0]]
    for index in op.inputs:
        tensor = graph.tensors[index]
        if tensor.is_constant or tensor.nbytes != out.nbytes or tensor.dtype is not out.dtype:
            continue
        root = group[index]
        if not all(_same_place(graph.tensors[i], out) for i in op.inputs if group.get(i) == root):
            continue
        if last[root] == step and _root_size(graph, group, root) == out.nbytes:
            return root
    return None


def _same_place(tensor: Tensor, out: Tensor) -> bool:
    """Whether every element of `tensor` lies where that element of the result does."""
    missing = len(out.shape) - len(tensor.shape)
    order = (*range(missing), *(dim + missing for dim in tensor.dim_order))
    return (1,) * missing + tensor.shape == out.shape and same_layout(
        out.shape, order, out.dim_order
    )


def _root_size(graph: Graph, group: dict[int, int], root: int) -> int:
    return max(graph.tensors[i].nbytes for i, r in group.items() if r == root)


def last_uses(graph: Graph) -> dict[int, int]:
    """The last step that reads each tensor; outputs are read after the last step."""
    last = {i: 0 for i in graph.inputs}
    for step, op in enumerate(graph.ops):
        for index in (*op.inputs, *op.outputs):
            last[index] = step
    for index in graph.outputs:
        last[index] = len(graph.ops)
    return last


def buffers(
    graph: Graph, steps: tuple[Step, ...], group: dict[int, int]
) -> tuple[tuple[Buffer, ...], dict[int, int], dict[int, int]]:
    """The pieces of the arena, and which one holds each tensor and each step's scratch."""
    first = {i: 0 for i in graph.inputs}
    last = {i: 0 for i in graph.inputs}
    for number, step in enumerate(steps):
        for index in (*step.op.inputs, *step.op.outputs):
            if index not in group:
                continue
            root = group[index]
            first.setdefault(root, number)
            last[root] = max(last.get(root, 0), number)
    for index in graph.outputs:
        if index in group:
            last[group[index]] = len(steps)
    roots = sorted(first, key=lambda i: (first[i], i))
    result = [
        Buffer(
            graph.tensors[root].name,
            max(graph.tensors[i].nbytes for i, r in group.items() if r == root),
            max(_alignment(graph.tensors[i]) for i, r in group.items() if r == root),
            first[root],
            last[root],
        )
        for root in roots
    ]
    place_of = {root: number for number, root in enumerate(roots)}
    buffer_of = {index: place_of[root] for index, root in group.items() if root in place_of}
    scratch_of: dict[int, int] = {}
    for number, step in enumerate(steps):
        need = max(
            (arg.nbytes for call in step.calls for arg in call.args if isinstance(arg, ScratchArg)),
            default=0,
        )
        if need:
            scratch_of[number] = len(result)
            result.append(Buffer(f"scratch of step {number}", need, 8, number, number))
    return tuple(result), buffer_of, scratch_of


def _alignment(tensor: Tensor) -> int:
    return max(4, tensor.dtype.size)
