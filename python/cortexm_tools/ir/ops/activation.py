# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: tables, softmax, functions of floats, bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale, quantize_multiplier, softmax_s8
from ..floats import F32, Floats, sequential_sum
from ..functions import UNARY
from ..rules import CODES, INT32, NUMBERS, Subject
from ..types import Array, DType, Tensor
from ..wide import interpolate, sigmoid_s16, softmax_interpolated, softmax_s16

UNARY_FUNCTIONS = tuple(UNARY)

# Entries of a table of int16 codes.
WIDE_TABLES = tuple(2**bits + 1 for bits in range(9, 13))

# A sum of as many exponentials in Q19 fits in 32 bits: kernels/src/activation.
_SOFTMAX_SIZE = 2**13 - 1


def check_table(op: Subject, table: Tensor) -> None:
    """Whether a table has an entry for each of its codes, or one of int16 as many as there are."""
    if table.dtype is DType.S8:
        op.require(table.numel == 256, "the table must have 256 entries")
    else:
        sizes = ", ".join(map(str, WIDE_TABLES))
        op.require(table.numel in WIDE_TABLES, f"the table must have one of {sizes} entries")


def look_up(table: Array, codes: I64) -> I64:
    """What a table gives for codes of its type."""
    entries: I64 = table.reshape(-1).astype(np.int64)
    if table.dtype == DType.S16.numpy:
        return interpolate(codes, entries)
    found: I64 = entries[codes + 128]
    return found


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.PASS, channels=Channels.EACH, exact=True
)
@dataclass(frozen=True)
class Activation(Attrs):
    """x s8, table [256] s8 -> table[x + 128]; or x s16, table [n + 1] s16, between whose entries is
    interpolated, n a power of two from 512 to 4096."""

    kind: ClassVar[str] = "activation"

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.types(*CODES)
        check_table(op, op.ins[1])
        op.same_shape()

    def compute(self, results: tuple[Tensor, ...], x: Array, table: Array) -> Array:
        return look_up(table, x.astype(np.int64))


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Softmax(Attrs):
    """x s8 -> s8 with scale 1/256 and zero point -128, along `dim` (non-negative)."""

    kind: ClassVar[str] = "softmax"
    dim: int
    rescale: Rescale
    diff_min: int

    @classmethod
    def of(cls, dim: int, scale: float) -> Softmax:
        """That of codes of this scale: differences are in Q5.26 (TensorFlow Lite,
        PreprocessSoftmaxScaling and CalculateInputRadius)."""
        rescale = quantize_multiplier(min(scale * 2.0**26, 2.0**31 - 1))
        return cls(dim, rescale, -math.floor(31 * 2.0 ** (26 - rescale.shift)))

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.S8)
        op.same_shape()
        op.dimension(self.dim, len(op.x.shape))
        op.require(
            op.x.shape[self.dim] <= _SOFTMAX_SIZE,
            f"goes over {op.x.shape[self.dim]} elements, at most {_SOFTMAX_SIZE} are exact in int8",
        )
        op.rescales(shift=(0, 31), rescale=self.rescale)
        # The largest element has the difference 0, and with it a part in the sum: it is not 0.
        op.within((INT32[0], 0), diff_min=self.diff_min)
        most, shift = max(self.diff_min, -255), self.rescale.shift
        op.require(
            most << shift >= INT32[0],
            f"differences of {most} shifted by {shift} exceed 32 bits",
        )

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        rows = np.moveaxis(x.astype(np.int64), self.dim, -1)
        soft = softmax_s8(rows, self.rescale, self.diff_min)
        return np.moveaxis(soft, -1, self.dim)


