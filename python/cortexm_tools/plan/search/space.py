# SPDX-License-Identifier: Apache-2.0
"""Everything that plans of one graph are chosen from, which all of them share."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ...ir import Graph
from ...target import Optimize, Target
from ..kernels.table import KernelChoice
from ..lower.context import Lowerings
from ..lower.gates import fuse_gates
from ..memory.states import settle
from .candidates import Candidates
from .least_flash import MORE_CONSTANTS, larger_kernels
from .matrix_bands import together
from .order import smallest_order
from .whole import Spare, WholeCalls


class SearchSpace:
    """The candidates of a graph (simplified, with layouts assigned) on a target with a kernel library.

    What is found out for one plan, lowered operators, steps, and sizes, serves the next. With `apart`
    the constants are for an image beside the code: see emit/apart.py.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        kernels: KernelChoice = KernelChoice.BUILTIN,
        *,
        apart: bool = False,
    ) -> None:
        # CMSIS-NN has products, and no gates.
        fused = graph if kernels is KernelChoice.CMSIS_NN else fuse_gates(graph)
        self.graph = settle(fused)
        self.target = target
        self._lowerings = Lowerings(self.graph, target, kernels, apart=apart)
        # By the number of the order, and the kernels to do without.
        self._known: dict[tuple[int, frozenset[str], Spare], Candidates] = {}
        self._larger: dict[tuple[int, Spare], frozenset[str]] = {}

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
        return self._candidates(0, self.graph, optimize)

    def candidates(
        self, optimize: Optimize, spare: Spare = frozenset(), *, matrices: bool = False
    ) -> list[Candidates]:
        """Those in each order, the program's own first, with the kernels that `optimize` asks for; with
        `matrices` also in the order for bands of them.

        Raises:
            CortexMError: an operator has no kernel, the first one is named.
        """
        orders = [*self._orders, *(self._order_for_matrices if matrices else ())]
        return [
            self._candidates(number, graph, optimize, spare) for number, graph in enumerate(orders)
        ]

    def _candidates(
        self, number: int, graph: Graph, optimize: Optimize, spare: Spare = frozenset()
    ) -> Candidates:
        avoid: frozenset[str] = frozenset()
        if optimize is Optimize.SIZE:
            avoid = self._larger_kernels(number, graph, spare)
        key = number, avoid, spare
        if key not in self._known:
            self._known[key] = Candidates(graph, self._lowerings, avoid, spare)
        return self._known[key]

    def _larger_kernels(self, number: int, graph: Graph, spare: Spare) -> frozenset[str]:
        if (number, spare) not in self._larger:
            fastest = WholeCalls(graph, self._lowerings, MORE_CONSTANTS, spare=spare)
            self._larger[number, spare] = larger_kernels(self._lowerings, fastest)
        return self._larger[number, spare]
