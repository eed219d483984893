# SPDX-License-Identifier: Apache-2.0
"""The words that the checks of operators are written in.

A check says what an operator is defined on: how many operands and results, of which types and shapes,
and which values its fields can have so that every kernel computes what docs/numerics.md says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import CortexMError
from .attrs import is_operator
from .fixed_point import Rescale
from .types import DType, Op, Tensor
from .wide import WIDE_SHIFT, WIDE_SUMS

INT8 = DType.S8.limits
INT16 = DType.S16.limits
INT32 = DType.S32.limits

# Of a requantization; see docs/numerics.md.
SHIFT = (-31, 30)
MULTIPLIER = (0, INT32[1])
SIGNED_MULTIPLIER = (-INT32[1], INT32[1])

# The codes of activations.
CODES = (DType.S8, DType.S16)
INDICES = (DType.S64, DType.S32)
NUMBERS = tuple(dtype for dtype in DType if dtype is not DType.BOOL)


@dataclass(frozen=True)
class Subject:
    """An operator under check with its operands and results."""

    op: Op
    ins: tuple[Tensor, ...]
    outs: tuple[Tensor, ...]

    @property
    def x(self) -> Tensor:
        """The first operand."""
        return self.ins[0]

    @property
    def out(self) -> Tensor:
        """The first result."""
        return self.outs[0]

    def require(self, condition: bool, what: str) -> None:
        """Raises CortexMError(what) unless `condition`."""
        if not condition:
            raise CortexMError(f"{self.op.kind}: {what}", where=str(self.op.layer))

    def counts(self, least: int, most: int | None = None, *, results: int = 1) -> None:
        """The operator has `least` to `most` operands (default: exactly `least`) and `results`."""
        have, most = len(self.ins), least if most is None else most
        wanted = str(least) if most == least else f"{least} to {most}"
        self.require(least <= have <= most, f"has {have} operands, takes {wanted}")
        have = len(self.outs)
        self.require(have == results, f"has {have} results, gives {results}")

    # -- types and shapes -------------------------------------------------------------------------

    def type_of(self, tensor: Tensor, *allowed: DType) -> None:
        names = " or ".join(dtype.value for dtype in allowed)
        self.require(
            tensor.dtype in allowed, f"{tensor.name!r} is {tensor.dtype.value}, must be {names}"
        )

    def types(self, *allowed: DType) -> None:
        """All operands and results are of one type, one of those allowed."""
        self.type_of(self.x, *allowed)
        self.same_type(*self.ins, *self.outs)

    def same_type(self, *tensors: Tensor) -> None:
        names = sorted({tensor.dtype.value for tensor in tensors})
        self.require(len(names) == 1, f"mixes the element types {' and '.join(names)}")

    def shape_of(self, tensor: Tensor, *shape: int) -> None:
        self.require(
            tensor.shape == shape, f"{tensor.name!r} has shape {tensor.shape}, must have {shape}"
        )

    def same_shape(self) -> None:
        """The result has the shape of the first operand."""
        self.shape_of(self.out, *self.x.shape)

    def broadcast(self, *tensors: Tensor) -> tuple[int, ...]:
        """The shape that tensors broadcast to (numpy rules)."""
        shapes = [tensor.shape for tensor in tensors]
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            self.require(False, f"operands of shapes {shapes} do not broadcast")
            raise

    def broadcasts_to(self, tensor: Tensor, shape: tuple[int, ...]) -> None:
        """`tensor` repeated as numpy does gives `shape`."""
        short = len(shape) - len(tensor.shape)
        fits = short >= 0 and all(
            own in (1, extent) for own, extent in zip(tensor.shape, shape[short:], strict=True)
        )
        self.require(fits, f"{tensor.name!r} of shape {tensor.shape} does not broadcast to {shape}")

    def rank(self, tensor: Tensor, rank: int) -> None:
        self.require(
            len(tensor.shape) == rank,
            f"{tensor.name!r} has {len(tensor.shape)} dimensions, must have {rank}",
        )

    # -- fields -----------------------------------------------------------------------------------

    def within(self, limits: tuple[int, int], **fields: int | tuple[int, ...]) -> None:
        """Integers, or tuples of them, lie within `limits` (inclusive)."""
        low, high = limits
        for name, field in fields.items():
            for value in field if isinstance(field, tuple) else (field,):
                if not (isinstance(value, int) and low <= value <= high):
                    self.require(False, f"{name} is {value}, must lie in [{low}, {high}]")

    def rescales(
        self,
        multiplier: tuple[int, int] = MULTIPLIER,
        shift: tuple[int, int] = SHIFT,
        **fields: Rescale | tuple[Rescale, ...],
    ) -> None:
        """Requantizations, or tuples of them, that kernels can do."""
        for name, field in fields.items():
            several = field if isinstance(field, tuple) else (field,)
            self.within(multiplier, **{f"{name}.multiplier": tuple(r.multiplier for r in several)})
            self.within(shift, **{f"{name}.shift": tuple(r.shift for r in several)})

    def dimension(self, dim: int, rank: int) -> None:
        self.require(0 <= dim < rank, f"dimension {dim} does not exist in rank {rank}")

    def real(self, **fields: float) -> None:
        """Numbers that are finite as float32."""
        for name, value in fields.items():
            self.require(_is_float32(value), f"{name} is {value}, must be a finite float32")

    def positive(self, **fields: float) -> None:
        """Numbers that are finite and above zero as float32."""
        self.real(**fields)
        for name, value in fields.items():
            self.require(float(np.float32(value)) > 0.0, f"{name} is {value}, must be positive")

    def zero_points(self, dtype: DType, **fields: int) -> None:
        """Zero points of codes: int16 codes are symmetric."""
        self.within(INT8 if dtype is DType.S8 else (0, 0), **fields)

    def clamp(self, low: int, high: int) -> None:
        """The clamp of the result's codes."""
        self.within(self.out.dtype.limits, act_min=low, act_max=high)
        self.require(low <= high, f"the clamp [{low}, {high}] is empty")

    def one_of(self, function: str, known: Iterable[str]) -> None:
        self.require(function in known, f"unknown function {function!r}")


