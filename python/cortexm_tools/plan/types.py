# SPDX-License-Identifier: Apache-2.0
"""The plan: kernel calls in order, where every tensor lies, and the constants they read."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir import Array, Graph, Op
from ..target import Target
from .kernel_table import Kernel


@dataclass(frozen=True)
class Constant:
    """An array in flash. `data` is in memory order."""

    name: str
    data: Array = field(compare=False)
    comment: str = ""

    @property
    def nbytes(self) -> int:
        return int(self.data.nbytes)


@dataclass(frozen=True)
class TensorArg:
    """A tensor of the graph, `offset` bytes into it."""

    index: int
    offset: int = 0


@dataclass(frozen=True)
class ConstantArg:
    """A constant of the plan."""

    name: str


@dataclass(frozen=True)
class ScratchArg:
    """`nbytes` of memory that only this call uses; NULL if zero."""

    nbytes: int


Arg = TensorArg | ConstantArg | ScratchArg
Field = int | float | str | tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One kernel call: the parameter block's fields by name, then the arguments in order.

    A string field names a constant. `macs` counts multiply-accumulates of the operator it serves.
    """

    kernel: Kernel
    fields: tuple[tuple[str, Field], ...]
    args: tuple[Arg, ...]
    macs: int = 0


@dataclass(frozen=True)
class Step:
    """The calls that compute one operator; none where the result is its operand in place."""

    op: Op
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Buffer:
    """A piece of the arena, live from step `first` through step `last`."""

    name: str
    nbytes: int
    align: int
    first: int
    last: int
    offset: int = -1


@dataclass(frozen=True)
class Plan:
    """Everything the emitter needs; a pure value.

    Attributes:
        buffer_of: for every tensor in the arena, the index of its buffer.
        scratch_of: for every step with scratch, the index of its buffer.
        lower_bound: the largest sum of live bytes over all steps; no arena can be smaller.
    """

    graph: Graph
    target: Target
    steps: tuple[Step, ...]
    constants: tuple[Constant, ...]
    buffers: tuple[Buffer, ...]
    buffer_of: dict[int, int]
    scratch_of: dict[int, int]
    arena_size: int
    lower_bound: int

    @property
    def constant_bytes(self) -> int:
        return sum(constant.nbytes for constant in self.constants)

    def offset(self, tensor: int) -> int:
        """Arena offset of a tensor in bytes."""
        return self.buffers[self.buffer_of[tensor]].offset
