# SPDX-License-Identifier: Apache-2.0
"""Normalizations: of codes; portable, of float32."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.types import DType, Tensor
from ..call import INT64, Call, reads
from ..operands import LIMITS, require_float

_MOST_DEFAULTS = 1 << 20  # weights or biases of a normalization that has none

_STATISTICS = "the statistics of a normalization are used, but only its result is supported"


def _affine(call: Call, name: str, shape: tuple[int, ...], default: float) -> int:
    """A weight or bias of `shape`, or a constant where it is absent."""
    index = call.optional(name)
    if index is None:
        kind = "ones" if default else "zeros"
        call.require(math.prod(shape) <= _MOST_DEFAULTS, "normalizes too many elements at a time")
        return call.add_constant(kind, np.full(shape, default, np.float32))
    require_float(call, index)
    call.require(call.info(index).shape == shape, f"argument {name!r} must have shape {shape}")
    return index


@reads("cortexm::layer_norm.out")
def _layer_norm_of_codes(call: Call) -> None:
    attrs = ops.LayerNorm(
        size=call.integer("size"),
        centred=call.boolean("centred"),
        in_zero_point=call.integer("input_zero_point"),
        epsilon=call.integer("epsilon", INT64),
        shift=call.integer("shift"),
    )
    _of_codes(call, attrs, attrs.size)


@reads("cortexm::group_norm.out")
def _group_norm_of_codes(call: Call) -> None:
    shape = call.info(call.tensor("input")).shape
    call.require(len(shape) >= 2, "the operand must have channels")
    attrs = ops.GroupNorm(
        groups=call.integer("groups"),
        epsilon=call.integer("epsilon", INT64),
        shift=call.integer("shift"),
    )
    _of_codes(call, attrs, shape[1])


def _of_codes(call: Call, attrs: ops.LayerNorm | ops.GroupNorm, count: int) -> None:
    x, factor, offset = call.tensor("input"), call.constant("factor"), call.constant("offset")
    dtype = call.info(x).dtype
    call.require_dtype(x, *LIMITS)
    for index in (factor, offset):
        call.require_dtype(index, DType.S32)
        call.require(call.info(index).shape == (count,), f"factors and offsets must be {count}")
    call.require_out(call.info(x).shape, dtype)
    call.emit(attrs, x, factor, offset)


@reads("aten::native_layer_norm.out")
def _layer_norm(call: Call) -> None:
    x = call.tensor("input")
    require_float(call, x)
    shape, rows = call.info(x).shape, call.integers("normalized_shape")
    call.require(
        bool(rows) and shape[-len(rows) :] == rows, f"{rows} are not the last extents of {shape}"
    )
    weight, bias = _affine(call, "weight", rows, 1.0), _affine(call, "bias", rows, 0.0)
    call.require_out(shape, DType.F32)
    call.emit_first(ops.FloatLayerNorm(math.prod(rows), call.real("eps")), x, weight, bias)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)


@reads("aten::native_group_norm.out")
def _group_norm(call: Call) -> None:
    x = call.tensor("input")
    require_float(call, x)
    shape, groups = call.info(x).shape, call.integer("group", (1, 2**31 - 1))
    call.require(
        len(shape) >= 2 and shape[1] % groups == 0, f"{shape} cannot be split in {groups} groups"
    )
    weight, bias = (
        _affine(call, name, shape[1:2], default)
        for name, default in (("weight", 1.0), ("bias", 0.0))
    )
    call.require_out(shape, DType.F32)
    call.emit_first(ops.FloatGroupNorm(groups, call.real("eps")), x, weight, bias)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)


@reads("aten::_native_batch_norm_legit_no_training.out")
def _batch_norm(call: Call) -> None:
    """(x - mean) * (weight / sqrt(variance + epsilon)) + bias, with the factor made here."""
    x = call.tensor("input")
    require_float(call, x)
    info = call.info(x)
    call.require(len(info.shape) >= 2, "the operand must have channels")
    mean, variance = (
        call.constant_data(name).astype(np.float32).reshape(-1)
        for name in ("running_mean", "running_var")
    )
    channels = info.shape[1]
    call.require(mean.size == variance.size == channels, "the statistics do not fit the channels")
    weight = (
        np.ones(channels, np.float32)
        if call.is_none("weight")
        else call.constant_data("weight").reshape(-1)
    )
    call.require(weight.size == channels, "the weights do not fit the channels")
    call.require_out(info.shape, DType.F32)
    per_channel = (channels, *(1,) * (len(info.shape) - 2))
    with np.errstate(all="ignore"):
        root = np.sqrt(variance + np.float32(call.real("eps")))
        factor = (weight * (np.float32(1.0) / root)).astype(np.float32)
    like = Tensor("normalized", DType.F32, info.shape, info.dim_order)
    shift = call.add_constant("mean", mean.reshape(per_channel))
    scale = call.add_constant("factor", factor.reshape(per_channel))
    centred = call.emit_new(ops.Binary("sub"), like, x, shift)
    product = ops.Binary("mul")
    if call.is_none("bias"):
        call.emit_first(product, centred, scale)
    else:
        bias = call.constant_data("bias").reshape(-1)
        call.require(bias.size == channels, "the bias does not fit the channels")
        scaled = call.emit_new(product, like, centred, scale)
        added = call.add_constant("bias", bias.reshape(per_channel))
        call.emit_first(ops.Binary("add"), scaled, added)
    call.drop_result(1, _STATISTICS)
    call.drop_result(2, _STATISTICS)
