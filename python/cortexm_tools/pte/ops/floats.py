# SPDX-License-Identifier: Apache-2.0
"""Portable arithmetic: functions of one and two operands in float32, the four operations on integers.

Arithmetic on raw int8 codes is refused (arithmetic.require_float).
"""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.types import DType, Tensor
from ..call import Call, Converter, Table, register
from .arithmetic import require_float, scalar_operand

TABLE: Table = {}

_INTEGERS = (DType.S32, DType.S64)
_MOST_DEFAULTS = 1 << 20  # weights or biases of a normalization that has none


# -- one operand ----------------------------------------------------------------------------------


def _emit_unary(call: Call, attrs: ops.Unary) -> None:
    x = call.tensor(0)
    require_float(call, x)
    call.require_out(call.info(x).shape, DType.F32)
    call.emit(attrs, x)


def _unary(function: str) -> Converter:
    return lambda call: _emit_unary(call, ops.Unary(function))


for _function in ops.UNARY_FUNCTIONS:
    if _function not in ("elu", "gelu", "gelu_tanh", "leaky_relu"):
        register(TABLE, f"aten::{_function}.out", args=1)(_unary(_function))


@register(TABLE, "aten::round.decimals_out", args=2)
def _round_decimals(call: Call) -> None:
    call.require(call.integer(1) == 0, "rounding to decimals is not supported")
    _emit_unary(call, ops.Unary("round"))


@register(TABLE, "aten::gelu.out", args=2)
def _gelu(call: Call) -> None:
    approximate = call.program.values[call.instruction.args[1]]
    call.require(
        approximate in ("none", "tanh"), f"gelu with approximate={approximate!r} is not supported"
    )
    _emit_unary(call, ops.Unary("gelu" if approximate == "none" else "gelu_tanh"))


@register(TABLE, "aten::leaky_relu.out", args=2)
def _leaky_relu(call: Call) -> None:
    _emit_unary(call, ops.Unary("leaky_relu", alpha=_real(call, 1)))


@register(TABLE, "aten::elu.out", args=4)
def _elu(call: Call) -> None:
    alpha, scale, input_scale = (_real(call, number) for number in (1, 2, 3))
    _emit_unary(call, ops.Unary("elu", alpha=alpha, scale=scale, input_scale=input_scale))


def _real(call: Call, number: int) -> float:
    value = float(call.scalar(number))
    call.require(math.isfinite(value), f"argument {number} is {value}")
    return value


# -- two operands ---------------------------------------------------------------------------------


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


def _scaled(call: Call, index: int, number: int) -> int:
    """Tensor `index` times the Scalar argument `number` (alpha), rounded to its type."""
    if call.scalar(number) == 1:
        return index
    info = call.info(index)
    factor = scalar_operand(call, number, info.dtype)
    result = Tensor("scaled", info.dtype, info.shape, info.dim_order)
    return call.emit_new(ops.Binary("mul"), result, index, factor)


def _sum(function: str, scalar: bool) -> Converter:
    def convert(call: Call) -> None:
        a, b = _operands(call, function, scalar)
        call.emit(ops.Binary(function), a, _scaled(call, b, 2))

    return convert


for _function in ("add", "sub"):
    register(TABLE, f"aten::{_function}.out", args=3)(_sum(_function, scalar=False))
    register(TABLE, f"aten::{_function}.Scalar_out", args=3)(_sum(_function, scalar=True))


@register(TABLE, "aten::rsub.Scalar_out", args=3)
def _rsub(call: Call) -> None:
    x, value = _operands(call, "sub", scalar=True)
    call.emit(ops.Binary("sub"), value, _scaled(call, x, 2))


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
        _emit_unary(call, ops.Unary(functions[exponent]))
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


# -- matrix products and normalization ------------------------------------------------------------


