# SPDX-License-Identifier: Apache-2.0
"""From operators to kernel calls: the registry of lowerings, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ...advice import advice_on
from ...errors import CortexMError
from ...ir import Array, Attrs, Graph, Op, Tensor, ops
from ...ir.geometry import Window
from ...target import Target
from ..kernels.cmsis_nn import compiled_isa, level
from ..kernels.facts import Facts
from ..kernels.forms import Weights
from ..kernels.params import check_ranges
from ..kernels.table import Kernel, KernelChoice, find_kernels
from ..types import Arg, Call, ConstantArg, Field, ScratchArg, TensorArg
from .constants import Source

_Fact = TypeVar("_Fact")

POINTWISE = Window((1, 1), (1, 1), (0, 0, 0, 0), (1, 1))

MOST_WAYS = 256
"""Of an operator: parts of a concatenation may each have some."""

Lowering = Callable[["Selector", Any, Op], list[Call]]

_LOWERINGS: dict[type[Attrs], Lowering] = {}


def lowers(*kinds: type[Attrs]) -> Callable[[Lowering], Lowering]:
    """Registers how operators become kernel calls."""

    def register(lowering: Lowering) -> Lowering:
        for kind in kinds:
            _LOWERINGS[kind] = lowering
        return lowering

    return register


def has_lowering(attrs: Attrs) -> bool:
    return type(attrs) in _LOWERINGS


@dataclass(frozen=True)
class Lowered:
    """An operator as kernel calls; their constants have the keys of `sources` for names."""

    calls: tuple[Call, ...]
    sources: Mapping[str, Source]


class Lowerings:
    """The operators of a graph as kernel calls, in all ways that there are.

    Whoever compares plans of one graph, also in another order, shares one of these. With `apart` no two
    constants are put together.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        choice: KernelChoice = KernelChoice.BUILTIN,
        *,
        apart: bool = False,
    ) -> None:
        self.graph = graph
        self.tensors = graph.tensors
        self.apart = apart
        self.target = target
        self.choice = choice
        self.joined = frozenset(
            index for op in graph.ops if isinstance(op.attrs, ops.Concat) for index in op.inputs
        )
        self._makers = {index: op for op in graph.ops for index in op.outputs}
        # What the code of other libraries is compiled for.
        is_ours = choice is KernelChoice.BUILTIN
        self.isa = level(target.isa if is_ours else compiled_isa(target))

    def ways(self, op: Op) -> Iterator[Lowered]:
        """The calls of an operator in every way, the usual one first; of more than MOST_WAYS, so many.

        Raises:
            CortexMError: no kernel serves it, or a parameter is out of its field's range, in all ways.
        """
        lowering = _LOWERINGS.get(type(op.attrs))
        if lowering is None:
            raise CortexMError(
                f"no kernel for operator {op.kind!r}",
                where=str(op.layer),
                hint=advice_on(op.layer.call),
            )
        trail: tuple[int, ...] = ()
        failures, found, known = list[CortexMError](), 0, dict[tuple[int, ...], Any]()
        for _ in range(MOST_WAYS):
            select = Selector(self, op, trail, known)
            try:
                calls = tuple(lowering(select, op.attrs, op))
                for call in calls:
                    check_ranges(call.kernel, call.fields, op)
            except CortexMError as error:
                failures.append(error)
            else:
                yield Lowered(calls, select.sources)
                found += 1
            left = [place for place, way in enumerate(select.trail) if way + 1 < select.ways[place]]
            if not left:
                break
            trail = (*select.trail[: left[-1]], select.trail[left[-1]] + 1)
        if not found:
            raise failures[0]

    def may_leave_gaps(self, index: int) -> bool:
        """Whether what makes a tensor could leave gaps between its pixels, as a concatenation in place asks
        for."""
        op = self._makers.get(index)
        calls = next(self.ways(op)).calls if op is not None else ()
        return any(
            call.kernel.serves == "copy" or "out_pixel_stride" in dict(call.fields)
            for call in calls
        )


