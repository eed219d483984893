# SPDX-License-Identifier: Apache-2.0
"""What other plans of a model would give, where that is much.

Bands and kernels that save RAM cost instructions, so the default takes only those that are worth it. Floats
at inputs and outputs are what a model file says, and take four times what their codes do. Who has little RAM
should hear of the others: OPTIMIZE size and codes at the interface are planned beside, and told of where
they save much. The plan in question stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...errors import CortexMError
from ...ir import DType, Graph
from ...target import Optimize
from ..choose.kernels import PRICES
from ..choose.options import Room
from ..kernels.cost import instructions
from ..types import Plan
from .choose import plan_within
from .choose_bands import choose_chains
from .room import Choice, fit
from .space import SearchSpace

LEAST_PART = 0.2  # of the RAM, as a fraction
LEAST_PART_IO = 0.25
LEAST_BYTES = 1024
"""An alternative is told of if it saves at least so much."""

_IO = {
    frozenset({DType.S8}): ("int8", "uint8"),
    frozenset({DType.S16}): ("int16",),
}


@dataclass(frozen=True)
class Alternative:
    """Another plan: the RAM it needs, with states, and its instructions as a multiple of the plan's.

    `io` are the choices of IO that lead to it; none for that of the plan.
    """

    optimize: Optimize
    ram_bytes: int
    instructions: float
    io: tuple[str, ...] = ()


def other_plans(
    space: SearchSpace, plan: Plan, coded: Callable[[], SearchSpace] | None
) -> list[Alternative]:
    """What there is to tell of beside `plan`, one of `space`.

    Args:
        coded: the same model with codes at its interface; None if it cannot have them.
    """
    found = [smaller_plan(space, plan), coded_plan(coded, plan) if coded else None]
    return [other for other in found if other is not None]


def coded_plan(coded: Callable[[], SearchSpace], plan: Plan) -> Alternative | None:
    """What codes in place of floats at the interface would give; None where that saves too little.

    A plan with floats is one with codes and the floats beside it, so no more than these can be saved.
    """
    interface = (*plan.graph.inputs, *plan.graph.outputs)
    tensors = [plan.graph.tensors[index] for index in interface]
    floats = sum(tensor.nbytes for tensor in tensors if tensor.dtype is DType.F32)
    worthwhile = min(plan.arena_size - LEAST_BYTES, int(plan.arena_size * (1 - LEAST_PART_IO)))
    if plan.regions or plan.arena_size - floats > worthwhile:
        return None
    try:
        space = coded()
    except CortexMError:
        return None  # an input or output has no codes
    other = plan_within(space, optimize=plan.optimize)
    if other.arena_size > worthwhile:
        return None
    types = {
        other.graph.tensors[new].dtype
        for new, old in zip((*other.graph.inputs, *other.graph.outputs), tensors, strict=True)
        if old.dtype is DType.F32
    }
    ratio = instructions_in(other) / instructions_in(plan)
    io = _IO.get(frozenset(types), ("codes",))
    return Alternative(plan.optimize, other.arena_size, ratio, io)


def instructions_in(plan: Plan) -> float:
    """An estimate of the instructions of an inference, by the costs of its kernels."""
    return sum(instructions(call, plan.target.core) for step in plan.steps for call in step.calls)


def smaller_plan(space: SearchSpace, plan: Plan) -> Alternative | None:
    """What OPTIMIZE size would give instead of `plan`, one of `space`; None where that saves too little."""
    worthwhile = min(plan.arena_size - LEAST_BYTES, int(plan.arena_size * (1 - LEAST_PART)))
    if plan.optimize is Optimize.SIZE or plan.regions or worthwhile < _interface(plan.graph):
        return None

    def choose(room: Room, limit: int | None) -> Choice:
        """As `plan_within` chooses."""
        every = space.candidates(Optimize.SIZE, room, matrices=limit is not None)
        options = [(each, choose_chains(each, Optimize.SIZE, limit)) for each in every]
        return min(options, key=lambda option: option[0].smallest(option[1]))

    chosen = partial(space.chosen, Optimize.SIZE)
    candidates, chains = fit(choose, chosen, space.least_memory, None, PRICES[Optimize.SIZE])
    size = candidates.smallest(chains)
    if size > worthwhile:
        return None
    ratio = (candidates.instructions() + candidates.cost(chains)) / instructions_in(plan)
    return Alternative(Optimize.SIZE, size, ratio)


def _interface(graph: Graph) -> int:
    """Bytes that any plan needs at least: all inputs, or all outputs, and the states."""
    states = sum(graph.tensors[state.before].nbytes for state in graph.states)
    sides = (graph.inputs, graph.outputs)
    return states + max(sum(graph.tensors[i].nbytes for i in side) for side in sides)
