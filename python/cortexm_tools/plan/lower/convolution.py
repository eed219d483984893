# SPDX-License-Identifier: Apache-2.0
"""conv2d, depthwise_conv2d, transpose_conv2d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import CortexMError
from ...ir import Array, Op, ops
from ...ir.arithmetic import wrap32
from ..kernels.packing import PACKERS, Constants
from ..kernels.table import Kernel
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .context import Selector, lowers


def image_fields(select: Selector, op: Op) -> dict[str, Field]:
    """Extents and strides of one channels_last image operator on one whole image."""
    _, in_c, in_h, in_w = select.tensor(op.inputs[0]).shape
    _, out_c, out_h, out_w = select.tensor(op.outputs[0]).shape
    return {
        "in_h": in_h,
        "in_w": in_w,
        "out_h": out_h,
        "out_w": out_w,
        "in_row_stride": in_w * in_c,
        "out_pixel_stride": out_c,
    }


def image_calls(
    select: Selector,
    op: Op,
    kernel: Kernel,
    fields: dict[str, Field],
    constants: Sequence[Arg],
    scratch: ScratchArg,
    macs: int = 0,
) -> list[Call]:
    """One call, in a loop over the images if there are several.

    Args:
        constants: the arguments between input and output.
        macs: multiply-accumulates of the whole operator.
    """
    batches = select.tensor(op.inputs[0]).shape[0]

    def image(index: int) -> TensorArg:
        size = select.tensor(index).nbytes // batches
        return TensorArg(index, step=size if batches > 1 else 0)

    args = [image(op.inputs[0]), *constants, image(op.outputs[0]), scratch]
    return [replace(select.call(kernel, fields, args, macs), turns=batches)]


def folded_bias(weight_sums: Array, bias: Array | None, in_zero_point: int) -> Array:
    """bias - in_zero_point * (sum of the channel's weights), wrapped to int32."""
    folded = -np.int64(in_zero_point) * weight_sums.astype(np.int64)
    if bias is not None:
        folded = folded + bias.astype(np.int64).reshape(-1)
    return wrap32(folded).astype(np.int32)


def largest_sum(weight_sizes: Array, bias: Array) -> int:
    """A bound of |accumulator| from the sums of a channel's |weights| and its folded bias."""
    sums = 128 * weight_sizes.astype(np.int64) + np.abs(bias.astype(np.int64))
    return int(sums.max(initial=0))


def largest_plain_sum(weight_sizes: Array, bias: Array) -> int:
    """The same where the zero point is subtracted from every code, which it may be 255 away from."""
    sums = 255 * weight_sizes.astype(np.int64) + np.abs(bias.astype(np.int64))
    return int(sums.max(initial=0))


def constant_data(select: Selector, index: int, op: Op, what: str) -> Array:
    data = select.tensor(index).data
    if data is None:
        raise CortexMError(
            f"{op.kind}: {what} must be constant, here they are computed", where=str(op.layer)
        )
    return data


@lowers(ops.Conv2d, ops.DepthwiseConv2d, ops.TransposeConv2d)
def _convolution(select: Selector, attrs: ops.ConvAttrs, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    weight = constant_data(select, op.inputs[1], op, "weights")
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    depthwise = isinstance(attrs, ops.DepthwiseConv2d)
    kernel_h, kernel_w = weight.shape[1], weight.shape[2]
    sums = weight.astype(np.int64).sum(axis=(0, 1, 2) if depthwise else (1, 2, 3))
    out_c = out.shape[1]
    taps = weight.size // out_c
    positions = (
        out.numel if not isinstance(attrs, ops.TransposeConv2d) else x.numel // x.shape[1] * out_c
    )
    label = op.layer.path or op.kind
    fields = image_fields(select, op)
    fields |= {
        "in_y0": -attrs.padding[0],
        "in_x0": -attrs.padding[1],
        "in_c": x.shape[1],
        "out_c": out_c,
        "kernel_h": kernel_h,
        "kernel_w": kernel_w,
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "dilation_h": attrs.dilation[0],
        "dilation_w": attrs.dilation[1],
        "groups": attrs.groups if isinstance(attrs, ops.Conv2d) else 1,
        "in_zero_point": attrs.in_zero_point,
        "out_zero_point": attrs.out_zero_point,
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    kind = op.kind
    shape = "x".join(map(str, weight.shape))
    if depthwise and x.shape[1] == 1:
        # One input channel for all outputs: a plain convolution, which has the faster kernels.
        kind, weight = "conv2d", weight.reshape(-1, out_c).T.reshape(out_c, kernel_h, kernel_w, 1)
    folded = folded_bias(sums, bias, attrs.in_zero_point)
    sizes = np.abs(weight.astype(np.int64)).sum(
        axis=(0, 1, 2) if weight.shape[0] == 1 and kind == "depthwise_conv2d" else (1, 2, 3)
    )
    plain = folded_bias(sums, bias, 0)
    facts = {
        **fields,
        "shifts": attrs.shifts,
        "largest_sum": largest_sum(sizes, folded),
        "largest_plain_sum": largest_plain_sum(sizes, plain),
    }
    kernel = select.kernel(kind, "s8", op, facts)
    constants = PACKERS[kernel.pack](
        Constants(
            weight,
            folded,
            np.array(attrs.multipliers, np.int32),
            np.array(attrs.shifts, np.int8),
            attrs.groups if isinstance(attrs, ops.Conv2d) else 1,
            plain,
            attrs.stride,
            attrs.in_zero_point,
        )
    )
    tables = {"multiplier": constants.multiplier, "shift": constants.shift}
    named: dict[str, Field] = {
        name: select.constant(f"{name[0]}_{label}", table, needed=out_c * table.itemsize).name
        for name, table in tables.items()
        if table.size
    }
    return image_calls(
        select,
        op,
        kernel,
        named | fields,
        [
            select.constant("w_" + label, constants.weight, shape, needed=weight.nbytes),
            select.constant("b_" + label, constants.bias, needed=folded.nbytes),
        ],
        select.scratch(kernel, fields),
        positions * taps,
    )
