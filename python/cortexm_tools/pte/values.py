# SPDX-License-Identifier: Apache-2.0
"""The contents of a .pte file as frozen values; `program` makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from ..flatbuffer import Format

PTE = Format(".pte", "ExecuTorch")
damaged = PTE.damaged


class ScalarType(IntEnum):
    """Element types that can occur in a program, with PyTorch's numbers."""

    U8 = 0
    S8 = 1
    S16 = 2
    S32 = 3
    S64 = 4
    F16 = 5
    F32 = 6
    F64 = 7
    BOOL = 11
    BF16 = 15
    U16 = 27
    U32 = 28
    U64 = 29

    @property
    def size(self) -> int:
        """Bytes per element."""
        return _SIZES[self]


_SIZES = {
    ScalarType.U8: 1,
    ScalarType.S8: 1,
    ScalarType.S16: 2,
    ScalarType.S32: 4,
    ScalarType.S64: 8,
    ScalarType.F16: 2,
    ScalarType.F32: 4,
    ScalarType.F64: 8,
    ScalarType.BOOL: 1,
    ScalarType.BF16: 2,
    ScalarType.U16: 2,
    ScalarType.U32: 4,
    ScalarType.U64: 8,
}


class Dynamism(IntEnum):
    """How far a tensor's shape is known when the program is made."""

    STATIC = 0
    BOUND = 1
    UNBOUND = 2


@dataclass(frozen=True)
class PteTensor:
    """A tensor value.

    Attributes:
        scalar_type: element type.
        shape: logical sizes; the upper bound where `dynamism` is BOUND.
        dim_order: dimensions in memory order, outermost first.
        dynamism: whether the sizes are fixed.
        data: the bytes in memory order, of a constant or of a mutable tensor's initial state.
        mutable: whether the runtime gives the tensor memory of its own; False for constants.
        place: memory area and byte offset that the memory planner chose; None where it chose none.
        name: fully qualified name in the module, where the program has it.
    """

    scalar_type: ScalarType
    shape: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: Dynamism = Dynamism.STATIC
    data: memoryview | None = field(default=None, compare=False, repr=False)
    mutable: bool = False
    place: tuple[int, int] | None = None
    name: str = ""

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.scalar_type.size


@dataclass(frozen=True)
class PteList:
    """A list of values by index (integers, tensors, or optional tensors); -1 is an absent tensor."""

    items: tuple[int, ...]
    of_tensors: bool
    optional: bool = False


@dataclass(frozen=True)
class PteFloats:
    """A list of floats, stored in place."""

    items: tuple[float, ...]


@dataclass(frozen=True)
class PteBools:
    """A list of booleans, stored in place."""

    items: tuple[bool, ...]


PteValue = None | bool | int | float | str | PteTensor | PteList | PteFloats | PteBools


class InstructionKind(Enum):
    """What an instruction does; the value is its name in messages."""

    KERNEL = "operator call"
    DELEGATE = "delegate call"
    MOVE = "move"
    JUMP = "conditional jump"
    FREE = "free"


@dataclass(frozen=True)
class PteInstruction:
    """One instruction. `operator` ("namespace::name.overload") and `args` are a kernel call's."""

    kind: InstructionKind
    operator: str = ""
    args: tuple[int, ...] = ()


@dataclass(frozen=True)
class PteProgram:
    """One method of a .pte file.

    Attributes:
        method: the method's name.
        values: all values; instructions, `inputs` and `outputs` refer to them by index.
        instructions: in order of execution.
        delegates: backend names of the delegates.
        named_data: named blobs.
        file_size: bytes of the file the program was parsed from.
        planned_sizes: bytes of each memory area that ExecuTorch's runtime would use; `PteTensor.place`
            counts them from 1.
    """

    method: str
    values: tuple[PteValue, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[PteInstruction, ...]
    delegates: tuple[str, ...]
    named_data: tuple[tuple[str, memoryview], ...]
    file_size: int
    planned_sizes: tuple[int, ...] = ()
