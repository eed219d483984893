# SPDX-License-Identifier: Apache-2.0
"""What holds for the float operators of a sound graph (see checks.check_graph)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import ops_more as more
from .ops import Attrs
from .types import DType, Tensor

Require = Callable[[bool, str], None]
_FLOAT = (
    *(more.Unary, more.FloatConv2d, more.FloatTransposeConv2d, more.FloatLinear),
    *(more.FloatMatmul, more.FloatSoftmax, more.FloatAvgPool2d, more.FloatMaxPool2d),
    *(more.FloatLayerNorm, more.FloatGroupNorm),
)


def check_float_op(
    attrs: Attrs, ins: Sequence[Tensor], outs: Sequence[Tensor], require: Require
) -> None:
    """Calls `require(condition, what)` for every rule of a float operator."""
    out = outs[0]
    if isinstance(attrs, _FLOAT):
        require(all(t.dtype is DType.F32 for t in (*ins, out)), "computes on float32 only")
    if isinstance(attrs, more.Unary):
        require(attrs.function in more.UNARY_FUNCTIONS, f"unknown function {attrs.function!r}")
        require(ins[0].shape == out.shape, "wrong result shape")
    elif isinstance(attrs, more.Binary):
        _check_binary(attrs, ins, out, require)
    elif isinstance(attrs, more.FloatConv2d | more.FloatTransposeConv2d):
        _check_convolution(attrs, ins, out, require)
    elif isinstance(attrs, more.FloatLinear):
        x, weight = ins[0], ins[1]
        require(len(weight.shape) == 2, "weights must be a matrix")
        require(x.shape[-1:] == weight.shape[1:], "widths differ")
        require(out.shape == (*x.shape[:-1], weight.shape[0]), "wrong result shape")
        require(len(ins) < 3 or ins[2].shape == weight.shape[:1], "bad bias")
    elif isinstance(attrs, more.FloatMatmul):
        a, b = ins[0].shape, ins[1].shape
        require(len(a) == len(b) >= 2, "operands must be matrices of one rank")
        require(a[:-2] == b[:-2] and a[-1] == b[-2], "operands do not fit")
        require(out.shape == (*a[:-1], b[-1]), "wrong result shape")
        require(len(ins) < 3 or _broadcasts(ins[2].shape, out.shape), "bad bias")
    elif isinstance(attrs, more.FloatSoftmax):
        require(ins[0].shape == out.shape, "wrong result shape")
        require(0 <= attrs.dim < max(len(out.shape), 1), "works along a missing dimension")
    elif isinstance(attrs, more.FloatAvgPool2d | more.FloatMaxPool2d):
        _check_pool(attrs, ins[0], out, require)
    elif isinstance(attrs, more.FloatLayerNorm):
        require(ins[0].shape == out.shape, "wrong result shape")
        require(attrs.size > 0 and out.numel % attrs.size == 0, "bad row size")
        require(ins[1].numel == ins[2].numel == attrs.size, "bad weight or bias")
    elif isinstance(attrs, more.FloatGroupNorm):
        require(ins[0].shape == out.shape and len(out.shape) >= 2, "wrong result shape")
        require(attrs.groups > 0 and out.shape[1] % attrs.groups == 0, "bad group count")
        require(ins[1].shape == ins[2].shape == out.shape[1:2], "bad weight or bias")


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _check_binary(attrs: more.Binary, ins: Sequence[Tensor], out: Tensor, require: Require) -> None:
    require(attrs.function in more.BINARY_FUNCTIONS, f"unknown function {attrs.function!r}")
    require(all(t.dtype is out.dtype for t in ins), "operands and result differ in type")
    integers = attrs.function in more.INTEGER_FUNCTIONS
    allowed = (DType.F32, DType.S32, DType.S64) if integers else (DType.F32,)
    require(out.dtype in allowed, f"{attrs.function} of {out.dtype.value} is not defined")
    require(len(ins) == 2, "takes two operands")
    require(all(_broadcasts(t.shape, out.shape) for t in ins), "operands do not broadcast")
    if out.dtype is not DType.F32 and attrs.function in more.INTEGER_DIVISIONS:
        divisor = ins[1].data
        require(divisor is not None, "integers are divided by a constant only")
        require(divisor is not None and bool(divisor.all()), "division by zero")


def _check_convolution(
    attrs: more.FloatConv2d | more.FloatTransposeConv2d,
    ins: Sequence[Tensor],
    out: Tensor,
    require: Require,
) -> None:
    x, weight = ins[0], ins[1]
    require(len(x.shape) == len(weight.shape) == len(out.shape) == 4, "rank must be 4")
    require(x.shape[0] == out.shape[0], "batch differs")
    require(attrs.groups >= 1, "bad group count")
    require(all(s >= 1 for s in (*attrs.stride, *attrs.dilation)), "stride below 1")
    if isinstance(attrs, more.FloatConv2d):
        out_c, in_c = weight.shape[0], weight.shape[1] * attrs.groups
    else:
        out_c, in_c = weight.shape[1] * attrs.groups, weight.shape[0]
    require(out.shape[1] == out_c and out_c % attrs.groups == 0, "output channels differ")
    require(x.shape[1] == in_c and in_c % attrs.groups == 0, "input channels differ")
    require(len(ins) < 3 or ins[2].shape == (out_c,), "bad bias")


def _check_pool(
    attrs: more.FloatAvgPool2d | more.FloatMaxPool2d, x: Tensor, out: Tensor, require: Require
) -> None:
    require(len(x.shape) == len(out.shape) == 4, "rank must be 4")
    require(x.shape[:2] == out.shape[:2], "batch or channels differ")
    for axis in (0, 1):
        last = (out.shape[2 + axis] - 1) * attrs.stride[axis] - attrs.padding[axis]
        require(last < x.shape[2 + axis], "a window lies outside the image")
