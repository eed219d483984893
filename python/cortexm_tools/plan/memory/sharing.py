# SPDX-License-Identifier: Apache-2.0
"""Which tensors share memory because their bytes are the same, or one replaces the other."""

from __future__ import annotations

from ...ir import Graph, Op, Operands, Tensor, same_layout


def is_alias(op: Op, graph: Graph) -> bool:
    """Whether the result has the operand's bytes in the operand's order, so that no copy is needed."""
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    return not x.is_constant and op.attrs.is_view(x, out)


def share_memory(
    graph: Graph, banded: frozenset[int] = frozenset(), replaced: frozenset[int] = frozenset()
) -> dict[int, int]:
    """Maps every tensor in the arena to the tensor whose memory it uses.

    Results of the operators in `banded`, which are computed in bands of rows, have their own memory, but
    for those of `replaced`, which have that of the result of the operator before.

    Views share with their operand, unless both are visible from outside (an input returned as an
    output needs a copy, and so do two outputs with one content). An element-wise result takes the
    memory of an operand of its size that dies there: its kernel reads an element before it writes
    the one in its place.

    A new state takes the memory of the old one. Views of the old one that are read after it is overwritten
    have their own memory.

    What is written by index takes the memory of the operand that dies, of which all else stays.
    """
    group: dict[int, int] = {i: i for i in graph.given}
    states = {state.after: state.before for state in graph.states}
    written = {
        states[out]: step
        for step, op in enumerate(graph.ops)
        for out in op.outputs
        if out in states
    }
    last = last_uses(graph)
    last.update(dict.fromkeys(written, len(graph.ops)))
    visible, outside = frozenset(graph.kept), set(graph.given)
    sizes = {i: graph.tensors[i].nbytes for i in graph.given}  # of what shares the memory of each
    for step, op in enumerate(graph.ops):
        for out in op.outputs:
            group[out] = states.get(out, out)
        if step in replaced:
            group[op.outputs[0]] = group[graph.ops[step - 1].outputs[0]]
        elif op.outputs[0] in states or step in banded:
            pass
        elif is_alias(op, graph) and _is_read_late(op, step, group, last, written):
            pass
        elif is_alias(op, graph) and not (
            op.outputs[0] in visible and group[op.inputs[0]] in outside
        ):
            group[op.outputs[0]] = group[op.inputs[0]]
        elif op.attrs.traits.overwrites is not Operands.NONE:
            target = _dying_operand(op, graph, group, last, step, sizes)
            if target is not None:
                group[op.outputs[0]] = target
        root = group[op.outputs[0]]
        last[root] = max(last[root], last[op.outputs[0]])
        outside |= {group[out] for out in op.outputs if out in visible}
        for out in op.outputs:
            sizes[group[out]] = max(sizes.get(group[out], 0), graph.tensors[out].nbytes)
    return group


def _is_read_late(
    op: Op, step: int, group: dict[int, int], last: dict[int, int], written: dict[int, int]
) -> bool:
    """Whether a view of a state is read when, or after, the new state is written."""
    overwritten = written.get(group[op.inputs[0]], -1)
    return step < overwritten <= last[op.outputs[0]]


def overwrites_in_place(op: Op, graph: Graph, operand: int) -> bool:
    """Whether the result may be written over an operand that it reads."""
    x, out = graph.tensors[operand], graph.tensors[op.outputs[0]]
    if is_alias(op, graph):
        return True
    if op.attrs.traits.overwrites is Operands.FIRST and operand in op.inputs[1:]:
        return False
    return (
        op.attrs.traits.overwrites is not Operands.NONE
        and x.nbytes == out.nbytes
        and x.dtype is out.dtype
        and _same_place(x, out)
    )


def _dying_operand(
    op: Op,
    graph: Graph,
    group: dict[int, int],
    last: dict[int, int],
    step: int,
    sizes: dict[int, int],
) -> int | None:
    out = graph.tensors[op.outputs[0]]
    for index in _replaceable(op):
        tensor = graph.tensors[index]
        if tensor.is_constant or tensor.nbytes != out.nbytes or tensor.dtype is not out.dtype:
            continue
        root = group[index]
        same = [i for i in op.inputs if group.get(i) == root]
        if not all(_same_place(graph.tensors[i], out) for i in same):
            continue
        if op.attrs.traits.overwrites is Operands.FIRST and len(same) > 1:
            continue
        if last[root] == step and sizes[root] == out.nbytes:
            return root
    return None


def _replaceable(op: Op) -> tuple[int, ...]:
    """The operands over which the result may be written."""
    return op.inputs[:1] if op.attrs.traits.overwrites is Operands.FIRST else op.inputs


def _same_place(tensor: Tensor, out: Tensor) -> bool:
    """Whether every element of `tensor` lies where that element of the result does."""
    missing = len(out.shape) - len(tensor.shape)
    order = (*range(missing), *(dim + missing for dim in tensor.dim_order))
    return (1,) * missing + tensor.shape == out.shape and same_layout(
        out.shape, order, out.dim_order
    )


def last_uses(graph: Graph) -> dict[int, int]:
    """The last step that reads each tensor; outputs and new states are read after the last step."""
    last = {i: 0 for i in graph.given}
    for step, op in enumerate(graph.ops):
        for index in (*op.inputs, *op.outputs):
            last[index] = step
    for index in graph.kept:
        last[index] = len(graph.ops)
    return last
