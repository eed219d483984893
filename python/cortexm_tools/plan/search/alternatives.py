# SPDX-License-Identifier: Apache-2.0
"""What other plans of a model would give, where that is much.

Bands that save RAM cost instructions, so the default takes only those that cost next to nothing. Who has
little RAM should hear of the others: OPTIMIZE size is planned beside, and told where it saves at least
LEAST_PART and LEAST_BYTES of the RAM. The plan in question stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir import Graph
from ...target import Optimize
from ..types import Plan
from .choose_bands import choose_chains
from .cost import instructions_by_kernel
from .less_scratch import Choice, fit
from .space import SearchSpace
from .whole import Spare

LEAST_PART = 0.2  # of the RAM, as a fraction
LEAST_BYTES = 1024
"""An alternative is told of if it saves at least so much."""


@dataclass(frozen=True)
class Alternative:
    """Another plan: the RAM it needs, with states, and its instructions as a multiple of the plan's."""

    optimize: Optimize
    ram_bytes: int
    instructions: float


def smaller_plan(space: SearchSpace, plan: Plan) -> Alternative | None:
    """What OPTIMIZE size would give instead of `plan`, one of `space`; None where that saves too little."""
    worthwhile = min(plan.arena_size - LEAST_BYTES, int(plan.arena_size * (1 - LEAST_PART)))
    if plan.optimize is Optimize.SIZE or plan.regions or worthwhile < _interface(plan.graph):
        return None

    def choose(spare: Spare, limit: int | None) -> Choice:
        """As `plan_within` chooses."""
        every = space.candidates(Optimize.SIZE, spare, matrices=limit is not None)
        options = [(each, choose_chains(each, Optimize.SIZE, limit)) for each in every]
        return min(options, key=lambda option: option[0].smallest(option[1]))

    candidates, chains = fit(choose, None)
    size = candidates.smallest(chains)
    if size > worthwhile:
        return None
    base = instructions_by_kernel([call for calls in candidates.calls for call in calls])
    own = instructions_by_kernel([call for step in plan.steps for call in step.calls])
    return Alternative(Optimize.SIZE, size, (base + candidates.cost(chains)) / own)


def _interface(graph: Graph) -> int:
    """Bytes that any plan needs at least: all inputs, or all outputs, and the states."""
    states = sum(graph.tensors[state.before].nbytes for state in graph.states)
    sides = (graph.inputs, graph.outputs)
    return states + max(sum(graph.tensors[i].nbytes for i in side) for side in sides)
