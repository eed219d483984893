# SPDX-License-Identifier: Apache-2.0
"""The kernel calls of a graph on whole tensors: what bands of rows are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...ir import Graph, Op, ops
from ..lower.constants import Source, constants_of
from ..lower.context import Lowered
from ..memory.sharing import is_alias, share_memory
from ..types import Call


class WholeCalls:
    """The calls of each operator of a graph.

    Args:
        lowered: by the first result of an operator, in whatever order.
    """

    def __init__(self, graph: Graph, lowered: Mapping[int, Lowered]) -> None:
        self.graph = graph
        self._lowered = lowered
        self._aliases = {number for number, op in enumerate(graph.ops) if is_alias(op, graph)}
        group = share_memory(graph)
        self.calls = [
            self.calls_of(number, is_in_place(op, group)) for number, op in enumerate(graph.ops)
        ]

    def calls_of(self, number: int, in_place: bool) -> tuple[Call, ...]:
        """The calls of operator `number`, perhaps with its result in the memory of its first operand."""
        op = self.graph.ops[number]
        if in_place and number in self._aliases:
            return ()
        calls = self._lowered[op.outputs[0]].calls
        # The first copies the operand, which lies there already.
        return calls[1:] if in_place and isinstance(op.attrs, ops.IndexPut) else calls

    def sources(self, calls: Iterable[Call]) -> dict[str, Source]:
        """What the constants of these calls are made from, in the order of the operators."""
        used = constants_of(calls)
        return {
            key: source
            for op in self.graph.ops
            for key, source in self._lowered[op.outputs[0]].sources.items()
            if key in used
        }


def is_in_place(op: Op, group: Mapping[int, int]) -> bool:
    """Whether the result has the memory of the first operand."""
    source, result = op.inputs[0], op.outputs[0]
    return source in group and group[source] == group[result]
