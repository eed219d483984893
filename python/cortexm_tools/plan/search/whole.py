# SPDX-License-Identifier: Apache-2.0
"""The kernel calls of a graph on whole tensors: what bands of rows are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ...ir import Graph, Op, ops
from ..kernels import gathered
from ..lower.constants import Source, constants_of
from ..lower.context import Lowered, Lowerings
from ..memory.sharing import is_alias, share_memory
from ..types import Call

# Kernels that an operator does without: the tensor that it makes, and the kernel's symbol.
Spare = frozenset[tuple[int, str]]


class WholeCalls:
    """The calls of each operator of a graph.

    Args:
        lowerings: of its operators, in whatever order.
        avoid: kernels that no operator takes, by symbol.
        spare: kernels that some operators do without, besides.
    """

    def __init__(
        self,
        graph: Graph,
        lowerings: Lowerings,
        avoid: frozenset[str] = frozenset(),
        spare: Spare = frozenset(),
    ) -> None:
        self.graph = graph
        self._lowerings = lowerings
        self._avoid = avoid
        self._without: dict[int, frozenset[str]] = {}
        for tensor, symbol in spare:
            self._without[tensor] = self._without.get(tensor, avoid) | {symbol}
        copying = {symbol for _, symbol in spare}.intersection(gathered.SYMBOLS)
        if copying:
            # What all convolutions do without is in no image: linear layers ask for that.
            taken = {call.kernel.symbol for op in graph.ops for call in self.lowered(op).calls}
            unused = copying - taken
            self._avoid |= unused
            self._without = {tensor: known | unused for tensor, known in self._without.items()}
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
        calls = self.lowered(op).calls
        # The first copies the operand, which lies there already.
        return calls[1:] if in_place and isinstance(op.attrs, ops.IndexPut) else calls

    def lowered(self, op: Op, without: Set[str] = frozenset()) -> Lowered:
        """An operator's calls, or those it would have with none of the kernels in `without` either."""
        avoid = self._without.get(op.outputs[0], self._avoid)
        return self._lowerings.lower(op, avoid | without)

    def sources(self, calls: Iterable[Call]) -> dict[str, Source]:
        """What the constants of these calls are made from, in the order of the operators."""
        used = constants_of(calls)
        return {
            key: source
            for op in self.graph.ops
            for key, source in self.lowered(op).sources.items()
            if key in used
        }

    def others(self, op: Op) -> frozenset[str]:
        """The symbols of an operator's kernels that could be others."""
        return self.lowered(op).others


def is_in_place(op: Op, group: Mapping[int, int]) -> bool:
    """Whether the result has the memory of the first operand."""
    source, result = op.inputs[0], op.outputs[0]
    return source in group and group[source] == group[result]