def check_codes(op: Subject) -> None:
    """Codes times int8 weights give codes of the same type."""
    op.type_of(op.x, *CODES)
    op.type_of(op.ins[1], DType.S8)
    op.type_of(op.out, op.x.dtype)


def check_wide_sums(op: Subject, terms: int, largest: int) -> None:
    """Sums of so many products of int16 codes with numbers up to `largest`, and the bias, if there is
    one, stay below WIDE_SUMS."""
    if op.x.dtype is not DType.S16:
        return
    bound = terms * largest << 15
    for bias in op.ins[2:]:
        if bias.dtype is DType.S64:
            op.require(bias.data is not None, "a bias of 64 bits is no constant")
            assert bias.data is not None
            bound += max((abs(int(value)) for value in bias.data.reshape(-1)), default=0)
        else:
            bound += 1 << 31
    op.require(bound < WIDE_SUMS, f"sums up to {bound} do not fit in 48 bits")


def bias_types(dtype: DType) -> tuple[DType, ...]:
    """The types that the bias of a layer of these codes can have."""
    return (DType.S32, DType.S64) if dtype is DType.S16 else (DType.S32,)


def shifts(dtype: DType) -> tuple[int, int]:
    """The shifts of the requantization of a layer's sums to these codes."""
    return WIDE_SHIFT if dtype is DType.S16 else SHIFT


def _is_float32(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= float(np.finfo(np.float32).max)


def check_op(op: Op, tensors: tuple[Tensor, ...]) -> None:
    """Applies the operator's check.

    Raises:
        CortexMError: it is broken, or the operator is not declared.
    """
    subject = Subject(
        op, tuple(tensors[i] for i in op.inputs), tuple(tensors[i] for i in op.outputs)
    )
    subject.require(is_operator(op.attrs), "is not declared as an operator")
    subject.require(bool(op.inputs and op.outputs), "needs operands and a result")
    op.attrs.check(subject)
