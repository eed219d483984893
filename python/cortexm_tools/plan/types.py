# SPDX-License-Identifier: Apache-2.0
"""The plan: kernel calls in order, where every tensor lies, and the constants they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..ir import Array, DType, Graph, Op
from ..options.memories import Region
from ..target import Optimize, Target
from .kernels.forms import Weights
from .kernels.table import Kernel


@dataclass(frozen=True)
class Constant:
    """An array in flash. `data` is in memory order; `section` empty for the model's common one.

    `needed` bytes of it the model brings: weights, biases, requantization, tables of values. The
    others are padding that a kernel wants, or tables made from the graph.
    """

    name: str
    data: Array = field(compare=False)
    comment: str = ""
    section: str = ""
    needed: int = 0

    @property
    def nbytes(self) -> int:
        return int(self.data.nbytes)


@dataclass(frozen=True)
class TensorArg:
    """A tensor of the graph, `offset` bytes into it, and `step` bytes further each turn of a loop."""

    index: int
    offset: int = 0
    step: int = 0


@dataclass(frozen=True)
class ConstantArg:
    """A constant of the plan; `offset` and `step` in bytes, as of a tensor."""

    name: str
    offset: int = 0
    step: int = 0


@dataclass(frozen=True)
class ScratchArg:
    """`nbytes` of memory that only this call uses; NULL if zero.

    Attributes:
        offset: bytes of the step's scratch before them.
        of: elements that one call makes there and another one reads.
    """

    nbytes: int
    offset: int = 0
    of: DType | None = None


@dataclass(frozen=True)
class Part:
    """The place of a tensor in `result`, that of a concatenation: see memory/concat_in_place.py.

    Attributes:
        offset: bytes from the result's first element to the tensor's.
        pixel: bytes of which the tensor consists that lie in one piece; 0 if all do.
        pitch: bytes from one such piece to the next in the result.
    """

    result: int
    offset: int
    pixel: int = 0
    pitch: int = 0


Arg = TensorArg | ConstantArg | ScratchArg
Field = int | float | str | tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One kernel call: the parameter block's fields by name, then the arguments in order.

    A string field names a constant. `macs` counts multiply-accumulates of the operator it serves, in
    all turns: of a loop over the images of a batch, or over bands of rows. Neighbours with more than
    one turn and the same number of their `loop` are its body, and have the same `turns`. `weights` are
    those of a convolution before they are packed.
    """

    kernel: Kernel
    fields: tuple[tuple[str, Field], ...]
    args: tuple[Arg, ...]
    macs: int = 0
    turns: int = 1
    loop: int = 0
    weights: Weights | None = field(default=None, compare=False, repr=False)

    @cached_property
    def int_fields(self) -> Mapping[str, int]:
        """The fields that are integers."""
        return {name: value for name, value in self.fields if isinstance(value, int)}

    @cached_property
    def tensors(self) -> tuple[TensorArg, ...]:
        """The arguments that are tensors."""
        return tuple(arg for arg in self.args if isinstance(arg, TensorArg))

    @cached_property
    def result(self) -> TensorArg | None:
        """The tensor that it writes, the last one; None if it writes scratch alone, which then comes
        before that which it works in. Scratch of no bytes stands for a result that nothing reads."""
        scratch = [arg for arg in self.args if isinstance(arg, ScratchArg)]
        is_apart = self.kernel.op == "index_offsets" or (len(scratch) > 1 and scratch[0].nbytes > 0)
        return None if is_apart else self.tensors[-1]

    def turn(self, number: int) -> Call:
        """The call of one turn alone."""
        if self.turns == 1:
            return self
        args = tuple(
            arg
            if isinstance(arg, ScratchArg)
            else replace(arg, offset=arg.offset + number * arg.step, step=0)
            for arg in self.args
        )
        return replace(self, args=args, macs=self.macs // self.turns, turns=1, loop=0)


@dataclass(frozen=True)
class Step:
    """The calls that compute one operator; none where the result is its operand in place.

    A step of several operators computes them in bands of rows: only bands of the results of `fused`,
    which come before `op`, ever exist.
    """

    op: Op
    calls: tuple[Call, ...]
    fused: tuple[Op, ...] = ()

    @property
    def ops(self) -> tuple[Op, ...]:
        return (*self.fused, self.op)

    @cached_property
    def inside(self) -> tuple[int, ...]:
        """The tensors of which only bands exist."""
        return tuple(index for op in self.fused for index in op.outputs)

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The tensors that the step reads and does not compute."""
        inside = set(self.inside)
        read = dict.fromkeys(index for op in self.ops for index in op.inputs)
        return tuple(index for index in read if index not in inside)

    @cached_property
    def scratch(self) -> int:
        """The bytes that the call with most of it needs."""
        each = (arg for call in self.calls for arg in call.args if isinstance(arg, ScratchArg))
        return max((arg.offset + arg.nbytes for arg in each), default=0)

    def op_of(self, call: Call) -> Op | None:
        """The operator that a call computes: that of its result, if this is none of another step; the
        step's own where it writes scratch."""
        if call.result is None:
            return self.op
        return next((op for op in self.ops if call.result.index in op.outputs), None)

    def trace(self, *tensors: int) -> Iterator[Call]:
        """Every call in the order of execution, with loops unrolled; only those with one of `tensors`, if
        any are given."""
        for body, turns in self.loops():
            some = [call for call in body if _has_any(call, tensors)]
            for turn in range(turns):
                for call in some:
                    yield call.turn(turn)

    def loops(self) -> Iterator[tuple[tuple[Call, ...], int]]:
        """The calls in order: the bodies of loops and their turns, and each other call with one turn."""
        position = 0
        while position < len(self.calls):
            end = position + 1
            turns, loop = self.calls[position].turns, self.calls[position].loop
            while (
                turns > 1
                and end < len(self.calls)
                and (self.calls[end].turns, self.calls[end].loop) == (turns, loop)
            ):
                end += 1
            yield self.calls[position:end], turns
            position = end


def _has_any(call: Call, tensors: tuple[int, ...]) -> bool:
    return not tensors or any(arg.index in tensors for arg in call.tensors)


@dataclass(frozen=True)
class Buffer:
    """A piece of the arena, live from step `first` through step `last`.

    `region` is the index of the RAM region it lies in: see `Plan.arenas`.
    """

    name: str
    nbytes: int
    align: int
    first: int
    last: int
    offset: int = -1
    region: int = 0


@dataclass(frozen=True)
class Arena:
    """What a plan uses of one RAM region: the offsets from `base` to `base + size`."""

    region: Region
    base: int
    size: int


@dataclass(frozen=True)
class Plan:
    """Everything the emitter needs; a pure value.

    Attributes:
        buffer_of: for every tensor in the arena, the index of its buffer.
        scratch_of: for every step with scratch, the index of its buffer.
        parts: the tensors without a buffer that lie in the result of a concatenation.
        regions: the memories that were given; none for a target with one of each.
        arenas: the parts of the arena by region, the main one first, and behind them what the model
            keeps from call to call. Offsets count through all of them, so that each byte of the plan
            has one.
        arena_size: bytes in all of them, with the state.
        spared: operators with slower kernels, which need less scratch, for the sake of a RAM limit.
        lower_bound: no placement of these buffers needs less than that and the state, counted before
            alignment of the whole.
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
    arenas: tuple[Arena, ...]
    regions: tuple[Region, ...] = ()
    optimize: Optimize = Optimize.BALANCED
    spared: int = 0
    parts: dict[int, Part] = field(default_factory=dict)

    @property
    def state_arena(self) -> Arena | None:
        """What the model keeps from call to call: the last of the arenas, if it keeps anything."""
        return self.arenas[-1] if self.graph.states else None

    @property
    def state_size(self) -> int:
        """Bytes of state."""
        return self.state_arena.size if self.state_arena else 0

    @property
    def working_size(self) -> int:
        """Bytes of the arenas without the state."""
        return self.arena_size - self.state_size

    @property
    def main_size(self) -> int:
        """Bytes of the main arena, the one an application passes and reads."""
        return self.arenas[0].size

    @property
    def needed_bytes(self) -> int:
        """What the model needs of `constant_bytes`."""
        return sum(constant.needed for constant in self.constants)

    @property
    def constant_bytes(self) -> int:
        return sum(constant.nbytes for constant in self.constants)

    def has_place(self, tensor: int) -> bool:
        """Whether a tensor lies in the arena."""
        return tensor in self.buffer_of or tensor in self.parts

    def holder(self, tensor: int) -> int:
        """The tensor with a buffer in which a tensor lies: itself, or a concatenation's result."""
        while tensor in self.parts:
            tensor = self.parts[tensor].result
        return tensor

    def offset(self, tensor: int) -> int:
        """Arena offset of a tensor in bytes."""
        if tensor in self.parts:
            return self.offset(self.parts[tensor].result) + self.parts[tensor].offset
        return self.buffers[self.buffer_of[tensor]].offset
