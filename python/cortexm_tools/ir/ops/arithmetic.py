# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands, on codes and on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import Rescale
from ..floats import F32
from ..functions import BINARY
from ..rules import CODES, INT16, SIGNED_MULTIPLIER, Subject
from ..types import Array, DType, Tensor, same_layout
from ..wide import ADD_RAISE
from .activation import check_table, look_up

BINARY_FUNCTIONS = tuple(BINARY)
INTEGER_FUNCTIONS = tuple(name for name, function in BINARY.items() if function.integers)
# What kernels of Gate take: a code less its zero point twice in 16 bits, and a zero point behind the shift;
# of int16, whose zero points are 0, what the upper half of a product tells.
GATE_ZERO_POINT = {DType.S8: (-16000, 16000), DType.S16: (0, 0)}
GATE_SHIFT = {DType.S8: (-22, -1), DType.S16: (-31, -2)}
INTEGER_DIVISIONS = tuple(name for name, function in BINARY.items() if function.divides)


@operator(
    layout=Layout.REPEATED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.BOTH,
    exact=True,
)
@dataclass(frozen=True)
class Add(Attrs):
    """a, b (broadcastable), both s8 or s16 -> that type.

    Both operands are raised before rescaling: by 2**20, int16 by 2**15.
    """

    kind: ClassVar[str] = "add"
    a_zero_point: int
    a_rescale: Rescale
    b_zero_point: int
    b_rescale: Rescale
    out_zero_point: int
    out_rescale: Rescale
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        _check_two(op, *CODES)
        op.zero_points(
            op.x.dtype,
            a_zero_point=self.a_zero_point,
            b_zero_point=self.b_zero_point,
            out_zero_point=self.out_zero_point,
        )
        # A difference is a sum with a negative factor.
        op.rescales(SIGNED_MULTIPLIER, a_rescale=self.a_rescale, b_rescale=self.b_rescale)
        op.rescales(out_rescale=self.out_rescale)
        op.clamp(self.act_min, self.act_max)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        raised = ADD_RAISE if results[0].dtype is DType.S16 else 20
        raised_a = (a.astype(np.int64) - self.a_zero_point) << raised
        raised_b = (b.astype(np.int64) - self.b_zero_point) << raised
        total = self.a_rescale.apply(raised_a) + self.b_rescale.apply(raised_b)
        result = self.out_rescale.apply(total)
        return np.clip(result + self.out_zero_point, self.act_min, self.act_max)


@operator(
    layout=Layout.REPEATED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.BOTH,
    exact=True,
)
@dataclass(frozen=True)
class Mul(Attrs):
    """a, b (broadcastable), both s8 or s16 -> that type."""

    kind: ClassVar[str] = "mul"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    rescale: Rescale

    def check(self, op: Subject) -> None:
        _check_two(op, *CODES)
        # ExecuTorch gives an operand of few int8 values a zero point beyond the codes.
        limits = INT16 if op.x.dtype is DType.S8 else (0, 0)
        op.within(limits, a_zero_point=self.a_zero_point, b_zero_point=self.b_zero_point)
        op.zero_points(op.x.dtype, out_zero_point=self.out_zero_point)
        op.rescales(rescale=self.rescale)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        product = (a.astype(np.int64) - self.a_zero_point) * (
            b.astype(np.int64) - self.b_zero_point
        )
        result = self.rescale.apply(product) + self.out_zero_point
        return np.clip(result, *results[0].dtype.limits)


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Gate(Attrs):
    """a, b, table, all s8 or s16 -> the product of a and what Activation makes of b, as Mul; or a, b s16 ->
    the product of a and b.

    a and b have the shape of the result, or more along `dim`, where what is read begins at `a_begin` and
    `b_begin`. The plan makes it of slices, an activation and a product (plan/lower/gates.py).
    """

    kind: ClassVar[str] = "gate"
    dim: int
    a_begin: int
    b_begin: int
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    rescale: Rescale

    def check(self, op: Subject) -> None:
        op.counts(2, 3)
        op.types(*(CODES if len(op.ins) == 3 else (DType.S16,)))
        op.dimension(self.dim, len(op.out.shape))
        for table in op.ins[2:]:
            check_table(op, table)
        for x, begin in zip(op.ins[:2], (self.a_begin, self.b_begin), strict=True):
            least = begin + op.out.shape[self.dim]
            shape = list(op.out.shape)
            if len(x.shape) == len(shape):
                shape[self.dim] = x.shape[self.dim]
            op.shape_of(x, *shape)
            op.require(0 <= begin and least <= x.shape[self.dim], "reads beyond an operand")
            op.require(
                same_layout(x.shape, x.dim_order, op.out.dim_order),
                "operands and result must have one layout",
            )
        of = op.out.dtype
        op.within(
            GATE_ZERO_POINT[of], a_zero_point=self.a_zero_point, b_zero_point=self.b_zero_point
        )
        op.zero_points(of, out_zero_point=self.out_zero_point)
        op.rescales(shift=GATE_SHIFT[of], rescale=self.rescale)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array, *table: Array) -> Array:
        size = results[0].shape[self.dim]
        x, y = (
            each.take(range(begin, begin + size), self.dim).astype(np.int64)
            for each, begin in ((a, self.a_begin), (b, self.b_begin))
        )
        for each in table:
            y = look_up(each, y)
        product = (x - self.a_zero_point) * (y - self.b_zero_point)
        return np.clip(self.rescale.apply(product) + self.out_zero_point, *results[0].dtype.limits)


