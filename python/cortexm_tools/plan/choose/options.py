# SPDX-License-Identifier: Apache-2.0
"""What each way to compute an operator costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...ir import Graph, Op
from ..kernels.cost import instructions
from ..kernels.table import code_sizes
from ..lower.context import Lowered, Lowerings
from ..memory.lifetimes import KnownStep
from ..types import Step

# Bytes that the steps of operators may need beside their operands, by the operators' first results.
Room = Mapping[int, int]
NO_LIMIT: Room = {}


@dataclass(frozen=True)
class Option:
    """A way to compute an operator.

    Attributes:
        instructions: of all its calls; roughly.
        flash: bytes that it brings, by kernel and by content of constants: several operators may bring
            the same.
        memory: bytes that its step needs beside its operands: scratch, and its result as far as that may not
            lie over an operand.
    """

    lowered: Lowered
    instructions: float
    flash: Mapping[Hashable, int]
    memory: int

    @cached_property
    def parts(self) -> frozenset[Hashable]:
        """What it brings."""
        return frozenset(self.flash)

    def is_no_better(self, other: Option) -> bool:
        """Whether it costs at least as much as `other`, whatever else there is."""
        costs = self.instructions >= other.instructions and self.memory >= other.memory
        return costs and self.parts >= other.parts

    def then(self, other: Option) -> Option:
        """A way to compute another operator behind it."""
        sources = {**self.lowered.sources, **other.lowered.sources}
        return Option(
            Lowered(self.lowered.calls + other.lowered.calls, sources),
            self.instructions + other.instructions,
            {**self.flash, **other.flash},
            max(self.memory, other.memory),
        )


def options_of(lowerings: Lowerings, op: Op) -> tuple[Option, ...]:
    """The ways to compute an operator, without those that are no better than another one."""
    return best(_option(lowerings, op, lowered) for lowered in lowerings.ways(op))


def best(options: Iterable[Option]) -> tuple[Option, ...]:
    """Those that are better than each other one in something."""
    kept: list[Option] = []
    for option in options:
        if not any(option.is_no_better(other) for other in kept):
            kept = [other for other in kept if not other.is_no_better(option)] + [option]
    return tuple(kept)


def within(options: tuple[Option, ...], room: int | None) -> tuple[Option, ...]:
    """Those that need no more memory; that which needs least if none is there."""
    if room is None:
        return options
    least = min(option.memory for option in options)
    return tuple(option for option in options if option.memory <= max(room, least))


def _option(lowerings: Lowerings, op: Op, lowered: Lowered) -> Option:
    flash: dict[Hashable, int] = {
        (key, source.nbytes) if lowerings.apart else source.content: source.nbytes
        for key, source in lowered.sources.items()
    }
    for call in lowered.calls:
        flash[call.kernel.symbol] = code_sizes().get(call.kernel.symbol, 0)
    cost = sum(instructions(call, lowerings.target.core) for call in lowered.calls)
    return Option(lowered, cost, flash, _memory(lowerings.graph, op, lowered))


def _memory(graph: Graph, op: Op, lowered: Lowered) -> int:
    step = Step(op, lowered.calls)
    known = KnownStep(graph, step)
    made = graph.tensors[op.outputs[0]].nbytes
    for operand in op.inputs:
        if graph.tensors[operand].data is None:
            distance = known.distance(operand)
            if distance is not None:
                made = min(made, max(0, distance.nbytes))
    return step.scratch + made
