# SPDX-License-Identifier: Apache-2.0
"""The pools of ExecuTorch's runtime for one program, to the byte.

The runtime takes memory from a bump allocator while it loads a method: `method_pool` makes the same
allocations in the same order (runtime/executor/method.cpp of ExecuTorch 1.5, `Method::init` and what
it calls) with the sizes that its objects have in the image. tests/executorch_runtime compares the result with
what the runtime has really used.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CortexMError
from ..plan.memory.offset_search import align_up
from ..pte.values import (
    Dynamism,
    InstructionKind,
    PteBools,
    PteFloats,
    PteList,
    PteProgram,
    PteTensor,
)
from .sizes import Sizes

ALIGN = 16
# kTensorDimensionLimit: room for a dim order that the runtime wants before it uses temporary memory.
_DIM_ORDER = 16


@dataclass(frozen=True)
class Pool:
    """A piece of the arena, in bytes."""

    offset: int
    size: int


@dataclass(frozen=True)
class Layout:
    """The arena of a model with RUNTIME executorch.

    Attributes:
        state: what our loader keeps.
        spans: ExecuTorch's list of the planned buffers.
        method: its method allocator; `temp`: its temporary allocator.
        planned: the memory-planned buffers, in the program's order.
        inputs, outputs: where each tensor lies. An input that is a number has an empty pool: export
            fixed it, and ExecuTorch takes no other value.
        size: of the arena.
    """

    state: Pool
    spans: Pool
    method: Pool
    temp: Pool
    planned: tuple[Pool, ...]
    inputs: tuple[Pool, ...]
    outputs: tuple[Pool, ...]
    size: int


class _Bump:
    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self.used = 0

    def raw(self, size: int, align: int) -> None:
        self.used = align_up(self.used, align) + size

    def take(self, name: str, count: int = 1) -> None:
        size, align = self._sizes.entries[name]
        self.raw(size * count, align)


def method_pool(program: PteProgram, sizes: Sizes) -> int:
    """Bytes that ExecuTorch takes from its method allocator to load `program`.

    The pool must begin at a multiple of 16, and the temporary allocator must have `load_temp` bytes.
    """
    bump = _Bump(sizes)
    bump.take("EValue", len(program.values))
    if program.inputs:
        bump.take("bool", len(program.inputs))
    for value in program.values:
        if isinstance(value, PteTensor):
            rank = len(value.shape)
            if value.dynamism is not Dynamism.STATIC:
                bump.raw(4 * rank, 4)
                bump.raw(rank, 1)
            bump.raw(4 * rank, 4)
            bump.take("TensorImpl")
        elif isinstance(value, PteList):
            count = len(value.items)
            if not value.of_tensors:
                bump.take("EValue*", count)
                bump.take("int64", count)
                bump.take("IntList")
            elif value.optional:
                bump.take("EValue*", count)
                bump.take("OptionalTensor", count)
                bump.take("OptionalTensorList")
            else:
                bump.take("Tensor", count)
                bump.take("EValue*", count)
                bump.take("TensorList")
        elif isinstance(value, PteFloats | PteBools | str):
            bump.take("ArrayRef")
    bump.take("BackendDelegate", 0)  # none, but the list is aligned
    bump.take("Chain")
    bump.take("OpFunction", len(program.instructions))
    bump.take("InstructionArgs", len(program.instructions))
    for instruction in program.instructions:
        if instruction.kind is InstructionKind.KERNEL:
            bump.take("EValue*", len(instruction.args))
    return bump.used


def load_temp(program: PteProgram, sizes: Sizes) -> int:
    """Bytes of temporary memory that ExecuTorch wants to look up the program's operators."""
    longest = max((len(i.args) for i in program.instructions), default=0)
    return longest * (sizes.size("TensorMeta") + _DIM_ORDER)


def make_layout(program: PteProgram, sizes: Sizes, operator_temp: int) -> Layout:
    """Places everything in an arena that is aligned to 16.

    Args:
        operator_temp: temporary bytes of the operator that wants most.

    Raises:
        CortexMError: an input or output is not a tensor.
    """
    end = 0

    def pool(size: int) -> Pool:
        nonlocal end
        begin = align_up(end, ALIGN)
        end = begin + size
        return Pool(begin, size)

    state = pool(sizes.size("State"))
    spans = pool(sizes.size("Span") * len(program.planned_sizes))
    method = pool(method_pool(program, sizes))
    temp = pool(max(load_temp(program, sizes), operator_temp))
    planned = tuple(pool(size) for size in program.planned_sizes)

    def place(index: int, role: str) -> Pool:
        value = program.values[index]
        if role == "input" and isinstance(value, bool | int | float | str):
            return Pool(0, 0)
        if not isinstance(value, PteTensor):
            raise CortexMError(f"an {role} of the program is not a tensor", where=program.method)
        if value.place is None:
            return pool(value.nbytes)
        area, offset = value.place
        if not 0 < area <= len(planned) or offset + value.nbytes > planned[area - 1].size:
            raise CortexMError(
                f"an {role} lies outside of the planned memory", where=program.method
            )
        return Pool(planned[area - 1].offset + offset, value.nbytes)

    inputs = tuple(place(index, "input") for index in program.inputs)
    outputs = tuple(place(index, "output") for index in program.outputs)
    return Layout(state, spans, method, temp, planned, inputs, outputs, align_up(end, ALIGN))
