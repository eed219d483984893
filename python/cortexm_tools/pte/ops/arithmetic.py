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
from ..call import INT8, INT16, Call, Converter, Table, register
from ..operands import LIMITS, code_range, positive_scale, require_float, scalar_operand, scaled
from .activation import emit_unary

TABLE: Table = {}

_INTEGERS = (DType.S32, DType.S64)


def _codes(call: Call, a: int, b: int, *dtypes: DType) -> tuple[int, int]:
    """Two operands of one type and their broadcast result."""
    first, second = call.tensor(a), call.tensor(b)
    dtype = call.info(first).dtype
    call.require_dtype(first, *dtypes)
    call.require_dtype(second, dtype)
    call.require_out(call.broadcast(first, second), dtype)
    return first, second


@register(TABLE, "cortex_m::quantized_add.out", args=13)
def _add(call: Call) -> None:
    a, b = _codes(call, 0, 4, DType.S8)
    act_min, act_max = code_range(call, 11, 12)
    attrs = ops.Add(
        call.integer(1, INT8),
        *call.rescaling(2),
        call.integer(5, INT8),
        *call.rescaling(6),
        call.integer(8, INT8),
        *call.rescaling(9),
        act_min=act_min,
        act_max=act_max,
    )
    call.emit(attrs, a, b)


@register(TABLE, "cortex_m::quantized_mul.out", args=7)
def _mul(call: Call) -> None:
    a, b = _codes(call, 0, 2, DType.S8)
    # The lowering of hardswish gives operands zero points outside of int8.
    attrs = ops.Mul(
        call.integer(1, INT16), call.integer(3, INT16), call.integer(4, INT8), *call.rescaling(5)
    )
    call.emit(attrs, a, b)


@register(TABLE, "cortex_m::quantized_div.out", args=6)
def _div(call: Call) -> None:
    a, b = _codes(call, 0, 2, DType.S8, DType.S16)
    call.require(call.info(a).shape == call.info(b).shape, "operands must have one shape")
    limits = LIMITS[call.info(a).dtype]
    scale = positive_scale(call, 5)
    call.require(scale <= float(np.finfo(np.float32).max), f"the scale {scale} is too large")
    attrs = ops.Div(
        a_zero_point=call.integer(1, limits),
        b_zero_point=call.integer(3, limits),
        out_zero_point=call.integer(4, limits),
        scale=float(np.float32(scale)),
    )
    call.emit(attrs, a, b)


def _extremum(attrs: ops.Attrs) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        call.emit(attrs, *_codes(call, 0, 1, *DType))

    return convert


register(TABLE, "cortex_m::minimum.out", args=2)(_extremum(ops.Minimum()))
register(TABLE, "cortex_m::maximum.out", args=2)(_extremum(ops.Maximum()))


def _portable_extremum(function: str, attrs: ops.Attrs) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor(0), call.tensor(1)
        dtype = call.info(a).dtype
        call.require_dtype(b, dtype)
        call.require_out(call.broadcast(a, b), dtype)
        call.emit(attrs, a, b)

    register(TABLE, f"aten::{function}.out", args=2)(convert)


_portable_extremum("minimum", ops.Minimum())
_portable_extremum("maximum", ops.Maximum())


def _clamp_by_tensors(call: Call) -> None:
    """The larger of operand and lower bound, and the smaller of that and the upper bound."""
    x = call.tensor(0)
    dtype = call.info(x).dtype
    bounds = [(n, index) for n in (1, 2) if (index := call.optional(n)) is not None]
    call.require(bool(bounds), "neither of the bounds is given")
    for number, bound in bounds:
        call.require_dtype(bound, dtype)
        attrs: ops.Attrs = ops.Maximum() if number == 1 else ops.Minimum()
        shape = call.broadcast(x, bound)
        if number == bounds[-1][0]:
            call.require_out(shape, dtype)
            call.emit(attrs, x, bound)
        else:
            inner = Tensor("x", dtype, shape, contiguous(len(shape)), quant=call.info(x).quant)
            x = call.emit_new(attrs, inner, x, bound)


