# SPDX-License-Identifier: Apache-2.0
"""Convolutions, int8 and float32.

Sums of int8 products go through float64 matrix products, which are exact because every partial sum
stays far below 2**53. Float32 sums begin with the bias, or zero, and take their terms one after another:
by input channel, then by tap.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..attrs import Attrs, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale, rescale_channels
from ..floats import Floats, begin_sums
from ..geometry import check_extents, check_geometry, reach, span, windows
from ..rules import INT8, Subject
from ..types import Array, DType, Tensor


@dataclass(frozen=True)
class ConvAttrs(Attrs):
    """What all int8 convolutions share. Pairs are (height, width).

    `padding` is (top, left, bottom, right), in input pixels of value `in_zero_point`.
    `rescales` has one for each output channel.
    """

    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    in_zero_point: int
    out_zero_point: int
    rescales: tuple[Rescale, ...]
    act_min: int
    act_max: int

    def check_channels(self, op: Subject, out_c: int) -> None:
        """Types, bias, and what there is for each output channel."""
        for tensor in (op.x, op.ins[1], op.out):
            op.type_of(tensor, DType.S8)
        _check_bias(op, out_c, DType.S32)
        op.require(len(self.rescales) == out_c, "needs one rescale for each output channel")
        op.rescales(rescales=self.rescales)
        op.within(INT8, in_zero_point=self.in_zero_point, out_zero_point=self.out_zero_point)
        op.clamp(self.act_min, self.act_max)
        check_geometry(self, op)

    def centred(self, x: Array) -> npt.NDArray[np.float64]:
        return x.astype(np.float64) - self.in_zero_point

    def finish(self, acc: npt.NDArray[np.float64], bias: Array | None) -> I64:
        """Bias, requantization and clamp of acc [N,O,H,W]."""
        total = acc.astype(np.int64)
        if bias is not None:
            total = total + bias.astype(np.int64)[None, :, None, None]
        result = rescale_channels(total, self.rescales) + self.out_zero_point
        return np.clip(result, self.act_min, self.act_max)


@operator(layout=Layout.IMAGE, overwrites=Operands.NONE, work=Work.SUMS, exact=True)
@dataclass(frozen=True)
class Conv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C/groups] s8, [bias [O] s32] -> [N,O,H',W'] s8."""

    kind: ClassVar[str] = "conv2d"
    groups: int = 1

    def check(self, op: Subject) -> None:
        out_c, kernel_h, kernel_w, group_c = _check_operands(op)
        self.check_channels(op, out_c)
        op.within((1, out_c), groups=self.groups)
        op.require(out_c % self.groups == 0, "output channels are not a multiple of the groups")
        op.require(
            group_c * self.groups == op.x.shape[1], "input channels differ from the weights'"
        )
        check_extents(self, (kernel_h, kernel_w), op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        n, out_c, out_h, out_w = results[0].shape
        _, kernel_h, kernel_w, group_c = weight.shape
        found = windows(
            self.centred(x),
            (kernel_h, kernel_w),
            self.stride,
            self.padding,
            self.dilation,
            (out_h, out_w),
            0.0,
        )
        acc = np.empty(results[0].shape, np.float64)
        per_group = out_c // self.groups
        for group in range(self.groups):
            columns = found[:, group * group_c : (group + 1) * group_c].transpose(0, 2, 3, 4, 5, 1)
            outs = slice(group * per_group, (group + 1) * per_group)
            rows = weight[outs].astype(np.float64).reshape(per_group, -1)
            product = columns.reshape(-1, rows.shape[1]) @ rows.T
            acc[:, outs] = product.reshape(n, out_h, out_w, per_group).transpose(0, 3, 1, 2)
        return self.finish(acc, bias)


@operator(layout=Layout.IMAGE, overwrites=Operands.NONE, work=Work.SUMS, exact=True)
@dataclass(frozen=True)
class DepthwiseConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [1,KH,KW,O] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Output channel o reads input channel o // (O // C).
    """

    kind: ClassVar[str] = "depthwise_conv2d"

    def check(self, op: Subject) -> None:
        one, kernel_h, kernel_w, out_c = _check_operands(op)
        self.check_channels(op, out_c)
        op.require(one == 1, "depthwise weights must have shape [1, height, width, channels]")
        op.require(out_c % op.x.shape[1] == 0, "output channels are not a multiple of the input's")
        check_extents(self, (kernel_h, kernel_w), op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        _, out_c, out_h, out_w = results[0].shape
        _, kernel_h, kernel_w, _ = weight.shape
        found = windows(
            np.repeat(self.centred(x), out_c // x.shape[1], axis=1),
            (kernel_h, kernel_w),
            self.stride,
            self.padding,
            self.dilation,
            (out_h, out_w),
            0.0,
        )
        acc = np.einsum("nohwyx,yxo->nohw", found, weight.astype(np.float64)[0])
        return self.finish(acc, bias)


@operator(layout=Layout.IMAGE, overwrites=Operands.NONE, work=Work.SUMS, exact=True)
@dataclass(frozen=True)
class TransposeConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Here `padding` cuts rows and columns off the full result, as in PyTorch; what output_padding
    adds at the bottom and right is in the output's shape.
    """

    kind: ClassVar[str] = "transpose_conv2d"

    def check(self, op: Subject) -> None:
        out_c, kernel_h, kernel_w, in_c = _check_operands(op)
        self.check_channels(op, out_c)
        op.require(in_c == op.x.shape[1], "input channels differ from the weights'")
        _check_cut(self, (kernel_h, kernel_w), op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        n, out_c, out_h, out_w = results[0].shape
        _, kernel_h, kernel_w, _ = weight.shape
        _, _, h, w = x.shape
        image = self.centred(x)
        top, left = self.padding[0], self.padding[1]
        reach_h = (h - 1) * self.stride[0] + reach(kernel_h, self.dilation[0])
        reach_w = (w - 1) * self.stride[1] + reach(kernel_w, self.dilation[1])
        full = np.zeros((n, out_c, max(reach_h, top + out_h), max(reach_w, left + out_w)))
        for ky, kx in itertools.product(range(kernel_h), range(kernel_w)):
            y0, x0 = ky * self.dilation[0], kx * self.dilation[1]
            rows = slice(y0, y0 + (h - 1) * self.stride[0] + 1, self.stride[0])
            columns = slice(x0, x0 + (w - 1) * self.stride[1] + 1, self.stride[1])
            tap = weight[:, ky, kx, :].astype(np.float64)
            full[:, :, rows, columns] += np.einsum("nchw,oc->nohw", image, tap)
        return self.finish(full[:, :, top : top + out_h, left : left + out_w], bias)


@operator(layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, exact=True)
@dataclass(frozen=True)
class FloatConv2d(Attrs):
    """x [N,C,H,W] f32, weight [O,C/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    `padding` is (top, left, bottom, right), with zeros.
    """

    kind: ClassVar[str] = "float_conv2d"
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    groups: int

    def check(self, op: Subject) -> None:
        out_c, group_c, kernel_h, kernel_w = _check_operands(op)
        _check_float(self, op, out_c, group_c * self.groups)
        check_extents(self, (kernel_h, kernel_w), op)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats | None = None
    ) -> Array:
        out_c, group_c, kernel_h, kernel_w = weight.shape
        total = begin_sums(results[0].shape, bias, 1)
        per_group = out_c // self.groups
        for group in range(self.groups):
            outs = slice(group * per_group, (group + 1) * per_group)
            for c, ky, kx in itertools.product(range(group_c), range(kernel_h), range(kernel_w)):
                first = ky * self.dilation[0] - self.padding[0]
                to_y, from_y = span(total.shape[2], x.shape[2], self.stride[0], first)
                first = kx * self.dilation[1] - self.padding[1]
                to_x, from_x = span(total.shape[3], x.shape[3], self.stride[1], first)
                channel = group * group_c + c
                total[:, outs, to_y, to_x] += (
                    x[:, channel : channel + 1, from_y, from_x]
                    * weight[outs, c, ky, kx][:, None, None]
                )
        return total


@operator(layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, exact=True)
@dataclass(frozen=True)
class FloatTransposeConv2d(Attrs):
    """x [N,C,H,W] f32, weight [C,O/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    `padding` as in TransposeConv2d: it cuts off the full result.
    """

    kind: ClassVar[str] = "float_transpose_conv2d"
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    groups: int

    def check(self, op: Subject) -> None:
        in_c, group_c, kernel_h, kernel_w = _check_operands(op)
        _check_float(self, op, group_c * self.groups, in_c)
        _check_cut(self, (kernel_h, kernel_w), op)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats | None = None
    ) -> Array:
        in_c, per_group, kernel_h, kernel_w = weight.shape
        total = begin_sums(results[0].shape, bias, 1)
        group_c = in_c // self.groups
        for channel in range(in_c):
            group = channel // group_c
            outs = slice(group * per_group, (group + 1) * per_group)
            for ky, kx in itertools.product(range(kernel_h), range(kernel_w)):
                first = ky * self.dilation[0] - self.padding[0]
                from_y, to_y = span(x.shape[2], total.shape[2], self.stride[0], first)
                first = kx * self.dilation[1] - self.padding[1]
                from_x, to_x = span(x.shape[3], total.shape[3], self.stride[1], first)
                total[:, outs, to_y, to_x] += (
                    x[:, channel : channel + 1, from_y, from_x]
                    * weight[channel, :, ky, kx][:, None, None]
                )
        return total


