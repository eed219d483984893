# SPDX-License-Identifier: Apache-2.0
"""From operators to kernel calls: the registry of lowerings, and what they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from functools import partial
from typing import Any

import numpy as np

from ...advice import advice_on
from ...errors import CortexMError
from ...ir import Array, Attrs, Graph, Op, Tensor
from ...target import Target
from ..kernels.cmsis_nn import compiled_isa
from ..kernels.params import check_ranges
from ..kernels.requirements import SCRATCH, Facts
from ..kernels.table import Kernel, KernelChoice, find_kernel
from ..types import Arg, Call, Constant, ConstantArg, Field, ScratchArg, TensorArg

Lowering = Callable[["Selector", Any, Op], list[Call]]

# Kernels that an operator does without: the tensor that it makes, and the kernel's symbol.
Spare = frozenset[tuple[int, str]]

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


class Selector:
    """Turns operators into calls and collects the constants they need.

    Kernels of ours in `avoid` are not taken, nor those in `spare`. `spares` are the kernels it has taken
    for which there are others.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        choice: KernelChoice = KernelChoice.BUILTIN,
        avoid: Set[str] = frozenset(),
        spare: Spare = frozenset(),
    ) -> None:
        self.graph = graph
        self.target = target
        self.choice = choice
        self.avoid = avoid
        self._spared: dict[int, Set[str]] = {
            tensor: {symbol for other, symbol in spare if other == tensor} for tensor, _ in spare
        }
        self.spares: set[tuple[int, str]] = set()
        # What the code of other libraries is compiled for.
        self._isa = target.isa if choice is KernelChoice.BUILTIN else compiled_isa(target)
        self.constants: dict[str, Constant] = {}
        self._by_content: dict[tuple[str, bytes], str] = {}

    def calls(self, op: Op) -> list[Call]:
        """The kernel calls that compute `op`.

        Raises:
            CortexMError: no kernel serves it, or a parameter is out of its field's range.
        """
        lowering = _LOWERINGS.get(type(op.attrs))
        if lowering is None:
            raise CortexMError(
                f"no kernel for operator {op.kind!r}",
                where=str(op.layer),
                hint=advice_on(op.layer.call),
            )
        calls = lowering(self, op.attrs, op)
        for call in calls:
            check_ranges(call.kernel, call.fields, op)
        return calls

    def tensor(self, index: int) -> Tensor:
        return self.graph.tensors[index]

    def kernel(self, name: str, types: str, op: Op, facts: Facts | None = None) -> Kernel:
        find = partial(
            find_kernel,
            name,
            types,
            self.target,
            layer=str(op.layer),
            facts={"isa": self._isa, **(facts or {})},
            choice=self.choice,
        )
        avoid = self.avoid | self._spared.get(op.outputs[0], set())
        kernel = find(avoid=avoid)
        try:
            if find(avoid=avoid | {kernel.symbol}) != kernel:
                self.spares.add((op.outputs[0], kernel.symbol))
        except CortexMError:
            pass  # it is the last
        return kernel

    def scratch(self, kernel: Kernel, fields: Facts) -> ScratchArg:
        """The memory that a call of `kernel` with this parameter block needs."""
        return ScratchArg(SCRATCH[kernel.scratch]({"isa": self._isa, **fields}))

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
        self, name: str, data: Array, comment: str = "", *, needed: int | None = None
    ) -> ConstantArg:
        """Adds a constant array; equal arrays are stored once.

        Args:
            needed: bytes of it that the model brings; default: all.
        """
        data = np.ascontiguousarray(data)
        key = (data.dtype.str, data.tobytes())
        if key in self._by_content:
            return ConstantArg(self._by_content[key])
        name = unique(identifier(name), self.constants)
        self.constants[name] = Constant(
            name, data, comment, needed=data.nbytes if needed is None else needed
        )
        self._by_content[key] = name
        return ConstantArg(name)


def identifier(text: str) -> str:
    """`text` as a C identifier."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "x"


def unique(name: str, taken: dict[str, Constant]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
