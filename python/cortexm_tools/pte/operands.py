# SPDX-License-Identifier: Apache-2.0
"""Operands and arguments as several families read them."""

from __future__ import annotations

import math

import numpy as np

from ..ir import ops
from ..ir.types import DType, Tensor, contiguous
from .call import INT8, INT16, Call

OURS = "cortexm::"
"""The library of the dialect's operators on int16 codes (frontend/lower/dialect.py)."""

LIMITS = {DType.S8: INT8, DType.S16: INT16}  # of codes
SIZE = (0, 2**31 - 1)  # of an extent or a stride


def require_float(call: Call, *indices: int) -> None:
    """Operands must be float32."""
    for index in indices:
        dtype = call.info(index).dtype
        call.require(
            dtype not in LIMITS,
            f"{'int8' if dtype is DType.S8 else 'int16'} operands without requantization: the "
            "lowering left this operator unfinished",
            "lower the model again with this project's frontend, or keep the layer in float",
        )
        call.require(dtype is DType.F32, f"an operand is {dtype.value}, must be f32")


def scalar_operand(call: Call, name: str, dtype: DType) -> int:
    """A number as a constant operand of type `dtype`, which must hold it exactly."""
    value = call.scalar(name)
    with np.errstate(all="ignore"):
        data = np.array(value).astype(dtype.numpy)
    exact = dtype is DType.F32 or data.item() == value
    call.require(exact, f"{value} is not a value of type {dtype.value}")
    return call.add_constant("scalar", data)


def finite(call: Call, name: str) -> float:
    """A Scalar argument that is no infinity."""
    value = float(call.scalar(name))
    call.require(math.isfinite(value), f"argument {name!r} is {value}")
    return value


def positive_scale(call: Call, name: str) -> float:
    """A float argument above zero."""
    scale = call.real(name)
    call.require(scale > 0, f"the scale {scale} is not positive")
    return scale


def codes(call: Call) -> DType:
    """The type of codes that an operator of the dialect is about: those of our library are int16."""
    return DType.S16 if call.instruction.operator.startswith(OURS) else DType.S8


def zero_point(call: Call, name: str) -> int:
    """A zero point of such codes; int16 codes are symmetric."""
    return call.integer(name, INT8 if codes(call) is DType.S8 else (0, 0))


def negated_zero_point(call: Call, name: str) -> int:
    """The zero point whose negation is given."""
    return -call.integer(name, (-INT8[1], -INT8[0]) if codes(call) is DType.S8 else (0, 0))


def code_range(call: Call) -> tuple[int, int]:
    """The clamp range of the result's codes."""
    limits = LIMITS[codes(call)]
    act_min, act_max = (call.integer(f"activation_{end}", limits) for end in ("min", "max"))
    call.require(act_min <= act_max, f"empty output range [{act_min}, {act_max}]")
    return act_min, act_max


def int32_vector(call: Call, name: str, length: int) -> tuple[int, ...]:
    """A constant int32 tensor with `length` elements."""
    data = call.constant_data(name)
    call.require(
        data.dtype == np.int32 and data.size == length,
        f"argument {name!r} must hold {length} int32 values",
    )
    return tuple(int(value) for value in data.reshape(-1))


def int32_bias(call: Call, length: int) -> int | None:
    """The int32 bias; an all-zero one is left out."""
    if call.is_none("bias"):
        return None
    data = call.constant_data("bias")
    call.require(
        data.dtype == np.int32 and data.size == length,
        f"the bias must hold {length} int32 values",
    )
    if not data.any():
        return None
    if data.shape == (length,):
        return call.constant("bias")
    return call.add_constant("bias", data.reshape(length))


def float_bias(call: Call, length: int) -> int | None:
    """The float32 bias, if there is one."""
    bias = call.optional("bias")
    if bias is not None:
        require_float(call, bias)
        call.require(call.info(bias).shape == (length,), f"the bias must have {length} elements")
    return bias


def scaled(call: Call, index: int, name: str) -> int:
    """Tensor `index` times a Scalar argument (alpha), rounded to its type."""
    if call.scalar(name) == 1:
        return index
    info = call.info(index)
    factor = scalar_operand(call, name, info.dtype)
    result = Tensor("scaled", info.dtype, info.shape, info.dim_order)
    return call.emit_new(ops.Binary("mul"), result, index, factor)


def like(call: Call, x: int, shape: tuple[int, ...]) -> Tensor:
    """A new contiguous tensor of x's type."""
    info = call.info(x)
    return Tensor("x", info.dtype, shape, contiguous(len(shape)), quant=info.quant)