def _check_operands(op: Subject) -> tuple[int, ...]:
    """The weights' shape, once there are images and weights of one batch."""
    op.counts(2, 3)
    for tensor in (op.x, op.ins[1], op.out):
        op.rank(tensor, 4)
    op.require(op.x.shape[0] == op.out.shape[0], "the batch differs")
    return op.ins[1].shape


def _check_float(
    attrs: FloatConv2d | FloatTransposeConv2d, op: Subject, out_c: int, in_c: int
) -> None:
    op.types(DType.F32)
    _check_bias(op, out_c, DType.F32)
    op.within((1, max(in_c, 1)), groups=attrs.groups)
    op.require(op.x.shape[1] == in_c, "input channels differ from the weights'")
    fits = in_c % attrs.groups == 0 and out_c % attrs.groups == 0
    op.require(fits, "channels are not a multiple of the groups")
    check_geometry(attrs, op)


def _check_bias(op: Subject, out_c: int, dtype: DType) -> None:
    op.require(op.out.shape[1] == out_c, "output channels differ from the weights'")
    if len(op.ins) > 2:
        op.type_of(op.ins[2], dtype)
        op.shape_of(op.ins[2], out_c)


def _check_cut(
    attrs: TransposeConv2d | FloatTransposeConv2d, kernel: tuple[int, int], op: Subject
) -> None:
    """The result is the full one without its padding, and perhaps with some more behind it."""
    for axis in (0, 1):
        full = (op.x.shape[2 + axis] - 1) * attrs.stride[axis] + reach(
            kernel[axis], attrs.dilation[axis]
        )
        least = full - attrs.padding[axis] - attrs.padding[2 + axis]
        have = op.out.shape[2 + axis]
        op.require(have >= least, f"the result has size {have}, the operands give {least}")
