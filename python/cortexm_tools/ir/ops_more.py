# SPDX-License-Identifier: Apache-2.0
"""Operators beyond the quantized dialect: data movement in any type, and float32 arithmetic.

Programs keep these where ExecuTorch leaves work to its portable operators. Data movement and
comparisons are exact. Float32 sums begin with the bias, or zero, and take their terms one after
another in the C order of the logical indices they go over; see ir/exactness.py for what is exact.
Operand order is stated in each docstring; an operand in brackets is optional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .ops import Attrs

# -- data movement, any element type --------------------------------------------------------------


@dataclass(frozen=True)
class Concat(Attrs):
    """x0, x1, ... of one type -> joined along dimension `dim`."""

    kind: ClassVar[str] = "concat"
    dim: int


@dataclass(frozen=True)
class Slice(Attrs):
    """x -> out of the same rank; out[i] = x[begin + step * i] in every dimension.

    Steps are not zero; a negative one reads backwards. The extents are the result's shape.
    """

    kind: ClassVar[str] = "slice"
    begin: tuple[int, ...]
    step: tuple[int, ...]


@dataclass(frozen=True)
class Tile(Attrs):
    """x -> x repeated; out[i] = x[i mod size] in every dimension, x aligned at the last one."""

    kind: ClassVar[str] = "tile"


@dataclass(frozen=True)
class AsStrided(Attrs):
    """x -> out[i] = flat[offset + sum(i_d * strides_d)], with flat = x in logical C order.

    Windows may overlap. All indices lie inside x.
    """

    kind: ClassVar[str] = "as_strided"
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Gather(Attrs):
    """x, index s64 or s32 of x's rank -> out[i] = x[i with coordinate `dim` replaced by index[i]].

    Indices come from the input: a negative one counts from the end, and what is still outside of
    [0, size) is brought to the nearest end, so that no access leaves x.
    """

    kind: ClassVar[str] = "gather"
    dim: int


@dataclass(frozen=True)
class Index(Attrs):
    """x, one s64 or s32 index tensor per axis in `axes` -> x indexed by all of them together.

    The index tensors broadcast. Their dimensions replace the indexed axes if those are adjacent,
    and come first otherwise. Indices are brought into range as in Gather.
    """

    kind: ClassVar[str] = "index"
    axes: tuple[int, ...]


@dataclass(frozen=True)
class IndexPut(Attrs):
    """x, values, one index tensor per axis in `axes` -> x with the indexed elements replaced.

    Indexing is that of Index; `values` broadcast to the indexed shape. With `accumulate`, values
    are added, also where an index occurs more than once.
    """

    kind: ClassVar[str] = "index_put"
    axes: tuple[int, ...]
    accumulate: bool


@dataclass(frozen=True)
class Where(Attrs):
    """condition bool, a, b of one type (all broadcastable) -> a where true, else b."""

    kind: ClassVar[str] = "where"


@dataclass(frozen=True)
class Cast(Attrs):
    """x -> x in the result's element type; nonzero is true.

    Floats are cut towards zero, saturated to 32 bits (64 for s64; a NaN gives 0), and wrap to
    narrower integers, as integers do.
    """

    kind: ClassVar[str] = "cast"


# -- element by element ---------------------------------------------------------------------------

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY_FUNCTIONS = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "elu",
    "erf",
    "exp",
    "expm1",
    "floor",
    "gelu",
    "gelu_tanh",
    "hardsigmoid",
    "hardswish",
    "leaky_relu",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
)
BINARY_FUNCTIONS = (
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "fmod",
    "remainder",
    "floor_divide",
    "trunc_divide",
    "atan2",
)
INTEGER_DIVISIONS = ("fmod", "remainder", "floor_divide", "trunc_divide")
INTEGER_FUNCTIONS = ("add", "sub", "mul", *INTEGER_DIVISIONS)
LOGICAL_FUNCTIONS = ("and", "or", "xor")


@dataclass(frozen=True)
class Compare(Attrs):
    """a, b of one type (broadcastable) -> bool; `function` is one of COMPARISONS."""

    kind: ClassVar[str] = "compare"
    function: str


@dataclass(frozen=True)
class Clamp(Attrs):
    """x -> min(max(x, low), high), in x's type; a bound that is None does not act."""

    kind: ClassVar[str] = "clamp"
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Unary(Attrs):
    """x f32 -> f32; `function` is one of UNARY_FUNCTIONS (gelu in its exact form).

    `alpha` is leaky_relu's slope below zero. elu is scale * x above zero, else
    scale * alpha * (exp(input_scale * x) - 1).
    """

    kind: ClassVar[str] = "unary"
    function: str
    alpha: float = 1.0
    scale: float = 1.0
    input_scale: float = 1.0


@dataclass(frozen=True)
class Binary(Attrs):
    """a, b (broadcastable) -> the same type; `function` is one of BINARY_FUNCTIONS.

    f32, and s32 or s64 for INTEGER_FUNCTIONS, which wrap. remainder has the sign of b, fmod that of
    a; floor_divide and trunc_divide round the quotient. Integers are divided by a constant without
    zeros (INTEGER_DIVISIONS).
    """

    kind: ClassVar[str] = "binary"
    function: str


