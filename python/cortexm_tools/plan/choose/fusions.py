# SPDX-License-Identifier: Apache-2.0
"""Which operators of a graph are computed as one: those for which all of its kernels and constants together
cost less."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ...ir import Graph, Op
from .kernels import choose
from .options import Option, best


def fused(
    graph: Graph,
    fusions: Mapping[Op, Sequence[Op]],
    options: Callable[[Op], Sequence[Option]],
    per_byte: float,
) -> Graph:
    """`graph` with those of the fusions that cost less than what they replace.

    Args:
        fusions: operators, and those that each makes needless: the first one has the same result.
        options: the ways to compute an operator.
        per_byte: instructions that a byte of flash costs.
    """
    replaced = {op.outputs[0] for ops in fusions.values() for op in ops}
    others = [options(op) for op in graph.ops if op.outputs[0] not in replaced]
    as_one = [options(op) for op in fusions]
    apart = [reduce(_together, map(options, ops)) for ops in fusions.values()]
    groups = [[*ways, *more] for ways, more in zip(as_one, apart, strict=True)]
    gone = dict[int, Op | None]()
    for way, ways, (made, ops) in zip(
        choose([*groups, *others], per_byte), as_one, fusions.items(), strict=False
    ):
        if any(way is each for each in ways):
            gone |= {op.outputs[0]: None for op in ops} | {made.outputs[0]: made}
    left = (gone.get(op.outputs[0], op) for op in graph.ops)
    return replace(graph, ops=tuple(op for op in left if op is not None))


def _together(some: Sequence[Option], others: Sequence[Option]) -> tuple[Option, ...]:
    return best(way.then(other) for way in some for other in others)