@operator(
    layout=Layout.REPEATED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.BOTH,
    exact=True,
)
@dataclass(frozen=True)
class Div(Attrs):
    """a, b of one shape, both s8 or s16 -> same type. `scale` is s_a / (s_b * s_out), in float32."""

    kind: ClassVar[str] = "div"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    scale: float

    def check(self, op: Subject) -> None:
        _check_two(op, DType.S8, DType.S16)
        op.require(op.ins[0].shape == op.ins[1].shape, "the operands must have one shape")
        op.within(
            op.out.dtype.limits,
            a_zero_point=self.a_zero_point,
            b_zero_point=self.b_zero_point,
            out_zero_point=self.out_zero_point,
        )
        op.positive(scale=self.scale)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        dividend = (a.astype(np.int64) - self.a_zero_point).astype(F32)
        divisor = (b.astype(np.int64) - self.b_zero_point).astype(F32)
        quotient = np.divide(dividend, divisor, out=np.zeros_like(dividend), where=divisor != 0)
        result = np.rint(quotient * F32(self.scale)).astype(np.float64) + self.out_zero_point
        return np.asarray(np.clip(result, *results[0].dtype.limits))


@operator(
    layout=Layout.REPEATED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.BOTH,
    exact=True,
)
@dataclass(frozen=True)
class Minimum(Attrs):
    """a, b (broadcastable, one type) -> the smaller, element by element."""

    kind: ClassVar[str] = "minimum"

    def check(self, op: Subject) -> None:
        _check_two(op, *DType)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        return np.asarray(np.minimum(a, b))


@operator(
    layout=Layout.REPEATED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.BOTH,
    exact=True,
)
@dataclass(frozen=True)
class Maximum(Attrs):
    """a, b (broadcastable, one type) -> the larger, element by element."""

    kind: ClassVar[str] = "maximum"

    def check(self, op: Subject) -> None:
        _check_two(op, *DType)

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        return np.asarray(np.maximum(a, b))


@operator(
    layout=Layout.STRIDED,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=lambda attrs: BINARY[attrs.function].exact,
)
@dataclass(frozen=True)
class Binary(Attrs):
    """a, b (broadcastable) -> the same type; `function` is one of BINARY_FUNCTIONS.

    f32, and s32 or s64 for INTEGER_FUNCTIONS, which wrap. remainder has the sign of b, fmod that of
    a; floor_divide and trunc_divide round the quotient. Integers are divided by a constant without
    zeros (INTEGER_DIVISIONS).
    """

    kind: ClassVar[str] = "binary"
    function: str

    def check(self, op: Subject) -> None:
        op.one_of(self.function, BINARY_FUNCTIONS)
        integers = self.function in INTEGER_FUNCTIONS
        _check_two(op, DType.F32, *((DType.S32, DType.S64) if integers else ()))
        if op.out.dtype is not DType.F32 and self.function in INTEGER_DIVISIONS:
            divisor = op.ins[1].data
            op.require(divisor is not None, "integers are divided by a constant only")
            op.require(divisor is not None and bool(divisor.all()), "division by zero")

    def compute(self, results: tuple[Tensor, ...], a: Any, b: Any) -> Array:
        function = BINARY[self.function]
        of_type = function.floats if a.dtype == F32 else function.integers
        assert of_type is not None
        return np.asarray(of_type(a, b))


def _check_two(op: Subject, *dtypes: DType) -> None:
    """Two operands of one type that broadcast to the result."""
    op.counts(2)
    op.types(*dtypes)
    op.shape_of(op.out, *op.broadcast(*op.ins))
