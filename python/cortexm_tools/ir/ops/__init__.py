# SPDX-License-Identifier: Apache-2.0
"""The operators of the IR, each declared once, in the module of its family: a frozen dataclass with its
traits, its check and what it computes (ir/attrs.py).

A requantization is a `Rescale` (ir/fixed_point.py). Operand order is stated in each docstring; an
operand in brackets is optional. Zero points are the codes that mean 0.0 (never negated "offsets").

Data movement and comparisons are exact. Float32 sums begin with the bias, or zero, and take their
terms one after another in the C order of the logical indices they go over; see ir/exactness.py for
what is exact.
"""

from ..attrs import OPERATORS, Attrs, require_all_declared
from .activation import (
    UNARY_FUNCTIONS,
    Activation,
    Clamp,
    FloatSoftmax,
    InterpolatedSoftmax,
    Softmax,
    Unary,
    WideSigmoid,
    WideSoftmax,
)
from .arithmetic import (
    BINARY_FUNCTIONS,
    GATE_SHIFT,
    GATE_ZERO_POINT,
    INTEGER_DIVISIONS,
    INTEGER_FUNCTIONS,
    Add,
    Binary,
    Div,
    Gate,
    Maximum,
    Minimum,
    Mul,
)
from .compare import COMPARISONS, LOGICAL_FUNCTIONS, Compare, Logical, LogicalNot, Where
from .conv import (
    Conv2d,
    ConvAttrs,
    DepthwiseConv2d,
    DepthwiseRing,
    FloatConv2d,
    FloatTransposeConv2d,
    TransposeConv2d,
)
from .convert import Cast, Dequantize, Lookup, Quantize, Requantize
from .index import Embedding, Gather, Index, IndexPut
from .linear import BatchMatmul, FloatLinear, FloatMatmul, Linear, Matrices
from .move import AsStrided, Clone, Concat, Expand, Pad, Push, Slice, Tile, Transpose, View
from .norm import FloatGroupNorm, FloatLayerNorm, GroupNorm, LayerNorm
from .pool import AvgPool2d, FloatAvgPool2d, FloatMaxPool2d, MaxPool2d
from .recurrent import Gru, InterpolatedLstm, Lstm, RecurrentAttrs, Rnn, Svdf
from .reduce import REDUCTIONS, ArgReduce, Cumsum, Reduce, TopK
from .resample import Between, UpsampleBilinear2d, UpsampleNearest2d
from .spectrum import LogMel

__all__ = [
    "Attrs",
    "OPERATORS",
    "Activation",
    "Add",
    "ArgReduce",
    "AsStrided",
    "AvgPool2d",
    "BINARY_FUNCTIONS",
    "BatchMatmul",
    "Between",
    "Binary",
    "COMPARISONS",
    "Cast",
    "Clamp",
    "Clone",
    "Compare",
    "Concat",
    "Conv2d",
    "ConvAttrs",
    "Cumsum",
    "DepthwiseConv2d",
    "DepthwiseRing",
    "Dequantize",
    "Div",
    "Expand",
    "FloatAvgPool2d",
    "FloatConv2d",
    "FloatGroupNorm",
    "FloatLayerNorm",
    "FloatLinear",
    "FloatMatmul",
    "FloatMaxPool2d",
    "FloatSoftmax",
    "FloatTransposeConv2d",
    "Embedding",
    "Gather",
    "GATE_SHIFT",
    "GATE_ZERO_POINT",
    "Gate",
    "GroupNorm",
    "Gru",
    "INTEGER_DIVISIONS",
    "INTEGER_FUNCTIONS",
    "Index",
    "IndexPut",
    "LOGICAL_FUNCTIONS",
    "InterpolatedLstm",
    "InterpolatedSoftmax",
    "LayerNorm",
    "Linear",
    "LogMel",
    "Logical",
    "LogicalNot",
    "Lookup",
    "Lstm",
    "Matrices",
    "MaxPool2d",
    "Maximum",
    "Minimum",
    "Mul",
    "Pad",
    "Push",
    "Quantize",
    "REDUCTIONS",
    "RecurrentAttrs",
    "Reduce",
    "Requantize",
    "Rnn",
    "Slice",
    "Softmax",
    "Svdf",
    "Tile",
    "TopK",
    "Transpose",
    "TransposeConv2d",
    "UNARY_FUNCTIONS",
    "Unary",
    "UpsampleBilinear2d",
    "UpsampleNearest2d",
    "View",
    "Where",
    "WideSigmoid",
    "WideSoftmax",
]

require_all_declared()
