# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir import DType, Op, Tensor, ops
from ...ir.geometry import Window
from ..kernels.forms import FORMS, Weights
from ..kernels.packing import Constants
from ..kernels.params import rescale_fields, wide_fields, zero_point_fields
from ..kernels.table import KernelChoice
from ..types import Arg, Call, ConstantArg, Field, TensorArg
from .context import Selector, lowers
from .images import window_fields
from .weights import (
    constant_data,
    fits_in_32_bits,
    folded_bias,
    largest_start,
    largest_sum,
    needed_biases,
    needed_bytes,
    table_fields,
    types_of,
    wide_bias,
)


def _layer(select: Selector, attrs: ops.Linear, op: Op) -> tuple[Constants, int, int]:
    """The constants of a linear layer, a bound of |accumulator|, and `largest_start`."""
    weight = constant_data(select, op.inputs[1], op, "weights")
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    values = weight.astype(np.int64) - attrs.weight_zero_point
    channels = weight.shape[0]
    rescales = attrs.rescales * (channels // len(attrs.rescales))
    if select.tensor(op.inputs[0]).dtype is DType.S16:
        total = wide_bias(bias, channels)
        bound = largest_sum(np.abs(values).sum(axis=1), total, 1 << 15)
        if fits_in_32_bits(bound):
            total = total.astype(np.int32)
        return Constants(weight, total, rescales, wide=True), bound, largest_start(weight)
    folded = folded_bias(values.sum(axis=1), bias, attrs.in_zero_point)
    constants = Constants(weight, folded, rescales, plain_bias=folded)
    return constants, largest_sum(np.abs(values).sum(axis=1), folded), 0


def _is_image(
    select: Selector, attrs: ops.Linear, x: Tensor, rows: int, in_features: int, out_features: int
) -> bool:
    """Whether the rows can be taken for the pixels of an image and the layer for its 1x1 convolution."""
    return (
        select.choice is not KernelChoice.CMSIS_NN
        and x.dtype is DType.S8
        and attrs.weight_zero_point == 0
        and max(rows, in_features, out_features) < 1 << 16
    )


def _pixels(fields: dict[str, Field]) -> dict[str, Field]:
    """The fields of a convolution from those of a linear layer."""
    rows, in_features, out_features = (
        fields[name] for name in ("rows", "in_features", "out_features")
    )
    assert isinstance(rows, int) and isinstance(in_features, int)
    kept = ("in_zero_point", "out_zero_point", "act_min", "act_max")
    return {
        "in_h": 1,
        "in_w": rows,
        "out_h": 1,
        "out_w": rows,
        "in_row_stride": rows * in_features,
        "out_pixel_stride": out_features,
        "in_y0": 0,
        "in_x0": 0,
        "in_c": in_features,
        "out_c": out_features,
        **window_fields(Window((1, 1), (1, 1), (0, 0, 0, 0), (1, 1))),
        "groups": 1,
        **{name: fields.get(name, 0) for name in kept},
    }


@lowers(ops.Linear)
def _linear(select: Selector, attrs: ops.Linear, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    constants, bound, start = select.once(lambda: _layer(select, attrs, op))
    label = op.layer.path or op.kind
    out_features, in_features = constants.weight.shape
    rows = x.numel // in_features
    fields: dict[str, Field] = {
        "rows": rows,
        "in_features": in_features,
        "out_features": out_features,
        **zero_point_fields(
            x, weight_zero_point=attrs.weight_zero_point, out_zero_point=attrs.out_zero_point
        ),
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    facts = {
        **fields,
        "rescales": attrs.rescales,
        "largest_sum": bound,
        "largest_plain_sum": bound,
        "largest_start": start,
        "largest_bias": int(np.abs(constants.bias.astype(np.int64)).max(initial=0)),
        "least_weight": int(constants.weight.min(initial=0)),
    }
    is_wide = x.dtype is DType.S16 and not fits_in_32_bits(bound)
    types = types_of(x.dtype, constants.weight, out_features)
    if _is_image(select, attrs, x, rows, in_features, out_features) and select.pick((True, False)):
        fields = _pixels(fields)
        constants = replace(constants, weight=constants.weight[:, None, None])
        kernel = select.kernel("conv2d", types, op, facts | fields)
    else:
        kernel = select.kernel("linear_wide" if is_wide else "linear", types, op, facts)
    packed = FORMS[kernel.pack].tables(constants)
    named = table_fields(select, packed, label, out_features)
    needed = needed_biases(constants, packed, out_features)
    args: list[Arg] = [
        select.operand(op.inputs[0]),
        select.constant(
            "w_" + label,
            Weights(kernel.pack, constants),
            "x".join(map(str, constants.weight.shape)),
            needed=needed_bytes(kernel, constants.weight),
        ),
        select.constant("b_" + label, packed.bias, needed=needed),
        TensorArg(op.outputs[0]),
        select.scratch(kernel, fields),
    ]
    macs = rows * in_features * out_features
    return [select.call(kernel, named | fields, args, macs)]


def _steps(own: ops.Matrices) -> tuple[int, ...]:
    """The strides of a kernel's operand, that of columns last; where there is one step only those of
    matrices one after the other."""
    _, each, rows, cols = own.shape
    dense = (each * rows * cols, rows * cols, cols, 1)
    return tuple(
        stride if extent > 1 else usual
        for extent, stride, usual in zip(own.shape, own.strides, dense, strict=True)
    )


@lowers(ops.BatchMatmul)
def _batch_matmul(select: Selector, attrs: ops.BatchMatmul, op: Op) -> list[Call]:
    dtype = select.tensor(op.inputs[0]).dtype
    placed = attrs.placed(*(select.tensor(index) for index in op.inputs))
    assert placed is not None
    lhs, rhs, made = placed
    groups, batches, rows, inner = lhs.shape
    cols = rhs.shape[2]
    fields: dict[str, Field] = {
        "groups": groups,
        "batches": batches,
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "lhs_strides": _steps(lhs)[:3],
        "rhs_strides": _steps(rhs),
        "out_strides": _steps(made)[:3],
        **(rescale_fields(attrs.rescale) if dtype is DType.S8 else wide_fields(attrs.rescale)),
        **zero_point_fields(
            select.tensor(op.inputs[0]),
            lhs_zero_point=attrs.lhs_zero_point,
            rhs_zero_point=attrs.rhs_zero_point,
            out_zero_point=attrs.out_zero_point,
        ),
    }
    kernel = select.kernel("batch_matmul", dtype.value, op, fields)
    args: list[Arg] = []
    for index, each in zip(op.inputs, placed, strict=False):
        arg = select.operand(index)
        assert isinstance(arg, (TensorArg, ConstantArg))
        args.append(replace(arg, offset=each.offset * dtype.size))
    args += [TensorArg(op.outputs[0]), select.scratch(kernel, fields)]
    macs = groups * batches * rows * cols * inner
    return [select.call(kernel, fields, args, macs)]
