# SPDX-License-Identifier: Apache-2.0
"""From operators to kernel calls: the registry of lowerings, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ...advice import advice_on
from ...errors import CortexMError
from ...ir import Array, Attrs, Graph, Op, Tensor, ops
from ...ir.geometry import Window
from ...target import Target
from ..kernels import gathered
from ..kernels.cmsis_nn import compiled_isa, level
from ..kernels.facts import Facts
from ..kernels.forms import Weights
from ..kernels.params import check_ranges
from ..kernels.table import Kernel, KernelChoice, find_kernel, symbols
from ..types import Arg, Call, ConstantArg, Field, ScratchArg, TensorArg
from .constants import Source
from .conv_costs import NEIGHBOURS

_Fact = TypeVar("_Fact")

POINTWISE = Window((1, 1), (1, 1), (0, 0, 0, 0), (1, 1))

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
    """An operator as kernel calls.

    Attributes:
        calls: their constants have the keys of `sources` for names.
        others: the symbols of its kernels that could be others.
    """

    calls: tuple[Call, ...]
    sources: Mapping[str, Source]
    others: frozenset[str]


class Lowerings:
    """The operators of a graph as kernel calls, each lowered once for every set of kernels to do without.

    Whoever compares plans of one graph, also in another order, shares one of these. With `apart` no two
    constants are put together. With `tiles` convolutions may take conv2d_tiles (plan/search/tiles.py).
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        choice: KernelChoice = KernelChoice.BUILTIN,
        *,
        apart: bool = False,
        tiles: bool = False,
    ) -> None:
        self.tensors = graph.tensors
        self.ops = graph.ops
        self.apart = apart
        self.tiles = tiles
        self._convolutions = [op for op in graph.ops if isinstance(op.attrs, ops.Conv2d)]
        self.all_plain = all(_is_plain(graph, op) for op in graph.ops)
        self.target = target
        self.choice = choice
        self.joined = frozenset(
            index for op in graph.ops if isinstance(op.attrs, ops.Concat) for index in op.inputs
        )
        self._makers = {index: op for op in graph.ops for index in op.outputs}
        self.looked_up = frozenset(
            op.inputs[0] for op in graph.ops if isinstance(op.attrs, ops.Embedding)
        )
        # What the code of other libraries is compiled for.
        is_ours = choice is KernelChoice.BUILTIN
        self.isa = level(target.isa if is_ours else compiled_isa(target))
        # By the first result of an operator, which no other one makes.
        self._lowered: dict[tuple[int, frozenset[str]], Lowered] = {}
        self._variants: dict[int, frozenset[str]] = {}
        self._facts: dict[int | str, Any] = {}
        self._convolving: dict[frozenset[str], frozenset[str]] = {}

    def lower(self, op: Op, without: Set[str] = frozenset()) -> Lowered:
        """The kernel calls that compute `op`, with none of our kernels in `without`, given by symbol.

        Raises:
            CortexMError: no kernel serves it, or a parameter is out of its field's range.
        """
        made = op.outputs[0]
        known = self._variants.get(made)
        if known is not None and (made, known & without) in self._lowered:
            return self._lowered[made, known & without]
        lowering = _LOWERINGS.get(type(op.attrs))
        if lowering is None:
            raise CortexMError(
                f"no kernel for operator {op.kind!r}",
                where=str(op.layer),
                hint=advice_on(op.layer.call),
            )
        select = Selector(self, op, without)
        calls = tuple(lowering(select, op.attrs, op))
        for call in calls:
            check_ranges(call.kernel, call.fields, op)
        variants = (known or frozenset()) | select.variants
        found = Lowered(calls, select.sources, frozenset(select.others))
        self._variants[made] = variants
        self._lowered[made, variants & without] = found
        return found

    def may_leave_gaps(self, index: int) -> bool:
        """Whether what makes a tensor could leave gaps between its pixels, as a concatenation in place asks
        for."""
        op = self._makers.get(index)
        calls = self.lower(op).calls if op is not None else ()
        return any(
            call.kernel.serves == "copy" or "out_pixel_stride" in dict(call.fields)
            for call in calls
        )

    def convolving(self, without: frozenset[str]) -> frozenset[str]:
        """The symbols of the kernels that the graph's convolutions take, with none of those in `without`."""
        if without not in self._convolving:
            calls = (call for op in self._convolutions for call in self.lower(op, without).calls)
            self._convolving[without] = frozenset(call.kernel.symbol for call in calls)
        return self._convolving[without]

    def once(self, key: int | str, find: Callable[[], _Fact]) -> _Fact:
        """What `find` gives the first time that it is asked for a tensor, or for a word."""
        if key not in self._facts:
            self._facts[key] = find()
        found: _Fact = self._facts[key]
        return found