def _check_columns_s16(op: Subject, dim: int) -> None:
    op.counts(1)
    op.types(DType.S16)
    op.same_shape()
    op.dimension(dim, len(op.x.shape))
    op.require(op.x.shape[dim] <= 2**16, "goes over more than 65,536 elements")


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class WideSoftmax(Attrs):
    """x s16 -> s16 with scale 2**-15, along `dim` (non-negative).

    A code times `multiplier` is an exponent of 2 in Q32.
    """

    kind: ClassVar[str] = "wide_softmax"
    dim: int
    multiplier: int

    def check(self, op: Subject) -> None:
        _check_columns_s16(op, self.dim)
        op.within((0, 2**32 - 1), multiplier=self.multiplier)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        rows = np.moveaxis(x.astype(np.int64), self.dim, -1)
        return np.moveaxis(softmax_s16(rows, self.multiplier), -1, self.dim)


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class InterpolatedSoftmax(Attrs):
    """x s16 -> s16 with scale 2**-15, along `dim` (non-negative), by tables of exponentials and reciprocals.

    `rescale` makes of differences of codes multiples of 10 / 65535.
    """

    kind: ClassVar[str] = "interpolated_softmax"
    dim: int
    rescale: Rescale

    def check(self, op: Subject) -> None:
        _check_columns_s16(op, self.dim)
        op.rescales(shift=(-31, 15), rescale=self.rescale)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        rows = np.moveaxis(x.astype(np.int64), self.dim, -1)
        return np.moveaxis(softmax_interpolated(rows, self.rescale), -1, self.dim)


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.PASS, channels=Channels.EACH, exact=True
)
@dataclass(frozen=True)
class WideSigmoid(Attrs):
    """x s16 -> s16 with scale 2**-15: the logistic function, or tanh, by a table of entries.

    x * multiplier / 2**shift, rounded, ties up, is in units of 1 / 12288.
    """

    kind: ClassVar[str] = "wide_sigmoid"
    multiplier: int
    shift: int
    is_tanh: bool

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.S16)
        op.same_shape()
        op.within((0, 2**15 - 1), multiplier=self.multiplier)
        op.within((0, 31), shift=self.shift)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        half = 1 << self.shift >> 1
        return sigmoid_s16(
            (x.astype(np.int64) * self.multiplier + half) >> self.shift, self.is_tanh
        )


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.ROWS,
    channels=Channels.NONE,
    exact=False,
)
@dataclass(frozen=True)
class FloatSoftmax(Attrs):
    """x f32 -> softmax along `dim`, or its logarithm."""

    kind: ClassVar[str] = "float_softmax"
    dim: int
    log: bool

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.F32)
        op.same_shape()
        op.dimension(self.dim, max(len(op.x.shape), 1))

    def compute(self, results: tuple[Tensor, ...], x: Floats) -> Array:
        below = x - x.max(axis=self.dim, keepdims=True)
        exponential = np.exp(below.astype(np.float64)).astype(F32)
        total = sequential_sum(exponential, self.dim)
        if self.log:
            return np.asarray(below - np.log(total.astype(np.float64)).astype(F32))
        return np.asarray(exponential / total)


@operator(
    layout=Layout.SAME,
    overwrites=Operands.ALL,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=lambda attrs: UNARY[attrs.function].exact,
)
@dataclass(frozen=True)
class Unary(Attrs):
    """x f32 -> f32; `function` is one of UNARY_FUNCTIONS (gelu in its exact form).

    `alpha` is leaky_relu's slope below zero. elu is scale * x above zero, else
    scale * alpha * (exp(input_scale * x) - 1).
    """

    kind: ClassVar[str] = "unary"
    function: str
    alpha: float = 1.0
    scale: float = 1.0
    input_scale: float = 1.0

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.F32)
        op.same_shape()
        op.one_of(self.function, UNARY_FUNCTIONS)
        op.real(alpha=self.alpha, scale=self.scale, input_scale=self.input_scale)

    def compute(self, results: tuple[Tensor, ...], x: Floats) -> Array:
        function = UNARY[self.function]
        parameters = (F32(self.alpha), F32(self.scale), F32(self.input_scale))
        return np.asarray(function.compute(x, *parameters if function.parametrized else ()), F32)


@operator(
    layout=Layout.SAME, overwrites=Operands.ALL, work=Work.PASS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Clamp(Attrs):
    """x -> min(max(x, low), high), in x's type; a bound that is None does not act.

    A zero stays what it is beside a bound of zero, whatever its sign, and so does a NaN.
    """

    kind: ClassVar[str] = "clamp"
    low: float | None
    high: float | None

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(*NUMBERS)
        op.same_shape()
        for name, bound in (("low", self.low), ("high", self.high)):
            if bound is None:
                continue
            if op.x.dtype is DType.F32:
                if not math.isinf(bound):
                    op.real(**{name: bound})
            else:
                op.require(float(bound).is_integer(), f"{name} is {bound}, must be an integer")
                op.within(op.x.dtype.limits, **{name: int(bound)})
        if self.low is not None and self.high is not None:
            op.require(self.low <= self.high, f"the range [{self.low}, {self.high}] is empty")

    def compute(self, results: tuple[Tensor, ...], x: Any) -> Array:
        if self.low is not None:
            low = np.array(self.low, x.dtype)
            x = np.where(x < low, low, x)
        if self.high is not None:
            high = np.array(self.high, x.dtype)
            x = np.where(x > high, high, x)
        return np.asarray(x)
