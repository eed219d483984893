# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands: of the cortex_m dialect, and portable on floats and integers.

Portable arithmetic on raw int8 codes is refused (operands.require_float): it means that the lowering
left an operator without its requantization, and the program's result is wrong. Operators that only
compare or select codes (minimum, maximum) are right on codes of one scale.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir import ops
from ...ir.types import DType, Tensor, contiguous
from ..call import INT16, Call, Converter, reads
from ..operands import (
    LIMITS,
    code_range,
    codes,
    positive_scale,
    require_float,
    scalar_operand,
    scaled,
    zero_point,
)
from .activation import emit_unary

_INTEGERS = (DType.S32, DType.S64)


def _codes(call: Call, *dtypes: DType) -> tuple[int, int]:
    """Two operands of one type and their broadcast result."""
    first, second = call.tensor("self"), call.tensor("other")
    dtype = call.info(first).dtype
    call.require_dtype(first, *dtypes)
    call.require_dtype(second, dtype)
    call.require_out(call.broadcast(first, second), dtype)
    return first, second


@reads("cortex_m::quantized_add.out", "cortexm::quantized_add.out")
def _add(call: Call) -> None:
    a, b = _codes(call, codes(call))
    act_min, act_max = code_range(call)
    attrs = ops.Add(
        zero_point(call, "self_zero_point"),
        call.rescale("self_multiplier", "self_shift"),
        zero_point(call, "other_zero_point"),
        call.rescale("other_multiplier", "other_shift"),
        zero_point(call, "output_zero_point"),
        call.rescale("output_multiplier", "output_shift"),
        act_min=act_min,
        act_max=act_max,
    )
    call.emit(attrs, a, b)


@reads("cortex_m::quantized_mul.out", "cortexm::quantized_mul.out")
def _mul(call: Call) -> None:
    a, b = _codes(call, codes(call))
    # The lowering of hardswish gives int8 operands zero points outside of int8.
    limits = INT16 if codes(call) is DType.S8 else (0, 0)
    attrs = ops.Mul(
        call.integer("self_zero_point", limits),
        call.integer("other_zero_point", limits),
        zero_point(call, "output_zero_point"),
        call.rescale("output_multiplier", "output_shift"),
    )
    call.emit(attrs, a, b)


@reads("cortex_m::quantized_div.out")
def _div(call: Call) -> None:
    a, b = _codes(call, DType.S8, DType.S16)
    call.require(call.info(a).shape == call.info(b).shape, "operands must have one shape")
    limits = LIMITS[call.info(a).dtype]
    scale = positive_scale(call, "output_scale")
    call.require(scale <= float(np.finfo(np.float32).max), f"the scale {scale} is too large")
    attrs = ops.Div(
        a_zero_point=call.integer("self_zero_point", limits),
        b_zero_point=call.integer("other_zero_point", limits),
        out_zero_point=call.integer("output_zero_point", limits),
        scale=float(np.float32(scale)),
    )
    call.emit(attrs, a, b)


def _extremum(attrs: ops.Attrs) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        call.emit(attrs, *_codes(call, *DType))

    return convert


reads("cortex_m::minimum.out")(_extremum(ops.Minimum()))
reads("cortex_m::maximum.out")(_extremum(ops.Maximum()))


def _portable_extremum(function: str, attrs: ops.Attrs) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor("self"), call.tensor("other")
        dtype = call.info(a).dtype
        call.require_dtype(b, dtype)
        call.require_out(call.broadcast(a, b), dtype)
        call.emit(attrs, a, b)

    reads(f"aten::{function}.out")(convert)


_portable_extremum("minimum", ops.Minimum())
_portable_extremum("maximum", ops.Maximum())


@reads("aten::clamp.Tensor_out")
def _clamp_by_tensors(call: Call) -> None:
    """The larger of operand and lower bound, and the smaller of that and the upper bound."""
    x = call.tensor("self")
    dtype = call.info(x).dtype
    bounds = [(n, index) for n in ("min", "max") if (index := call.optional(n)) is not None]
    call.require(bool(bounds), "neither of the bounds is given")
    for name, bound in bounds:
        call.require_dtype(bound, dtype)
        attrs: ops.Attrs = ops.Maximum() if name == "min" else ops.Minimum()
        shape = call.broadcast(x, bound)
        if name == bounds[-1][0]:
            call.require_out(shape, dtype)
            call.emit(attrs, x, bound)
        else:
            inner = Tensor("x", dtype, shape, contiguous(len(shape)), quant=call.info(x).quant)
            x = call.emit_new(attrs, inner, x, bound)