@register(TABLE, "aten::addmm.out", args=5)
def _addmm(call: Call) -> None:
    """beta * bias + alpha * (a @ b): the product with the bias where both factors are 1."""
    bias, a, b = (call.tensor(number) for number in (0, 1, 2))
    require_float(call, bias, a, b)
    left, right = call.info(a).shape, call.info(b).shape
    call.require(
        len(left) == len(right) == 2 and left[1] == right[0],
        f"operands {left} and {right} do not fit",
    )
    shape = (left[0], right[1])
    have = call.info(bias).shape
    fits = len(have) <= 2 and all(
        size in (1, full) for size, full in zip(have[::-1], shape[::-1], strict=False)
    )
    call.require(fits, f"a bias of shape {have} does not fit a result of shape {shape}")
    call.require_out(shape, DType.F32)
    beta, alpha = _real(call, 3), _real(call, 4)
    if beta == 1.0 and alpha == 1.0:
        call.emit(ops.FloatMatmul(), a, b, bias)
        return
    full = Tensor("product", DType.F32, shape, (0, 1))
    product = _scaled(call, call.emit_new(ops.FloatMatmul(), full, a, b), 4)
    call.emit(ops.Binary("add"), product, _scaled(call, bias, 3))


def _affine(call: Call, number: int, shape: tuple[int, ...], default: float) -> int:
    """A weight or bias of `shape`, or a constant where it is absent."""
    index = call.optional(number)
    if index is None:
        name = "ones" if default else "zeros"
        call.require(math.prod(shape) <= _MOST_DEFAULTS, "normalizes too many elements at a time")
        return call.add_constant(name, np.full(shape, default, np.float32))
    require_float(call, index)
    call.require(call.info(index).shape == shape, f"argument {number} must have shape {shape}")
    return index


_STATISTICS = "the statistics of a normalization are used, but only its result is supported"


@register(TABLE, "aten::native_layer_norm.out", args=5, outs=3)
def _layer_norm(call: Call) -> None:
    x = call.tensor(0)
    require_float(call, x)
    shape, rows = call.info(x).shape, call.integers(1)
    call.require(
        bool(rows) and shape[-len(rows) :] == rows, f"{rows} are not the last extents of {shape}"
    )
    weight, bias = _affine(call, 2, rows, 1.0), _affine(call, 3, rows, 0.0)
    call.require_out(shape, DType.F32)
    call.emit_first(ops.FloatLayerNorm(math.prod(rows), call.real(4)), x, weight, bias)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)


@register(TABLE, "aten::native_group_norm.out", args=8, outs=3)
def _group_norm(call: Call) -> None:
    x = call.tensor(0)
    require_float(call, x)
    shape, groups = call.info(x).shape, call.integer(6, (1, 2**31 - 1))
    call.require(
        len(shape) >= 2 and shape[1] % groups == 0, f"{shape} cannot be split in {groups} groups"
    )
    weight, bias = _affine(call, 1, shape[1:2], 1.0), _affine(call, 2, shape[1:2], 0.0)
    call.require_out(shape, DType.F32)
    call.emit_first(ops.FloatGroupNorm(groups, call.real(7)), x, weight, bias)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)


@register(TABLE, "aten::_native_batch_norm_legit_no_training.out", args=7, outs=3)
def _batch_norm(call: Call) -> None:
    """(x - mean) * (weight / sqrt(variance + epsilon)) + bias, with the factor made here."""
    x = call.tensor(0)
    require_float(call, x)
    info = call.info(x)
    call.require(len(info.shape) >= 2, "the operand must have channels")
    mean, variance = (
        call.constant_data(number).astype(np.float32).reshape(-1) for number in (3, 4)
    )
    channels = info.shape[1]
    call.require(mean.size == variance.size == channels, "the statistics do not fit the channels")
    weight = np.ones(channels, np.float32) if call.is_none(1) else call.constant_data(1).reshape(-1)
    call.require(weight.size == channels, "the weights do not fit the channels")
    call.require_out(info.shape, DType.F32)
    per_channel = (channels, *(1,) * (len(info.shape) - 2))
    with np.errstate(all="ignore"):
        root = np.sqrt(variance + np.float32(call.real(6)))
        factor = (weight * (np.float32(1.0) / root)).astype(np.float32)
    like = Tensor("normalized", DType.F32, info.shape, info.dim_order)
    shift = call.add_constant("mean", mean.reshape(per_channel))
    scale = call.add_constant("factor", factor.reshape(per_channel))
    centred = call.emit_new(ops.Binary("sub"), like, x, shift)
    product = ops.Binary("mul")
    if call.is_none(2):
        call.emit_first(product, centred, scale)
    else:
        bias = call.constant_data(2).reshape(-1)
        call.require(bias.size == channels, "the bias does not fit the channels")
        scaled = call.emit_new(product, like, centred, scale)
        added = call.add_constant("bias", bias.reshape(per_channel))
        call.emit_first(ops.Binary("add"), scaled, added)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)