@dataclass(frozen=True)
class Logical(Attrs):
    """a bool, b bool (broadcastable) -> bool; `function` is one of LOGICAL_FUNCTIONS."""

    kind: ClassVar[str] = "logical"
    function: str


@dataclass(frozen=True)
class LogicalNot(Attrs):
    """x bool -> not x."""

    kind: ClassVar[str] = "logical_not"


# -- reductions -----------------------------------------------------------------------------------

REDUCTIONS = ("sum", "mean", "amax", "amin", "any", "all")


@dataclass(frozen=True)
class Reduce(Attrs):
    """x -> x reduced over `dims`; amax and amin in any type, any, all in bool.

    sum is of f32 or s64, mean of f32; float sums are sequential, in float32, in C order of the
    reduced dimensions. The first NaN wins in amax and amin.

    The reduced dimensions are in the result's shape (with size one) if `keepdim`.
    """

    kind: ClassVar[str] = "reduce"
    function: str
    dims: tuple[int, ...]
    keepdim: bool


@dataclass(frozen=True)
class ArgReduce(Attrs):
    """x -> [values,] s64 index of the first extreme element along `dim`; `function` min or max.

    The first NaN counts as extreme.

    With two results the first holds the extreme values, in x's type; with one result it is the
    index.
    """

    kind: ClassVar[str] = "arg_reduce"
    function: str
    dim: int
    keepdim: bool


@dataclass(frozen=True)
class TopK(Attrs):
    """x -> values, s64 indices: the k largest (or smallest) elements along `dim`, in order.

    k is the results' extent in `dim`. The lower index comes first where elements are equal; a NaN
    counts as the largest value.
    """

    kind: ClassVar[str] = "topk"
    dim: int
    largest: bool


@dataclass(frozen=True)
class Cumsum(Attrs):
    """x f32, s32 or s64 -> running sums along `dim`, in x's type (float32 sequentially)."""

    kind: ClassVar[str] = "cumsum"
    dim: int


# -- resampling of images -------------------------------------------------------------------------


@dataclass(frozen=True)
class UpsampleNearest2d(Attrs):
    """x [N,C,H,W] of any type -> out[n,c,i,j] = x[n,c,rows[i],cols[j]]."""

    kind: ClassVar[str] = "upsample_nearest2d"
    rows: tuple[int, ...]
    cols: tuple[int, ...]


@dataclass(frozen=True)
class Between:
    """A place between two neighbours: (1 - weight) of `low` and `weight`, a float32, of `high`."""

    low: int
    high: int
    weight: float


@dataclass(frozen=True)
class UpsampleBilinear2d(Attrs):
    """x [N,C,H,W] f32 or s8 -> the same, interpolated between rows, and between columns first.

    In s8 weights are rounded to multiples of 2**-11 and sums are exact; they are rounded once, ties
    to the even distance from `zero_point`.
    """

    kind: ClassVar[str] = "upsample_bilinear2d"
    rows: tuple[Between, ...]
    cols: tuple[Between, ...]
    zero_point: int = 0


# -- float32 layers -------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class FloatLinear(Attrs):
    """x [..., K] f32, weight [O, K] f32, [bias [O] f32] -> [..., O] f32."""

    kind: ClassVar[str] = "float_linear"


@dataclass(frozen=True)
class FloatMatmul(Attrs):
    """a [..., M, K] f32, b [..., K, N] f32, of one rank, [bias f32] -> [..., M, N] f32.

    The bias broadcasts to the result.
    """

    kind: ClassVar[str] = "float_matmul"


@dataclass(frozen=True)
class FloatSoftmax(Attrs):
    """x f32 -> softmax along `dim`, or its logarithm."""

    kind: ClassVar[str] = "float_softmax"
    dim: int
    log: bool


@dataclass(frozen=True)
class FloatAvgPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; window sums divided by `divisor`.

    Without a divisor, by the number of pixels in the window: padding counts if `count_padding`,
    what hangs over the padded image never does.
    """

    kind: ClassVar[str] = "float_avg_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    declared_padding: tuple[int, int]
    count_padding: bool
    divisor: int | None


@dataclass(frozen=True)
class FloatMaxPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; padding never wins."""

    kind: ClassVar[str] = "float_max_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]


@dataclass(frozen=True)
class FloatLayerNorm(Attrs):
    """x f32, weight [size] f32, bias [size] f32 -> f32; rows of the last `size` elements.

    (x - mean) * (1 / sqrt(variance + epsilon)) * weight + bias, over each row.
    """

    kind: ClassVar[str] = "float_layer_norm"
    size: int
    epsilon: float


@dataclass(frozen=True)
class FloatGroupNorm(Attrs):
    """x [N,C,...] f32, weight [C] f32, bias [C] f32 -> f32; groups of C / groups channels.

    As FloatLayerNorm over each group, with one weight and bias for each channel.
    """

    kind: ClassVar[str] = "float_group_norm"
    groups: int
    epsilon: float