def _operands(call: Call, function: str, scalar: bool, second: str = "other") -> tuple[int, int]:
    """The first operand and the argument `second`, of one type that `function` exists for."""
    a = call.tensor("self")
    dtype = call.info(a).dtype
    if dtype not in _INTEGERS or function not in ops.INTEGER_FUNCTIONS:
        require_float(call, a)
    b = scalar_operand(call, second, dtype) if scalar else call.tensor(second)
    if call.info(b).dtype is not dtype:
        require_float(call, b)
        call.require_dtype(b, dtype)
    if dtype in _INTEGERS and function in ops.INTEGER_DIVISIONS:
        b = _divisor(call, b)
    call.require_out(call.broadcast(a, b), dtype)
    return a, b


def _divisor(call: Call, index: int) -> int:
    """A divisor of integers, as a constant: by zero PyTorch raises an error and C has no result."""
    value = call.known(index)
    if value is None:
        raise call.error(
            "the divisor of integers is not known at build time",
            "divide by a number or a constant tensor, or compute in float32",
        )
    call.require(
        bool(value.all()), "integers are divided by zero", "PyTorch raises an error for it too"
    )
    return index if call.info(index).is_constant else call.add_constant("divisor", value)


def _binary(name: str, function: str, *, scalar: bool, second: str = "other") -> None:
    def convert(call: Call) -> None:
        call.emit(ops.Binary(function), *_operands(call, function, scalar, second))

    reads(name)(convert)


for _function in ("mul", "div", "fmod", "remainder"):
    _tensor = {"fmod": "Tensor_out", "remainder": "Tensor_out"}.get(_function, "out")
    _binary(f"aten::{_function}.{_tensor}", _function, scalar=False)
    _binary(f"aten::{_function}.Scalar_out", _function, scalar=True)

_binary("aten::floor_divide.out", "floor_divide", scalar=False)
_binary("aten::atan2.out", "atan2", scalar=False)
_binary("aten::pow.Tensor_Tensor_out", "pow", scalar=False, second="exponent")


def _sum(function: str, scalar: bool) -> Converter:
    def convert(call: Call) -> None:
        a, b = _operands(call, function, scalar)
        call.emit(ops.Binary(function), a, scaled(call, b, "alpha"))

    return convert


for _function in ("add", "sub"):
    reads(f"aten::{_function}.out")(_sum(_function, scalar=False))
    reads(f"aten::{_function}.Scalar_out")(_sum(_function, scalar=True))


@reads("aten::rsub.Scalar_out")
def _rsub(call: Call) -> None:
    x, value = _operands(call, "sub", scalar=True)
    call.emit(ops.Binary("sub"), value, scaled(call, x, "alpha"))


def _rounded_division(name: str, scalar: bool) -> None:
    def convert(call: Call) -> None:
        mode = None if call.is_none("rounding_mode") else call.text("rounding_mode")
        functions = {None: "div", "floor": "floor_divide", "trunc": "trunc_divide"}
        function = functions.get(mode)
        call.require(function is not None, f"unknown rounding mode {mode!r}")
        assert function is not None
        call.emit(ops.Binary(function), *_operands(call, function, scalar))

    reads(name)(convert)


_rounded_division("aten::div.out_mode", scalar=False)
_rounded_division("aten::div.Scalar_mode_out", scalar=True)


@reads("aten::pow.Tensor_Scalar_out")
def _power(call: Call) -> None:
    """Powers that a product, a root or a reciprocal gives become that, as in PyTorch."""
    exponent = float(call.scalar("exponent"))
    functions = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}
    if exponent in functions:
        emit_unary(call, ops.Unary(functions[exponent]))
        return
    x, power = _operands(call, "pow", scalar=True, second="exponent")
    if exponent not in (2.0, 3.0):
        call.emit(ops.Binary("pow"), x, power)
        return
    factor = x
    if exponent == 3.0:
        info = call.info(x)
        square = Tensor("square", info.dtype, info.shape, info.dim_order)
        factor = call.emit_new(ops.Binary("mul"), square, x, x)
    call.emit(ops.Binary("mul"), factor, x)


@reads("aten::pow.Scalar_out")
def _power_of_number(call: Call) -> None:
    x = call.tensor("exponent")
    require_float(call, x)
    base = scalar_operand(call, "self", DType.F32)
    call.require_out(call.info(x).shape, DType.F32)
    call.emit(ops.Binary("pow"), base, x)
