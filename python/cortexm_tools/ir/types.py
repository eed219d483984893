# SPDX-License-Identifier: Apache-2.0
"""Element types, tensors and graphs: the plain values every stage after the .pte works on.

A tensor's `shape` is its logical shape, as PyTorch shows it (NCHW for images). `dim_order` says how
the dimensions lie in memory, outermost first: ``(0, 2, 3, 1)`` is channels_last. Operators are
defined on logical tensors; the layout is a property that the planner sees and the meaning does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .attrs import Attrs

Array = npt.NDArray[np.generic]


class DType(Enum):
    """Element type. The value is the short name used in reports and kernel names."""

    S8 = "s8"
    S16 = "s16"
    S32 = "s32"
    S64 = "s64"
    U8 = "u8"
    BOOL = "bool"
    F32 = "f32"

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype(_NUMPY[self])

    @cached_property
    def size(self) -> int:
        """Bytes per element."""
        return self.numpy.itemsize

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer type."""
        if self is DType.BOOL:
            return 0, 1
        bits = 8 * self.size
        return (0, 2**bits - 1) if self is DType.U8 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    @property
    def c_type(self) -> str:
        return _C_TYPES[self]


_NUMPY = {
    DType.S8: np.int8,
    DType.S16: np.int16,
    DType.S32: np.int32,
    DType.S64: np.int64,
    DType.U8: np.uint8,
    DType.BOOL: np.bool_,
    DType.F32: np.float32,
}

_C_TYPES = {
    DType.S8: "int8_t",
    DType.S16: "int16_t",
    DType.S32: "int32_t",
    DType.S64: "int64_t",
    DType.U8: "uint8_t",
    DType.BOOL: "uint8_t",
    DType.F32: "float",
}


@dataclass(frozen=True)
class QuantParams:
    """real = scale * (code - zero_point), for a whole tensor."""

    scale: float
    zero_point: int


@dataclass(frozen=True)
class Tensor:
    """One value of a graph.

    Attributes:
        name: unique within its graph.
        shape: logical shape; () is a scalar.
        dim_order: a permutation of ``range(len(shape))``, outermost dimension in memory first.
        data: the value of a constant, in logical shape and C order; None for activations.
        quant: scale and zero point where they are known (inputs and outputs; for information).
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    dim_order: tuple[int, ...]
    data: Array | None = field(default=None, compare=False)
    quant: QuantParams | None = None

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def nbytes(self) -> int:
        return self.numel * self.dtype.size

    @property
    def memory_shape(self) -> tuple[int, ...]:
        """The shape with its dimensions in memory order."""
        return tuple(self.shape[d] for d in self.dim_order)


@dataclass(frozen=True)
class Layer:
    """Where an operator comes from in the user's model.

    Attributes:
        path: module path, e.g. ``features.3.0``; empty where it is not known.
        source: ``file.py:line``; empty where it is not known.
        call: what the user calls the operator, ``torch.sort``; empty where it is not known. The only one of
            the three that a layer of PyTorch has which is a whole model.
    """

    path: str = ""
    source: str = ""
    call: str = ""

    def __str__(self) -> str:
        if self.path and self.source:
            return f"{self.path} ({self.source})"
        return self.path or self.source or self.call or "(unknown layer)"


@dataclass(frozen=True)
class Op:
    """One operator: its attributes (whose class says which operator) and tensor indices."""

    attrs: Attrs
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    layer: Layer = Layer()

    @property
    def kind(self) -> str:
        """The operator's name, as in kernel names and reports."""
        return self.attrs.kind


@dataclass(frozen=True)
class State:
    """What a model keeps from one call to the next.

    Attributes:
        name: of the buffer in the model.
        before: the tensor that holds it when a call begins; no operator computes it.
        after: the tensor that holds it from the end of the call on, of the same type and shape.
        initial: what it is before the first call, in logical shape and C order.
    """

    name: str
    before: int
    after: int
    initial: Array = field(compare=False)


@dataclass(frozen=True)
class Graph:
    """A straight-line program over tensors; operators refer to tensors by index.

    An optional operand that is absent (a convolution without bias) is left out of `inputs`; the
    operator's attributes say how many operands there are at least.
    """

    name: str
    tensors: tuple[Tensor, ...]
    ops: tuple[Op, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    states: tuple[State, ...] = ()

    @cached_property
    def given(self) -> tuple[int, ...]:
        """The tensors that have a value before the first operator: inputs and states."""
        return (*self.inputs, *(state.before for state in self.states))

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The tensors that are of use behind the last operator: outputs and new states."""
        return (*self.outputs, *(state.after for state in self.states))


def contiguous(rank: int) -> tuple[int, ...]:
    """The dim order of a C-contiguous tensor of `rank`."""
    return tuple(range(rank))


def channels_last(rank: int) -> tuple[int, ...]:
    """The dim order with the channel dimension (1) innermost: (0, 2, …, 1)."""
    return (0, *range(2, rank), 1)


def same_layout(shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two dim orders put the elements of `shape` in the same memory order.

    Dimensions of size one have no influence on it.
    """
    return [d for d in a if shape[d] != 1] == [d for d in b if shape[d] != 1]
