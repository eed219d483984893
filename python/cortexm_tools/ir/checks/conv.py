# SPDX-License-Identifier: Apache-2.0
"""Rules of convolutions, int8 and float32."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import INT8, MULTIPLIER, SHIFT, Subject, rule
from .windows import check_extents, check_geometry, reach


@rule(ops.Conv2d)
def _conv2d(attrs: ops.Conv2d, op: Subject) -> None:
    out_c, kernel_h, kernel_w, group_c = _operands(op)
    _int8(attrs, op, out_c)
    op.within((1, out_c), groups=attrs.groups)
    op.require(out_c % attrs.groups == 0, "output channels are no multiple of the groups")
    op.require(group_c * attrs.groups == op.x.shape[1], "input channels differ from the weights'")
    check_extents(attrs, (kernel_h, kernel_w), op)


@rule(ops.DepthwiseConv2d)
def _depthwise_conv2d(attrs: ops.DepthwiseConv2d, op: Subject) -> None:
    one, kernel_h, kernel_w, out_c = _operands(op)
    _int8(attrs, op, out_c)
    op.require(one == 1, "depthwise weights must have shape [1, height, width, channels]")
    op.require(out_c % op.x.shape[1] == 0, "output channels are no multiple of the input's")
    check_extents(attrs, (kernel_h, kernel_w), op)


@rule(ops.TransposeConv2d)
def _transpose_conv2d(attrs: ops.TransposeConv2d, op: Subject) -> None:
    out_c, kernel_h, kernel_w, in_c = _operands(op)
    _int8(attrs, op, out_c)
    op.require(in_c == op.x.shape[1], "input channels differ from the weights'")
    _check_cut(attrs, (kernel_h, kernel_w), op)


@rule(ops.FloatConv2d)
def _float_conv2d(attrs: ops.FloatConv2d, op: Subject) -> None:
    out_c, group_c, kernel_h, kernel_w = _operands(op)
    _float(attrs, op, out_c, group_c * attrs.groups)
    check_extents(attrs, (kernel_h, kernel_w), op)


@rule(ops.FloatTransposeConv2d)
def _float_transpose_conv2d(attrs: ops.FloatTransposeConv2d, op: Subject) -> None:
    in_c, group_c, kernel_h, kernel_w = _operands(op)
    _float(attrs, op, group_c * attrs.groups, in_c)
    _check_cut(attrs, (kernel_h, kernel_w), op)


def _operands(op: Subject) -> tuple[int, ...]:
    """The weights' shape, once there are images and weights of one batch."""
    op.counts(2, 3)
    for tensor in (op.x, op.ins[1], op.out):
        op.rank(tensor, 4)
    op.require(op.x.shape[0] == op.out.shape[0], "the batch differs")
    return op.ins[1].shape


def _int8(attrs: ops.ConvAttrs, op: Subject, out_c: int) -> None:
    for tensor in (op.x, op.ins[1], op.out):
        op.type_of(tensor, DType.S8)
    _channels(op, out_c, DType.S32)
    op.require(len(attrs.multipliers) == out_c, "needs one multiplier for each output channel")
    op.require(len(attrs.shifts) == out_c, "needs one shift for each output channel")
    op.within(MULTIPLIER, multipliers=attrs.multipliers)
    op.within(SHIFT, shifts=attrs.shifts)
    op.within(INT8, in_zero_point=attrs.in_zero_point, out_zero_point=attrs.out_zero_point)
    op.clamp(attrs.act_min, attrs.act_max)
    check_geometry(attrs, op)


def _float(
    attrs: ops.FloatConv2d | ops.FloatTransposeConv2d,
    op: Subject,
    out_c: int,
    in_c: int,
) -> None:
    op.types(DType.F32)
    _channels(op, out_c, DType.F32)
    op.within((1, max(in_c, 1)), groups=attrs.groups)
    op.require(op.x.shape[1] == in_c, "input channels differ from the weights'")
    fits = in_c % attrs.groups == 0 and out_c % attrs.groups == 0
    op.require(fits, "channels are no multiple of the groups")
    check_geometry(attrs, op)


def _channels(op: Subject, out_c: int, bias: DType) -> None:
    op.require(op.out.shape[1] == out_c, "output channels differ from the weights'")
    if len(op.ins) > 2:
        op.type_of(op.ins[2], bias)
        op.shape_of(op.ins[2], out_c)


def _check_cut(
    attrs: ops.TransposeConv2d | ops.FloatTransposeConv2d,
    kernel: tuple[int, int],
    op: Subject,
) -> None:
    """The result is the full one without its padding, and perhaps with some more behind it."""
    for axis in (0, 1):
        full = (op.x.shape[2 + axis] - 1) * attrs.stride[axis] + reach(
            kernel[axis], attrs.dilation[axis]
        )
        least = full - attrs.padding[axis] - attrs.padding[2 + axis]
        have = op.out.shape[2 + axis]
        op.require(have >= least, f"the result has size {have}, the operands give {least}")
