# SPDX-License-Identifier: Apache-2.0
"""Portable layers: float32 convolution, linear, matrix product, softmax; pools."""

from __future__ import annotations

from ...advice import advice_on
from ...ir import ops
from ...ir.types import DType, Tensor, contiguous
from ..call import INT8, Call, Table, register
from .arithmetic import require_float
from .windows import Images, same_batch, window_padding

TABLE: Table = {}


def _images(call: Call, x: int, *dtypes: DType, rows: bool = False) -> Images:
    """Operand and result of rank 4, of one of these types.

    With `rows`, of rank 3 too: [N, C, W] is seen as images of one row.
    """
    out, shape = call.out_tensor(), call.info(x).shape
    call.require(
        len(shape) == len(out.shape) and (len(shape) == 4 or (rows and len(shape) == 3)),
        f"only images [N, C, H, W] are supported, not rank {len(shape)}",
        advice_on("torch.nn.Conv3d"),
    )
    call.require_dtype(x, *dtypes)
    call.require(out.dtype is call.info(x).dtype, "operand and result differ in type")
    if len(shape) == 3:
        seen = (*shape[:2], 1, shape[2])
        x = call.emit_new(ops.View(), Tensor("row", out.dtype, seen, contiguous(4)), x)
        return Images(call, x, seen, (*out.shape[:2], 1, out.shape[2]), False, is_row=True)
    return Images(call, x, shape, out.shape, is_nhwc=False)


def _pair(call: Call, number: int, images: Images, along_height: int) -> tuple[int, int]:
    """An int[2] argument (height, width), at least `along_height`; of rows, an int[1] of widths."""
    pair = call.pair(number, minimum=along_height)
    return (along_height, pair[1]) if images.is_row else pair


def _bias(call: Call, number: int, length: int) -> int | None:
    bias = call.optional(number)
    if bias is not None:
        require_float(call, bias)
        call.require(call.info(bias).shape == (length,), f"the bias must have {length} elements")
    return bias


@register(TABLE, "aten::convolution.out", args=9)
def _convolution(call: Call) -> None:
    x = call.tensor(0)
    images = _images(call, x, DType.F32, rows=True)
    weight = call.constant(1)
    require_float(call, x, weight)
    shape = call.info(weight).shape
    if images.is_row and len(shape) == 3:
        shape = (*shape[:2], 1, shape[2])
        weight = call.add_constant("weight", call.constant_data(1).reshape(shape))
    call.require(len(shape) == 4, "the weights do not have the rank of the operand")
    stride, padding = _pair(call, 3, images, 1), _pair(call, 4, images, 0)
    dilation, groups = _pair(call, 5, images, 1), call.integer(8, (1, 2**31 - 1))
    kernel, channels = (shape[2], shape[3]), images.x_shape[1]
    if call.boolean(6):
        out_c = shape[1] * groups
        call.require(
            shape[0] == channels and channels % groups == 0, "the weights do not fit the channels"
        )
        same_batch(call, images, out_c)
        extra = _pair(call, 7, images, 0)
        for axis in (0, 1):
            reach = dilation[axis] * (kernel[axis] - 1) + 1
            full = (images.x_shape[2 + axis] - 1) * stride[axis] + reach
            size, have = full - 2 * padding[axis] + extra[axis], images.out_shape[2 + axis]
            call.require(have == size, f"the result has size {have}, the operands give {size}")
        attrs: ops.Attrs = ops.FloatTransposeConv2d(stride, padding * 2, dilation, groups)
    else:
        out_c = shape[0]
        call.require(
            shape[1] * groups == channels and out_c % groups == 0,
            "the weights do not fit the channels",
        )
        same_batch(call, images, out_c)
        around = window_padding(call, images, kernel, stride, padding, dilation)
        attrs = ops.FloatConv2d(stride, around, dilation, groups)
    images.emit(attrs, weight, _bias(call, 2, out_c))


@register(TABLE, "aten::linear.out", args=3)
def _linear(call: Call) -> None:
    x, weight = call.tensor(0), call.tensor(1)
    require_float(call, x, weight)
    a, w = call.info(x).shape, call.info(weight).shape
    call.require(len(w) == 2 and a[-1:] == w[1:], f"input {a} and weights {w} do not fit")
    call.require_out((*a[:-1], w[0]), DType.F32)
    call.emit(ops.FloatLinear(), x, weight, _bias(call, 2, w[0]))


def _matmul(call: Call) -> None:
    a, b = call.tensor(0), call.tensor(1)
    require_float(call, a, b)
    left, right = call.info(a).shape, call.info(b).shape
    call.require(
        len(left) == len(right) >= 2 and left[:-2] == right[:-2] and left[-1] == right[-2],
        f"operands {left} and {right} do not fit",
    )
    call.require_out((*left[:-1], right[-1]), DType.F32)
    call.emit(ops.FloatMatmul(), a, b)


register(TABLE, "aten::bmm.out", args=2)(_matmul)
register(TABLE, "aten::mm.out", args=2)(_matmul)


def _softmax(call: Call, log: bool) -> None:
    x = call.tensor(0)
    require_float(call, x)
    shape = call.info(x).shape
    call.require_out(shape, DType.F32)
    call.require(not call.boolean(2), "half precision is not supported")
    call.emit(ops.FloatSoftmax(call.dim(1, len(shape)), log), x)


@register(TABLE, "aten::_softmax.out", args=3)
def _plain_softmax(call: Call) -> None:
    _softmax(call, log=False)


@register(TABLE, "aten::_log_softmax.out", args=3)
def _log_softmax(call: Call) -> None:
    _softmax(call, log=True)


@register(TABLE, "aten::avg_pool2d.out", args=7)
def _avg_pool2d(call: Call) -> None:
    x = call.tensor(0)
    require_float(call, x)
    images = _images(call, x, DType.F32)
    same_batch(call, images, images.x_shape[1])
    kernel = call.pair(1, minimum=1)
    stride = call.pair(2, minimum=1) if call.integers(2) else kernel
    padding = call.pair(3, minimum=0)
    attrs = ops.FloatAvgPool2d(
        kernel,
        stride,
        window_padding(call, images, kernel, stride, padding, (1, 1)),
        declared_padding=padding,
        count_padding=call.boolean(5),
        divisor=None if call.is_none(6) else call.integer(6, (1, 2**31 - 1)),
    )
    images.emit(attrs)


@register(TABLE, "aten::max_pool2d_with_indices.out", args=6, outs=2)
def _max_pool2d(call: Call) -> None:
    x = call.tensor(0)
    images = _images(call, x, DType.F32, DType.S8)
    same_batch(call, images, images.x_shape[1])
    kernel = call.pair(1, minimum=1)
    stride = call.pair(2, minimum=1) if call.integers(2) else kernel
    dilation = call.pair(4, minimum=1)
    padding = window_padding(call, images, kernel, stride, call.pair(3, minimum=0), dilation)
    attrs: ops.Attrs
    if call.info(x).dtype is DType.S8:
        attrs = ops.MaxPool2d(kernel, stride, padding, dilation, *INT8)
    else:
        attrs = ops.FloatMaxPool2d(kernel, stride, padding, dilation)
    call.emit_first(attrs, x)
    call.drop_result(1, "the indices of a max pool are used, but only its values are supported")
