# SPDX-License-Identifier: Apache-2.0
"""Plans whose operators are computed in a given way, whatever that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import pytest

from cortexm_tools.ir import Graph, Op
from cortexm_tools.plan.choose.options import Option
from cortexm_tools.plan.kernels.table import Kernel
from cortexm_tools.plan.lower.context import Lowered
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.plan.types import Call
from cortexm_tools.target import Target

Pick = Callable[[Graph, Op, Sequence[Lowered]], Lowered]


@contextmanager
def taking(pick: Pick) -> Iterator[None]:
    """Whatever is planned meanwhile has only these ways to compute its operators."""

    def options(space: SearchSpace) -> dict[int, tuple[Option, ...]]:
        graph, ways = space.graph, space.lowerings.ways
        return {
            op.outputs[0]: (Option(pick(graph, op, [*ways(op)]), 0.0, {}, 0),) for op in graph.ops
        }

    found = cached_property(options)
    found.__set_name__(SearchSpace, "options")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SearchSpace, "options", found)
        yield


def where(wanted: Callable[[Any, Sequence[Call]], bool]) -> Pick:
    """A way with such calls: the first one of the first operator, and of the others the next ones in turn.
    An operator that has none takes its usual way.

    Args:
        wanted: asked of the operator's attributes and calls.
    """

    def pick(graph: Graph, op: Op, ways: Sequence[Lowered]) -> Lowered:
        found = [way for way in ways if wanted(op.attrs, way.calls)] or ways[:1]
        return found[graph.ops.index(op) % len(found)]

    return pick


def using(*names: str) -> Pick:
    """One with these kernels: `conv2d_4x2`, or `softmax_s16_mve` of one instruction set alone."""
    return where(
        lambda attrs, calls: any(
            {call.kernel.op, call.kernel.symbol.removeprefix("cortexm_")} & {*names}
            for call in calls
        )
    )


def numbered(number: int) -> Pick:
    """The way of this number, of all that an operator has in turn."""
    return lambda graph, op, ways: ways[number % len(ways)]


def kernels_for(graph: Graph, target: Target) -> set[Kernel]:
    """All that may compute its operators."""
    space = SearchSpace(graph, target)
    ways = (way for op in space.graph.ops for way in space.lowerings.ways(op))
    return {call.kernel for way in ways for call in way.calls}


COPIES = 4


def spread(graph: Graph, op: Op, ways: Sequence[Lowered]) -> Lowered:
    """Other ways in each of COPIES of a graph, whose names end with their numbers."""
    return ways[(int(graph.name[-1]) * len(ways) // COPIES + graph.ops.index(op)) % len(ways)]
