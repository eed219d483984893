# SPDX-License-Identifier: Apache-2.0
"""Everything that plans of one graph are chosen from, which all of them share."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ...ir import Graph
from ...target import Isa, Optimize, Target
from ..kernels.table import KernelChoice
from ..lower.activation import FEW_ELEMENTS
from ..lower.context import Lowerings
from ..lower.functions import fuse_functions
from ..lower.gates import fuse_gates
from ..memory.states import settle
from .candidates import Candidates
from .gathers import not_worth_their_code
from .least_flash import MORE_CONSTANTS, larger_kernels
from .matrix_bands import together
from .order import smallest_order
from .tiles import tiles_pay
from .whole import Spare, WholeCalls


class SearchSpace:
    """The candidates of a graph (simplified, with layouts assigned) on a target with a kernel library.

    What is found out for one plan, lowered operators, steps, and sizes, serves the next. With `apart`
    the constants are for an image beside the code: see emit/apart.py. With `may_grow` operators may become
    tables that take more flash.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        kernels: KernelChoice = KernelChoice.BUILTIN,
        *,
        apart: bool = False,
        may_grow: bool = True,
    ) -> None:
        # CMSIS-NN has products, and no gates or tables.
        if kernels is not KernelChoice.CMSIS_NN:
            # With other weights a table may be another one.
            if not apart:
                graph = fuse_functions(graph, target, may_grow=may_grow)
            graph = fuse_gates(graph, target, may_grow=may_grow)
        self.graph = settle(graph)
        self.target = target
        self._lowerings = Lowerings(self.graph, target, kernels, apart=apart)
        # By the lowerings, the number of the order, and the kernels to do without.
        self._known: dict[tuple[Lowerings, int, frozenset[str], Spare], Candidates] = {}
        self._larger: dict[tuple[Lowerings, int, Spare], frozenset[str]] = {}

    @cached_property
    def _ways(self) -> list[Lowerings]:
        """Operators as kernel calls: with tiles, if these pay, and without, as they may need more scratch."""
        plain = self._lowerings
        if self.target.isa is not Isa.MVE or plain.choice is not KernelChoice.BUILTIN:
            return [plain]
        tiled = Lowerings(self.graph, self.target, apart=plain.apart, tiles=True)
        calls = (WholeCalls(self.graph, each, self._avoid).calls for each in (plain, tiled))
        pay = tiles_pay(*([call for made in whole for call in made] for whole in calls))
        return [tiled, plain] if pay else [plain]

    @cached_property
    def _avoid(self) -> frozenset[str]:
        """The kernels that are not worth their code in this graph."""
        return not_worth_their_code(self.graph, self._lowerings)

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
        return self._candidates(self._ways[0], 0, self.graph, optimize)

    def candidates(
        self, optimize: Optimize, spare: Spare = frozenset(), *, matrices: bool = False
    ) -> list[Candidates]:
        """Those in each order, the program's own first, with the kernels that `optimize` asks for, and in
        each way, the fastest first; with `matrices` also in the order for bands of them.

        Raises:
            CortexMError: an operator has no kernel, the first one is named.
        """
        orders = [*self._orders, *(self._order_for_matrices if matrices else ())]
        return [
            self._candidates(lowerings, number, graph, optimize, spare)
            for number, graph in enumerate(orders)
            for lowerings in self._ways
        ]

    def _candidates(
        self,
        lowerings: Lowerings,
        number: int,
        graph: Graph,
        optimize: Optimize,
        spare: Spare = frozenset(),
    ) -> Candidates:
        avoid = self._avoid
        if optimize is Optimize.SIZE:
            avoid = self._larger_kernels(lowerings, number, graph, spare)
        elif optimize is Optimize.SPEED:
            avoid |= {FEW_ELEMENTS}
        key = lowerings, number, avoid, spare
        if key not in self._known:
            self._known[key] = Candidates(graph, lowerings, avoid, spare)
        return self._known[key]

    def _larger_kernels(
        self, lowerings: Lowerings, number: int, graph: Graph, spare: Spare
    ) -> frozenset[str]:
        key = lowerings, number, spare
        if key not in self._larger:
            fastest = WholeCalls(graph, lowerings, MORE_CONSTANTS, spare=spare)
            self._larger[key] = larger_kernels(lowerings, fastest)
        return self._larger[key]
