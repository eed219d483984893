# SPDX-License-Identifier: Apache-2.0
"""Convolutions of codes, int8 or int16 with int8 weights, and of float32.

Sums of products of codes go through float64 matrix products, which are exact because every partial sum
stays far below 2**53. Float32 sums begin with the bias, or zero, and take their terms one after another:
by input channel, then by tap.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale, rescale_channels
from ..floats import Floats, begin_sums, fma
from ..geometry import Window
from ..rules import Subject, bias_types, check_codes, check_wide_sums, shifts
from ..types import Array, DType, Tensor
from ..wide import rescale_wide_channels


@dataclass(frozen=True)
class ConvAttrs(Attrs):
    """What all convolutions of codes share: padding has the value `in_zero_point`, and `rescales` one for
    each output channel."""

    window: Window
    in_zero_point: int
    out_zero_point: int
    rescales: tuple[Rescale, ...]
    act_min: int
    act_max: int

    def check_channels(self, op: Subject, out_c: int) -> None:
        """Types, bias, and what there is for each output channel."""
        check_codes(op)
        _check_bias(op, out_c, *bias_types(op.x.dtype))
        op.require(len(self.rescales) == out_c, "needs one rescale for each output channel")
        check_wide_sums(op, op.ins[1].numel // out_c, 128)
        op.rescales(shift=shifts(op.x.dtype), rescales=self.rescales)
        op.zero_points(
            op.x.dtype, in_zero_point=self.in_zero_point, out_zero_point=self.out_zero_point
        )
        op.clamp(self.act_min, self.act_max)

    def centred(self, x: Array) -> npt.NDArray[np.float64]:
        return x.astype(np.float64) - self.in_zero_point

    def finish(self, acc: npt.NDArray[np.float64], bias: Array | None, dtype: DType) -> I64:
        """Bias, requantization to codes of `dtype`, and clamp of acc [N,O,H,W]."""
        total = acc.astype(np.int64)
        if bias is not None:
            total = total + bias.astype(np.int64)[None, :, None, None]
        if dtype is DType.S16:
            result = rescale_wide_channels(total, self.rescales, axis=1)
        else:
            result = rescale_channels(total, self.rescales) + self.out_zero_point
        return np.clip(result, self.act_min, self.act_max)


@operator(
    layout=Layout.IMAGE,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.WEIGHTED,
    exact=True,
)
@dataclass(frozen=True)
class Conv2d(ConvAttrs):
    """x [N,C,H,W] s8 or s16, weight [O,KH,KW,C/groups] s8, [bias [O]] -> [N,O,H',W'] of x's type."""

    kind: ClassVar[str] = "conv2d"
    groups: int = 1

    def check(self, op: Subject) -> None:
        out_c, *kernel, group_c = _check_operands(op)
        self.check_channels(op, out_c)
        _check_window(self.window, kernel, op)
        op.within((1, out_c), groups=self.groups)
        op.require(out_c % self.groups == 0, "output channels are not a multiple of the groups")
        op.require(
            group_c * self.groups == op.x.shape[1], "input channels differ from the weights'"
        )
        self.window.check_extents(op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        n, out_c, out_h, out_w = results[0].shape
        group_c = weight.shape[3]
        found = self.window.over(self.centred(x), (out_h, out_w), 0.0)
        acc = np.empty(results[0].shape, np.float64)
        per_group = out_c // self.groups
        for group in range(self.groups):
            columns = found[:, group * group_c : (group + 1) * group_c].transpose(0, 2, 3, 4, 5, 1)
            outs = slice(group * per_group, (group + 1) * per_group)
            rows = weight[outs].astype(np.float64).reshape(per_group, -1)
            product = columns.reshape(-1, rows.shape[1]) @ rows.T
            acc[:, outs] = product.reshape(n, out_h, out_w, per_group).transpose(0, 3, 1, 2)
        return self.finish(acc, bias, results[0].dtype)


@operator(
    layout=Layout.IMAGE,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.WEIGHTED,
    exact=True,
)
@dataclass(frozen=True)
class DepthwiseConv2d(ConvAttrs):
    """x [N,C,H,W] s8 or s16, weight [1,KH,KW,O] s8, [bias [O]] -> [N,O,H',W'] of x's type.

    Output channel o reads input channel o // (O // C).
    """

    kind: ClassVar[str] = "depthwise_conv2d"

    def check(self, op: Subject) -> None:
        one, *kernel, out_c = _check_operands(op)
        self.check_channels(op, out_c)
        _check_window(self.window, kernel, op)
        op.require(one == 1, "depthwise weights must have shape [1, height, width, channels]")
        op.require(out_c % op.x.shape[1] == 0, "output channels are not a multiple of the input's")
        self.window.check_extents(op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        repeated = np.repeat(self.centred(x), results[0].shape[1] // x.shape[1], axis=1)
        found = self.window.over(repeated, results[0].shape[2:], 0.0)
        acc = np.einsum("nohwyx,yxo->nohw", found, weight.astype(np.float64)[0])
        return self.finish(acc, bias, results[0].dtype)


@operator(
    layout=Layout.IMAGE,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.WEIGHTED,
    exact=True,
)
@dataclass(frozen=True)
class TransposeConv2d(ConvAttrs):
    """x [N,C,H,W] s8 or s16, weight [O,KH,KW,C] s8, [bias [O]] -> [N,O,H',W'] of x's type.

    The window's padding cuts rows and columns off the full result, as in PyTorch; what
    output_padding adds at the bottom and right is in the output's shape.
    """

    kind: ClassVar[str] = "transpose_conv2d"

    def check(self, op: Subject) -> None:
        out_c, *kernel, in_c = _check_operands(op)
        self.check_channels(op, out_c)
        _check_window(self.window, kernel, op)
        op.require(in_c == op.x.shape[1], "input channels differ from the weights'")
        self.window.check_cut(op)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        acc = np.zeros(results[0].shape)
        image = self.centred(x)
        for (ky, kx), (from_y, from_x), (to_y, to_x) in self.window.taps(
            x.shape[2:], acc.shape[2:]
        ):
            tap = weight[:, ky, kx, :].astype(np.float64)
            acc[:, :, to_y, to_x] += np.einsum("nchw,oc->nohw", image[:, :, from_y, from_x], tap)
        return self.finish(acc, bias, results[0].dtype)


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.FIRST,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class DepthwiseRing(Attrs):
    """position [1] s32, ring [C/4,T,N,4] s8, weight [T*N,C] s8, [bias [C] s32] -> position [1], [1,C] s8.

    A depthwise convolution of one pixel, over rows of which N are new in each of T calls. Those at `position`
    are the newest, those behind them, after the last the first, the oldest, which have the first weights. The
    next newest ones will take their place: that is the position in the result.
    """

    kind: ClassVar[str] = "depthwise_ring"
    in_zero_point: int
    out_zero_point: int
    rescales: tuple[Rescale, ...]
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        op.counts(3, 4, results=2)
        position, ring, weight = op.ins[:3]
        after, out = op.outs
        for tensor in (position, after):
            op.type_of(tensor, DType.S32)
            op.shape_of(tensor, 1)
        for tensor in (ring, weight, out):
            op.type_of(tensor, DType.S8)
        op.rank(ring, 4)
        chunks, turns, rows, four = ring.shape
        op.require(four == 4, "channels do not lie in fours")
        op.require(turns * rows > 0, "the ring has no rows")
        op.shape_of(weight, turns * rows, 4 * chunks)
        op.shape_of(out, 1, 4 * chunks)
        if len(op.ins) > 3:
            op.type_of(op.ins[3], DType.S32)
            op.shape_of(op.ins[3], 4 * chunks)
        op.require(len(self.rescales) == 4 * chunks, "needs one rescale for each channel")
        op.rescales(rescales=self.rescales)
        op.zero_points(
            DType.S8, in_zero_point=self.in_zero_point, out_zero_point=self.out_zero_point
        )
        op.within(DType.S8.limits, act_min=self.act_min, act_max=self.act_max)
        op.require(self.act_min <= self.act_max, "the activation's range is empty")

    def compute(
        self,
        results: tuple[Tensor, ...],
        position: Array,
        ring: Array,
        weight: Array,
        bias: Array | None = None,
    ) -> list[Array]:
        chunks, turns, rows, _ = ring.shape
        oldest = (int(np.clip(position[0], 0, turns - 1)) + 1) % turns
        codes = np.roll(ring, -oldest, axis=1).reshape(chunks, turns * rows, 4)
        image = codes.transpose(1, 0, 2).reshape(weight.shape).astype(np.int64)
        total = ((image - self.in_zero_point) * weight.astype(np.int64)).sum(axis=0)
        if bias is not None:
            total = total + bias.astype(np.int64)
        found = rescale_channels(total[None, :, None, None], self.rescales)[..., 0, 0]
        found = np.clip(found + self.out_zero_point, self.act_min, self.act_max)
        return [np.array([oldest], np.int32), found.astype(np.int8)]


@operator(
    layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class FloatConv2d(Attrs):
    """x [N,C,H,W] f32, weight [O,C/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    Padding is with zeros.
    """

    kind: ClassVar[str] = "float_conv2d"
    window: Window
    groups: int

    def check(self, op: Subject) -> None:
        out_c, group_c, *kernel = _check_operands(op)
        _check_float(self, op, out_c, group_c * self.groups)
        _check_window(self.window, kernel, op)
        self.window.check_extents(op)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats | None = None
    ) -> Array:
        out_c, group_c = weight.shape[:2]
        total = begin_sums(results[0].shape, bias, 1)
        per_group = out_c // self.groups
        taps = tuple(self.window.taps(total.shape[2:], x.shape[2:]))
        for group in range(self.groups):
            outs = slice(group * per_group, (group + 1) * per_group)
            for c, ((ky, kx), (to_y, to_x), (from_y, from_x)) in itertools.product(
                range(group_c), taps
            ):
                channel = group * group_c + c
                total[:, outs, to_y, to_x] = fma(
                    total[:, outs, to_y, to_x],
                    x[:, channel : channel + 1, from_y, from_x],
                    weight[outs, c, ky, kx][:, None, None],
                )
        return total


@operator(
    layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class FloatTransposeConv2d(Attrs):
    """x [N,C,H,W] f32, weight [C,O/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    Padding as in TransposeConv2d: it cuts off the full result.
    """

    kind: ClassVar[str] = "float_transpose_conv2d"
    window: Window
    groups: int

    def check(self, op: Subject) -> None:
        in_c, group_c, *kernel = _check_operands(op)
        _check_float(self, op, group_c * self.groups, in_c)
        _check_window(self.window, kernel, op)
        self.window.check_cut(op)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats | None = None
    ) -> Array:
        in_c, per_group = weight.shape[:2]
        total = begin_sums(results[0].shape, bias, 1)
        group_c = in_c // self.groups
        taps = tuple(self.window.taps(x.shape[2:], total.shape[2:]))
        for channel in range(in_c):
            group = channel // group_c
            outs = slice(group * per_group, (group + 1) * per_group)
            for (ky, kx), (from_y, from_x), (to_y, to_x) in taps:
                total[:, outs, to_y, to_x] = fma(
                    total[:, outs, to_y, to_x],
                    x[:, channel : channel + 1, from_y, from_x],
                    weight[channel, :, ky, kx][:, None, None],
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


def _check_window(window: Window, kernel: Sequence[int], op: Subject) -> None:
    window.check(op)
    op.require(window.kernel == tuple(kernel), "the weights have another kernel size")


def _check_bias(op: Subject, out_c: int, *dtypes: DType) -> None:
    op.require(op.out.shape[1] == out_c, "output channels differ from the weights'")
    if len(op.ins) > 2:
        op.type_of(op.ins[2], *dtypes)
        op.shape_of(op.ins[2], out_c)
