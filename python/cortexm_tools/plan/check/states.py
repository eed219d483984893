# SPDX-License-Identifier: Apache-2.0
"""Whether a plan keeps its states: from the places of tensors and the arguments of calls alone."""

from __future__ import annotations

from ...errors import CortexMError
from ...ir import State
from ..types import Plan
from .in_place import overwrites_in_place
from .overlap import overwrites_unread


def check_states(plan: Plan) -> None:
    """A state's old and new value lie in one place, in which nothing else ever is; one step writes the
    new one, and no step reads the old one afterwards.

    Raises:
        CortexMError: names the state.
    """
    for state in plan.graph.states:
        _check_state(plan, state)


def _check_state(plan: Plan, state: State) -> None:
    graph, arena = plan.graph, plan.state_arena
    before, after = graph.tensors[state.before], graph.tensors[state.after]
    begin = plan.offset(state.before)
    end = begin + before.nbytes
    assert arena is not None
    if not (arena.base <= begin and end <= arena.base + arena.size):
        raise CortexMError("lies outside the memory of states", where=state.name)
    if plan.offset(state.after) != begin or before.dim_order != after.dim_order:
        raise CortexMError("its old and new value lie apart", where=state.name)
    own = plan.buffer_of[state.before]
    for number, buffer in enumerate(plan.buffers):
        if number != own and buffer.offset < end and begin < buffer.offset + buffer.nbytes:
            raise CortexMError(f"shares memory with {buffer.name}", where=state.name)

    def lies_here(index: int) -> bool:
        return plan.has_place(index) and begin <= plan.offset(index) < end

    old = {state.before}
    written = False
    for step in plan.steps:
        if not step.calls and old & set(step.inputs):
            old.update(index for index in step.op.outputs if lies_here(index))
        read = [index for index in step.inputs if index in old]
        if written and read:
            raise CortexMError(
                f"{step.op.kind} of {step.op.layer} reads the old value too late", where=state.name
            )
        for index in (*step.inside, *step.op.outputs) if step.calls else ():
            if lies_here(index) and index != state.after:
                raise CortexMError(
                    f"{step.op.kind} of {step.op.layer} writes there", where=state.name
                )
        if state.after in step.op.outputs:
            written = True
            for index in read if step.calls else ():
                if overwrites_in_place(graph, step, index, state.after):
                    continue
                if overwrites_unread(graph, step, index, state.after, 0):
                    raise CortexMError("is overwritten before it was read", where=state.name)
    if not written:
        raise CortexMError("its new value is never written", where=state.name)
