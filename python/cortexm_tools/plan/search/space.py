# SPDX-License-Identifier: Apache-2.0
"""Everything that plans of one graph are chosen from, which all of them share."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

from ...ir import Graph, Op
from ...target import Optimize, Target
from ..budget import check_sizes
from ..choose.fusions import fused
from ..choose.kernels import PRICES, choose
from ..choose.options import NO_LIMIT, Option, Room, options_of, within
from ..kernels.table import KernelChoice
from ..lower.context import Lowerings
from ..lower.functions import find_functions
from ..lower.gates import find_gates
from ..memory.states import settle
from .candidates import Candidates
from .matrix_bands import together
from .order import smallest_order


class SearchSpace:
    """The candidates of a graph (simplified, with layouts assigned) on a target with a kernel library.

    What is found out for one plan, lowered operators, steps, and sizes, serves the next. With `apart`
    the constants are for an image beside the code: see emit/apart.py. Operators are put together as
    `optimize` asks for.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        kernels: KernelChoice = KernelChoice.BUILTIN,
        optimize: Optimize = Optimize.BALANCED,
        *,
        apart: bool = False,
    ) -> None:
        check_sizes(graph)
        self.target = target
        lowered = partial(Lowerings, target=target, choice=kernels, apart=apart)
        self._options: dict[Op, tuple[Option, ...]] = {}
        # CMSIS-NN has products, and no gates or tables.
        if kernels is not KernelChoice.CMSIS_NN:
            # With other weights a table may be another one.
            for find in (find_gates,) if apart else (find_functions, find_gates):
                graph, fusions = find(graph)
                if fusions:
                    options = partial(self._options_of, lowered(graph))
                    graph = fused(graph, fusions, options, PRICES[optimize].flash)
        self.graph = settle(graph)
        self.lowerings = lowered(self.graph)
        # By the number of the order, and what is chosen.
        self._known: dict[tuple[int, int, tuple[int, ...]], Candidates] = {}
        self._chosen: dict[tuple[Optimize, tuple[tuple[int, int], ...]], list[Option]] = {}

    def _options_of(self, lowerings: Lowerings, op: Op) -> tuple[Option, ...]:
        if op not in self._options:
            self._options[op] = options_of(lowerings, op)
        return self._options[op]

    @cached_property
    def options(self) -> dict[int, tuple[Option, ...]]:
        """The ways to compute each operator, by its first result.

        Raises:
            CortexMError: an operator has no kernel, the first one is named.
        """
        return {op.outputs[0]: self._options_of(self.lowerings, op) for op in self.graph.ops}

    @cached_property
    def least_memory(self) -> dict[int, int]:
        """Bytes that each operator's step needs beside its operands at least, by its first result."""
        return {made: min(o.memory for o in ways) for made, ways in self.options.items()}

    def chosen(self, optimize: Optimize, room: Room = NO_LIMIT) -> dict[int, Option]:
        """The best ways, by the operators' first results.

        Args:
            room: bytes that steps may need beside their operands, where there is a limit.
        """
        key = optimize, tuple(sorted(room.items()))
        if key not in self._chosen:
            self._chosen[key] = choose(
                [within(ways, room.get(made)) for made, ways in self.options.items()],
                PRICES[optimize].flash,
            )
        return dict(zip(self.options, self._chosen[key], strict=True))

    @cached_property
    def _orders(self) -> list[Graph]:
        """The graph, and with its operators in the order that needs the least memory."""
        order = smallest_order(self.graph)
        return [self.graph] if order is None else [self.graph, replace(self.graph, ops=order)]

    @cached_property
    def _order_for_matrices(self) -> list[Graph]:
        """The graph in an order in which matrices can be computed in bands, if it has another one."""
        order = together(self.graph)
        return [] if order is None else [replace(self.graph, ops=order)]

    def as_given(self, optimize: Optimize) -> Candidates:
        """The candidates in the program's own order.

        Raises:
            CortexMError: an operator has no kernel, the first one is named.
        """
        return self._candidates(0, self.graph, optimize, NO_LIMIT)

    def candidates(
        self, optimize: Optimize, room: Room = NO_LIMIT, *, matrices: bool = False
    ) -> list[Candidates]:
        """Those in each order, the program's own first, with the kernels that `optimize` asks for; with
        `matrices` also in the order for bands of them.

        Raises:
            CortexMError: an operator has no kernel, the first one is named.
        """
        orders = [*self._orders, *(self._order_for_matrices if matrices else ())]
        return [
            self._candidates(number, graph, optimize, room) for number, graph in enumerate(orders)
        ]

    def _candidates(self, number: int, graph: Graph, optimize: Optimize, room: Room) -> Candidates:
        chosen, free = self.chosen(optimize, room), self.chosen(optimize)
        spared = sum(chosen[made].memory < free[made].memory for made in chosen)
        key = number, spared, tuple(id(option) for option in chosen.values())
        if key not in self._known:
            lowered = {made: option.lowered for made, option in chosen.items()}
            self._known[key] = Candidates(
                graph, self.target, lowered, apart=self.lowerings.apart, spared=spared
            )
        return self._known[key]