def _is_plain(graph: Graph, op: Op) -> bool:
    """Whether an operator is no convolution, nor a linear layer, which may become one; or has one group, or
    one for each channel, and outputs in fours."""
    shape = graph.tensors[op.outputs[0]].shape if op.outputs else ()
    if isinstance(op.attrs, ops.Linear):
        return shape[-1] % 4 == 0
    if isinstance(op.attrs, ops.Conv2d):
        return op.attrs.groups == 1 and shape[1] % 4 == 0
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        return shape[1] % 4 == 0
    return not isinstance(op.attrs, ops.TransposeConv2d)


class Selector:
    """Turns an operator into calls and collects the constants they need.

    Attributes:
        sources: of constants, by the name that calls have for them.
        others: symbols of the kernels it has taken for which there are others.
        variants: symbols of all that it might have taken.
    """

    def __init__(self, lowerings: Lowerings, op: Op, without: Set[str]) -> None:
        self.target = lowerings.target
        self.choice = lowerings.choice
        self.sources: dict[str, Source] = {}
        self.others: set[str] = set()
        self.variants: frozenset[str] = frozenset()
        self._lowerings = lowerings
        self._op = op
        self._without = without

    def tensor(self, index: int) -> Tensor:
        return self._lowerings.tensors[index]

    def avoids(self, name: str) -> bool:
        """Whether to do without what has this name, as without a kernel of that symbol."""
        self.variants |= {name}
        return name in self._without

    def is_convolving(self, kernel: Kernel) -> bool:
        """Whether a convolution takes `kernel`, so that it is in the image anyway."""
        avoided = frozenset(name for name in (*gathered.SYMBOLS, NEIGHBOURS) if self.avoids(name))
        return kernel.symbol in self._lowerings.convolving(avoided)

    def is_joined(self, index: int) -> bool:
        """Whether a tensor is an operand of a concatenation, in whose result it may be made."""
        return index in self._lowerings.joined

    def may_leave_gaps(self, index: int) -> bool:
        """Whether what makes a tensor could leave gaps between its pixels."""
        return self._lowerings.may_leave_gaps(index)

    def is_looked_up(self, index: int) -> bool:
        """Whether an embedding takes its rows from a tensor, which may be a layer's weights."""
        return index in self._lowerings.looked_up

    def once(self, find: Callable[[], _Fact]) -> _Fact:
        """What `find` gives of the operator, which is the same whatever kernels are taken."""
        return self._lowerings.once(self._op.outputs[0], find)

    def in_all(self, word: str, find: Callable[[], _Fact]) -> _Fact:
        """What `find` gives of all operators, under a word of its own, whatever kernels are taken."""
        return self._lowerings.once(word, find)

    def all(self, kind: type[Attrs]) -> list[Op]:
        """All operators of a kind in the graph."""
        return self.in_all(
            kind.__name__, lambda: [op for op in self._lowerings.ops if isinstance(op.attrs, kind)]
        )

    def kernel(
        self, name: str, types: str | tuple[str, ...], op: Op, facts: Facts | None = None
    ) -> Kernel:
        """The kernel for these element types, or for the first of several that has one."""
        serving = (types,) if isinstance(types, str) else types
        find = partial(
            find_kernel,
            name,
            serving,
            self.target,
            layer=str(op.layer),
            facts={
                "core": self.target.core,
                "isa": self._lowerings.isa,
                "tiles": self._lowerings.tiles,
                "all_plain": self._lowerings.all_plain,
                **(facts or {}),
            },
            choice=self._lowerings.choice,
        )
        self.variants |= symbols(name, serving)
        kernel = find(avoid=self._without)
        try:
            if find(avoid=self._without | {kernel.symbol}) != kernel:
                self.others.add(kernel.symbol)
        except CortexMError:
            pass  # it is the last
        return kernel

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