class Selector:
    """Turns an operator into calls and collects the constants they need.

    Attributes:
        sources: of constants, by the name that calls have for them.
        trail: which way was taken where there were several.
        ways: how many there were.
    """

    def __init__(
        self,
        lowerings: Lowerings,
        op: Op,
        trail: tuple[int, ...],
        known: dict[tuple[int, ...], Any],
    ) -> None:
        self.target = lowerings.target
        self.choice = lowerings.choice
        self.sources: dict[str, Source] = {}
        self.trail: list[int] = []
        self.ways: list[int] = []
        self._lowerings = lowerings
        self._op = op
        self._given = trail
        self._known = known
        self._asked = 0
        self._taken: dict[tuple[str, tuple[str, ...]], Kernel] = {}
        self._answers: dict[str, Any] = {}

    def pick(self, ways: Sequence[_Fact]) -> _Fact:
        """One of several ways to the same bytes, the usual one first."""
        if len(ways) == 1:
            return ways[0]
        place = len(self.trail)
        self.trail.append(self._given[place] if place < len(self._given) else 0)
        self.ways.append(len(ways))
        return ways[self.trail[-1]]

    def pick_once(self, what: str, ways: Sequence[_Fact]) -> _Fact:
        """The same of what all parts of the operator do alike: asked once."""
        if what not in self._answers:
            self._answers[what] = self.pick(ways)
        answer: _Fact = self._answers[what]
        return answer

    def tensor(self, index: int) -> Tensor:
        return self._lowerings.tensors[index]

    def is_joined(self, index: int) -> bool:
        """Whether a tensor is an operand of a concatenation, in whose result it may be made."""
        return index in self._lowerings.joined

    def may_leave_gaps(self, index: int) -> bool:
        """Whether what makes a tensor could leave gaps between its pixels."""
        return self._lowerings.may_leave_gaps(index)

    def once(self, find: Callable[[], _Fact], key: tuple[int, ...] = ()) -> _Fact:
        """What `find` gives of the operator, which is the same in all ways, or all that begin alike."""
        if key not in self._known:
            self._known[key] = find()
        found: _Fact = self._known[key]
        return found

    def kernel(
        self, name: str, types: str | tuple[str, ...], op: Op, facts: Facts | None = None
    ) -> Kernel:
        """One of the kernels for these element types, those for the first of several first; the one that was
        taken before for another part of the operator, if it can be."""
        serving = (types,) if isinstance(types, str) else types
        find = partial(
            find_kernels,
            name,
            serving,
            self.target,
            layer=str(op.layer),
            facts={"isa": self._lowerings.isa, **(facts or {})},
            choice=self._lowerings.choice,
        )
        self._asked += 1
        found = self.once(find, (self._asked, *self.trail))
        taken = self._taken.get((name, serving))
        if taken not in found:
            taken = self._taken[name, serving] = self.pick(found)
        return taken

    def scratch(self, kernel: Kernel, fields: Facts) -> ScratchArg:
        """The memory that a call of `kernel` with this parameter block needs."""
        return ScratchArg(kernel.scratch_bytes({"isa": self._lowerings.isa, **fields}))

    def call(
        self, kernel: Kernel, fields: dict[str, Field], args: list[Arg], macs: int = 0
    ) -> Call:
        return Call(kernel, tuple(fields.items()), tuple(args), macs)

    def operand(self, index: int) -> Arg:
        """A tensor as an argument: in the arena, or a constant in its memory order."""
        tensor = self.tensor(index)
        if tensor.data is None:
            return TensorArg(index)
        data = np.ascontiguousarray(tensor.data.transpose(tensor.dim_order))
        return self.constant("c_" + tensor.name, data, f"{tensor.name} {tensor.shape}")

    def constant(
        self, name: str, data: Array | Weights, comment: str = "", *, needed: int | None = None
    ) -> ConstantArg:
        """A constant; equal ones are stored once.

        Args:
            name: that it gets in the code if no other one has it.
            needed: bytes of it that the model brings; default: all.
        """
        key = f"{self._op.outputs[0]}.{len(self.sources)}"
        self.sources[key] = Source(name, data, comment, data.nbytes if needed is None else needed)
        return ConstantArg(key)
