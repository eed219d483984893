# SPDX-License-Identifier: Apache-2.0
"""State: memory outside the arena, which keeps its bytes from call to call.

A state's new value is written where the old one lies, so by an operator behind all that read the old one,
or by one that reads each element before it writes the one in its place. Where the program computes it
sooner, it is copied at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...ir import Array, Graph, Op, State, Tensor, ops
from ...options.memories import Region
from ..types import Arena, Buffer, Constant
from .sharing import overwrites_in_place

KIND = "state"  # of the region that stands for it


def settle(graph: Graph) -> Graph:
    """`graph` with copies at its end for the new states that operators compute too soon."""
    maker = {index: number for number, op in enumerate(graph.ops) for index in op.outputs}
    tensors, copies, states = list(graph.tensors), list[Op](), list[State]()
    for state in graph.states:
        number = maker[state.after]
        readers = [n for n, op in enumerate(graph.ops) if state.before in op.inputs]
        late = [n for n in readers if n >= number]
        if late and not (late == [number] and _in_place(graph, graph.ops[number], state)):
            copy = _copy_of(graph, state.after)
            copies.append(Op(ops.Clone(), (state.after,), (len(tensors),), graph.ops[number].layer))
            state = replace(state, after=len(tensors))
            tensors.append(copy)
        states.append(state)
    return replace(graph, tensors=tuple(tensors), ops=(*graph.ops, *copies), states=tuple(states))


def _copy_of(graph: Graph, index: int) -> Tensor:
    names = {tensor.name for tensor in graph.tensors}
    name = f"{graph.tensors[index].name}_kept"
    while name in names:
        name += "_"
    return replace(graph.tensors[index], name=name)


def _in_place(graph: Graph, op: Op, state: State) -> bool:
    return state.after == op.outputs[0] and overwrites_in_place(op, graph, state.before)


def waits(graph: Graph) -> dict[int, set[int]]:
    """For the operators that compute new states, those that read the old ones: they come first."""
    maker = {index: number for number, op in enumerate(graph.ops) for index in op.outputs}
    found: dict[int, set[int]] = {}
    for state in graph.states:
        number = maker[state.after]
        readers = {n for n, op in enumerate(graph.ops) if state.before in op.inputs}
        found.setdefault(number, set()).update(readers - {number})
    return found


def state_buffers(graph: Graph, steps: int) -> tuple[Buffer, ...]:
    """A buffer for each state, one behind the other from offset 0 on; they live in all steps."""
    buffers: list[Buffer] = []
    end = 0
    for state in graph.states:
        tensor = graph.tensors[state.before]
        align = max(4, tensor.dtype.size)
        offset = -(-end // align) * align
        buffers.append(Buffer(state.name, tensor.nbytes, align, 0, steps, offset))
        end = offset + tensor.nbytes
    return tuple(buffers)


def state_bytes(graph: Graph) -> int:
    """The memory of all states."""
    last = state_buffers(graph, 0)[-1:]
    return sum(-(-(buffer.offset + buffer.nbytes) // 16) * 16 for buffer in last)


def initial_constants(graph: Graph, *, apart: bool = False) -> tuple[Constant, ...]:
    """The initial values that are in flash: those of more than one byte; all of them with `apart`, as
    they follow from what the model has learned."""
    return tuple(
        Constant(initial_name(number), data, f"initial value of {state.name}", needed=data.nbytes)
        for number, state in enumerate(graph.states)
        if len(set((data := initial_bytes(graph, state)).tobytes())) > 1 or apart
    )


def initial_name(number: int) -> str:
    """The constant with the initial value of a state."""
    return f"initial_{number}"


def initial_bytes(graph: Graph, state: State) -> Array:
    """The initial value as it lies in memory."""
    order = graph.tensors[state.before].dim_order
    return np.ascontiguousarray(state.initial.transpose(order)).reshape(-1).view(np.uint8)


def add_states(
    graph: Graph,
    buffers: tuple[Buffer, ...],
    buffer_of: Mapping[int, int],
    arenas: tuple[Arena, ...],
    group: Mapping[int, int],
    steps: int,
) -> tuple[tuple[Buffer, ...], dict[int, int], tuple[Arena, ...]]:
    """The buffers, the buffer of each tensor, and the arenas, with those of the states behind them.

    Args:
        group: for every tensor with memory the one whose memory it uses.
    """
    if not graph.states:
        return buffers, dict(buffer_of), arenas
    base, size = arenas[-1].base + arenas[-1].size, state_bytes(graph)
    region = Region(KIND, size, KIND, arenas[0].region.section)
    number = {state.before: len(buffers) + n for n, state in enumerate(graph.states)}
    own = (
        replace(buffer, offset=base + buffer.offset, region=len(arenas))
        for buffer in state_buffers(graph, steps)
    )
    return (
        (*buffers, *own),
        {**buffer_of, **{i: number[root] for i, root in group.items() if root in number}},
        (*arenas, Arena(region, base, size)),
    )
