# SPDX-License-Identifier: Apache-2.0
"""Float32 layers: convolutions, matrix products, pools, softmax, normalizations.

Image kernels take the strides of whatever layout their operands have; the others take C order.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import CortexMError
from ...ir import Op, Tensor, ops
from ..types import Arg, Call, Field, TensorArg
from .broadcast import broadcast_strides
from .context import Selector, lowers
from .data import strides


def _zero(select: Selector) -> Arg:
    """What sums without a bias begin with."""
    return select.constant("zero", np.zeros(1, np.float32), needed=0)


def _image_fields(x: Tensor, out: Tensor) -> dict[str, Field]:
    return {
        "in_h": x.shape[2],
        "in_w": x.shape[3],
        "out_h": out.shape[2],
        "out_w": out.shape[3],
        "in_strides": strides(x),
        "out_strides": strides(out),
    }


@lowers(ops.FloatConv2d, ops.FloatTransposeConv2d)
def _convolution(
    select: Selector, attrs: ops.FloatConv2d | ops.FloatTransposeConv2d, op: Op
) -> list[Call]:
    x, weight, out = (select.tensor(i) for i in (op.inputs[0], op.inputs[1], op.outputs[0]))
    transposed = isinstance(attrs, ops.FloatTransposeConv2d)
    has_bias = len(op.inputs) > 2
    fields = _image_fields(x, out) | {
        "batches": x.shape[0],
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        "groups": attrs.groups,
        "kernel_h": weight.shape[2],
        "kernel_w": weight.shape[3],
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "dilation_h": attrs.dilation[0],
        "dilation_w": attrs.dilation[1],
        "pad_top": attrs.padding[0],
        "pad_left": attrs.padding[1],
        "bias_stride": int(has_bias),
    }
    args: list[Arg] = [
        select.operand(op.inputs[0]),
        select.operand(op.inputs[1]),
        select.operand(op.inputs[2]) if has_bias else _zero(select),
        TensorArg(op.outputs[0]),
    ]
    taps = math.prod(weight.shape[1:])
    macs = (x.numel if transposed else out.numel) * taps
    name = "transpose_conv2d" if transposed else "conv2d"
    return [select.call(select.kernel(name, "f32", op), fields, args, macs)]


@lowers(ops.FloatLinear)
def _linear(select: Selector, attrs: ops.FloatLinear, op: Op) -> list[Call]:
    """Rows of x times the rows of the weights."""
    x, weight = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    cols, inner = weight.shape
    rows = x.numel // inner
    has_bias = len(op.inputs) > 2
    fields: dict[str, Field] = {
        "batches": 1,
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "a_row_stride": inner,
        "a_inner_stride": 1,
        "b_inner_stride": strides(weight)[1],
        "b_col_stride": strides(weight)[0],
        "bias_col_stride": int(has_bias),
    }
    return _matmul_call(select, op, fields, has_bias, rows * cols * inner)


@lowers(ops.FloatMatmul)
def _matmul(select: Selector, attrs: ops.FloatMatmul, op: Op) -> list[Call]:
    a, b = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    out = select.tensor(op.outputs[0])
    rows, inner = a.shape[-2:]
    cols = b.shape[-1]
    batches = out.numel // (rows * cols)
    fields: dict[str, Field] = {
        "batches": batches,
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "a_batch_stride": rows * inner,
        "a_row_stride": inner,
        "a_inner_stride": 1,
        "b_batch_stride": inner * cols,
        "b_inner_stride": strides(b)[-2],
        "b_col_stride": strides(b)[-1],
    }
    has_bias = len(op.inputs) > 2
    if has_bias:
        step = broadcast_strides(select.tensor(op.inputs[2]), out)
        if any(step[:-2]):
            raise CortexMError(f"{op.kind}: the bias differs between matrices", where=str(op.layer))
        fields |= {"bias_row_stride": step[-2], "bias_col_stride": step[-1]}
    return _matmul_call(select, op, fields, has_bias, batches * rows * cols * inner)


def _matmul_call(
    select: Selector, op: Op, fields: dict[str, Field], has_bias: bool, macs: int
) -> list[Call]:
    args: list[Arg] = [
        select.operand(op.inputs[0]),
        select.operand(op.inputs[1]),
        select.operand(op.inputs[2]) if has_bias else _zero(select),
        TensorArg(op.outputs[0]),
    ]
    return [select.call(select.kernel("matmul", "f32", op), fields, args, macs)]


@lowers(ops.FloatSoftmax)
def _softmax(select: Selector, attrs: ops.FloatSoftmax, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    if not x.shape:
        outer, size, inner = 1, 1, 1
    else:
        place = x.dim_order.index(attrs.dim)
        outer = math.prod(x.memory_shape[:place])
        size = x.shape[attrs.dim]
        inner = math.prod(x.memory_shape[place + 1 :])
    fields: dict[str, Field] = {"outer": outer, "size": size, "inner": inner}
    kernel = select.kernel("log_softmax" if attrs.log else "softmax", "f32", op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.FloatAvgPool2d, ops.FloatMaxPool2d)
def _pool(select: Selector, attrs: ops.FloatAvgPool2d | ops.FloatMaxPool2d, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields = _image_fields(x, out) | {
        "batches": x.shape[0],
        "channels": x.shape[1],
        "kernel_h": attrs.kernel[0],
        "kernel_w": attrs.kernel[1],
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "pad_top": attrs.padding[0],
        "pad_left": attrs.padding[1],
    }
    if isinstance(attrs, ops.FloatMaxPool2d):
        name = "max_pool2d"
        fields |= {"dilation_h": attrs.dilation[0], "dilation_w": attrs.dilation[1]}
    else:
        name = "avg_pool2d"
        counts = attrs.declared_padding if attrs.count_padding else (0, 0)
        fields |= {
            "dilation_h": 1,
            "dilation_w": 1,
            "count_pad_h": counts[0],
            "count_pad_w": counts[1],
            "divisor": attrs.divisor or 0,
        }
    kernel = select.kernel(name, "f32", op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.FloatLayerNorm)
def _layer_norm(select: Selector, attrs: ops.FloatLayerNorm, op: Op) -> list[Call]:
    rows = select.tensor(op.inputs[0]).numel // attrs.size
    fields: dict[str, Field] = {"batches": rows, "groups": 1, "channels": attrs.size, "pixels": 1}
    for name in ("in", "out"):
        fields |= {
            f"{name}_batch_stride": attrs.size,
            f"{name}_channel_stride": 1,
            f"{name}_pixel_stride": 1,
        }
    return _norm_call(select, op, fields, attrs.epsilon)


@lowers(ops.FloatGroupNorm)
def _group_norm(select: Selector, attrs: ops.FloatGroupNorm, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields: dict[str, Field] = {
        "batches": x.shape[0],
        "groups": attrs.groups,
        "channels": x.shape[1] // attrs.groups,
        "pixels": math.prod(x.shape[2:]),
    }
    for name, tensor in (("in", x), ("out", out)):
        step = strides(tensor)
        # The pixels of a channel are evenly spaced; dimensions of one element have no spacing.
        pixels = (a for a, size in zip(step[2:], tensor.shape[2:], strict=True) if size > 1)
        fields |= {
            f"{name}_batch_stride": step[0],
            f"{name}_channel_stride": step[1],
            f"{name}_pixel_stride": min(pixels, default=1),
        }
    return _norm_call(select, op, fields, attrs.epsilon)


def _norm_call(select: Selector, op: Op, fields: dict[str, Field], epsilon: float) -> list[Call]:
    args = [select.operand(i) for i in op.inputs]
    kernel = select.kernel("group_norm", "f32", op)
    return [select.call(kernel, fields | {"epsilon": epsilon}, [*args, TensorArg(op.outputs[0])])]
