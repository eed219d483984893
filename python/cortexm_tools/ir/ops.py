# SPDX-License-Identifier: Apache-2.0
"""The operators of the IR, one frozen dataclass each.

Fields that a device kernel needs are plain integers in CMSIS-NN's conventions: a requantization is a
Q31 multiplier and a shift (positive is left), see docs/numerics.md. Operand order is stated in each
docstring; an operand in brackets is optional. Zero points are the codes that mean 0.0 (never negated
"offsets").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Attrs:
    """Base of all operator attributes; `kind` is the operator's name everywhere."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class ConvAttrs(Attrs):
    """What all int8 convolutions share. Pairs are (height, width).

    `padding` is (top, left, bottom, right), in input pixels of value `in_zero_point`.
    `multipliers` and `shifts` hold one entry per output channel.
    """

    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    in_zero_point: int
    out_zero_point: int
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    act_min: int
    act_max: int


@dataclass(frozen=True)
class Conv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C/groups] s8, [bias [O] s32] -> [N,O,H',W'] s8."""

    kind: ClassVar[str] = "conv2d"
    groups: int = 1


@dataclass(frozen=True)
class DepthwiseConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [1,KH,KW,O] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Output channel o reads input channel o // (O // C).
    """

    kind: ClassVar[str] = "depthwise_conv2d"


@dataclass(frozen=True)
class TransposeConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Here `padding` cuts rows and columns off the full result, as in PyTorch; what output_padding
    adds at the bottom and right is in the output's shape.
    """

    kind: ClassVar[str] = "transpose_conv2d"


@dataclass(frozen=True)
class Linear(Attrs):
    """x [..., K] s8, weight [O, K] s8, [bias [O] s32] -> [..., O] s8. One requantization for all."""

    kind: ClassVar[str] = "linear"
    in_zero_point: int
    weight_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int
    act_min: int
    act_max: int


@dataclass(frozen=True)
class BatchMatmul(Attrs):
    """lhs [B,M,K] s8, rhs transposed [B,N,K] s8 -> [B,M,N] s8."""

    kind: ClassVar[str] = "batch_matmul"
    lhs_zero_point: int
    rhs_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int


@dataclass(frozen=True)
class Add(Attrs):
    """a s8, b s8 (broadcastable) -> s8. Both operands are raised by 2**20 before rescaling."""

    kind: ClassVar[str] = "add"
    a_zero_point: int
    a_multiplier: int
    a_shift: int
    b_zero_point: int
    b_multiplier: int
    b_shift: int
    out_zero_point: int
    out_multiplier: int
    out_shift: int
    act_min: int
    act_max: int


@dataclass(frozen=True)
class Mul(Attrs):
    """a s8, b s8 (broadcastable) -> s8."""

    kind: ClassVar[str] = "mul"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int


@dataclass(frozen=True)
class Div(Attrs):
    """a, b of one shape, both s8 or s16 -> same type. `scale` is s_a / (s_b * s_out), in float32."""

    kind: ClassVar[str] = "div"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    scale: float


@dataclass(frozen=True)
class Minimum(Attrs):
    """a, b (broadcastable, one type) -> the smaller, element by element."""

    kind: ClassVar[str] = "minimum"


@dataclass(frozen=True)
class Maximum(Attrs):
    """a, b (broadcastable, one type) -> the larger, element by element."""

    kind: ClassVar[str] = "maximum"


@dataclass(frozen=True)
class Activation(Attrs):
    """x s8, table [256] s8 -> table[x + 128]."""

    kind: ClassVar[str] = "activation"


@dataclass(frozen=True)
class Softmax(Attrs):
    """x s8 -> s8 with scale 1/256 and zero point -128, along `dim` (non-negative)."""

    kind: ClassVar[str] = "softmax"
    dim: int
    multiplier: int
    shift: int
    diff_min: int


@dataclass(frozen=True)
class AvgPool2d(Attrs):
    """x [N,C,H,W] s8 -> s8; padding (top, left, bottom, right) does not count."""

    kind: ClassVar[str] = "avg_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]


@dataclass(frozen=True)
class MaxPool2d(Attrs):
    """x [N,C,H,W] s8 -> s8; padding (top, left, bottom, right) never wins."""

    kind: ClassVar[str] = "max_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    act_min: int
    act_max: int


@dataclass(frozen=True)
class Pad(Attrs):
    """x -> x with `before[d]` and `after[d]` elements of `value` around logical dimension d."""

    kind: ClassVar[str] = "pad"
    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int


@dataclass(frozen=True)
class Transpose(Attrs):
    """x -> x.permute(perm), any type and rank."""

    kind: ClassVar[str] = "transpose"
    perm: tuple[int, ...]


@dataclass(frozen=True)
class View(Attrs):
    """x -> the same elements in logical order, in the output's shape."""

    kind: ClassVar[str] = "view"


@dataclass(frozen=True)
class Clone(Attrs):
    """x -> the same logical tensor, perhaps in another dim order."""

    kind: ClassVar[str] = "clone"


@dataclass(frozen=True)
class Quantize(Attrs):
    """x f32 -> s8 or s16: clamp(round_half_even(x * (1/scale)) + zero_point)."""

    kind: ClassVar[str] = "quantize"
    scale: float
    zero_point: int
    qmin: int
    qmax: int


@dataclass(frozen=True)
class Dequantize(Attrs):
    """x s8 or s16 -> f32: (x - zero_point) * scale."""

    kind: ClassVar[str] = "dequantize"
    scale: float
    zero_point: int


@dataclass(frozen=True)
class Expand(Attrs):
    """x -> x broadcast to the output's shape (numpy rules), any type."""

    kind: ClassVar[str] = "expand"