register(TABLE, "aten::clamp.Tensor_out", args=3)(_clamp_by_tensors)


def _operands(call: Call, function: str, scalar: bool) -> tuple[int, int]:
    """Both operands, of one type that `function` exists for."""
    a = call.tensor(0)
    dtype = call.info(a).dtype
    if dtype not in _INTEGERS or function not in ops.INTEGER_FUNCTIONS:
        require_float(call, a)
    b = scalar_operand(call, 1, dtype) if scalar else call.tensor(1)
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


def _binary(name: str, function: str, *, scalar: bool) -> None:
    def convert(call: Call) -> None:
        call.emit(ops.Binary(function), *_operands(call, function, scalar))

    register(TABLE, name, args=2)(convert)


for _function in ("mul", "div", "fmod", "remainder"):
    _tensor = {"fmod": "Tensor_out", "remainder": "Tensor_out"}.get(_function, "out")
    _binary(f"aten::{_function}.{_tensor}", _function, scalar=False)
    _binary(f"aten::{_function}.Scalar_out", _function, scalar=True)

_binary("aten::floor_divide.out", "floor_divide", scalar=False)
_binary("aten::atan2.out", "atan2", scalar=False)
_binary("aten::pow.Tensor_Tensor_out", "pow", scalar=False)


def _sum(function: str, scalar: bool) -> Converter:
    def convert(call: Call) -> None:
        a, b = _operands(call, function, scalar)
        call.emit(ops.Binary(function), a, scaled(call, b, 2))

    return convert


for _function in ("add", "sub"):
    register(TABLE, f"aten::{_function}.out", args=3)(_sum(_function, scalar=False))
    register(TABLE, f"aten::{_function}.Scalar_out", args=3)(_sum(_function, scalar=True))


@register(TABLE, "aten::rsub.Scalar_out", args=3)
def _rsub(call: Call) -> None:
    x, value = _operands(call, "sub", scalar=True)
    call.emit(ops.Binary("sub"), value, scaled(call, x, 2))


def _rounded_division(name: str, scalar: bool) -> None:
    def convert(call: Call) -> None:
        mode = None if call.is_none(2) else call.program.values[call.instruction.args[2]]
        functions = {None: "div", "floor": "floor_divide", "trunc": "trunc_divide"}
        function = functions.get(mode) if mode is None or isinstance(mode, str) else None
        call.require(function is not None, f"unknown rounding mode {mode!r}")
        assert function is not None
        call.emit(ops.Binary(function), *_operands(call, function, scalar))

    register(TABLE, name, args=3)(convert)


_rounded_division("aten::div.out_mode", scalar=False)
_rounded_division("aten::div.Scalar_mode_out", scalar=True)


@register(TABLE, "aten::pow.Tensor_Scalar_out", args=2)
def _power(call: Call) -> None:
    """Powers that a product, a root or a reciprocal gives become that, as in PyTorch."""
    exponent = float(call.scalar(1))
    functions = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}
    if exponent in functions:
        emit_unary(call, ops.Unary(functions[exponent]))
        return
    x, power = _operands(call, "pow", scalar=True)
    if exponent not in (2.0, 3.0):
        call.emit(ops.Binary("pow"), x, power)
        return
    factor = x
    if exponent == 3.0:
        info = call.info(x)
        square = Tensor("square", info.dtype, info.shape, info.dim_order)
        factor = call.emit_new(ops.Binary("mul"), square, x, x)
    call.emit(ops.Binary("mul"), factor, x)


@register(TABLE, "aten::pow.Scalar_out", args=2)
def _power_of_number(call: Call) -> None:
    x = call.tensor(1)
    require_float(call, x)
    base = scalar_operand(call, 0, DType.F32)
    call.require_out(call.info(x).shape, DType.F32)
    call.emit(ops.Binary("pow"), base, x)
