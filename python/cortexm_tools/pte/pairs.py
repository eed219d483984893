# SPDX-License-Identifier: Apache-2.0
"""Programs that state quantization by pairs of quantize and dequantize around PyTorch's operators.

Any quantizer of PyTorch leaves such pairs, and a backend is meant to compute in between on codes.
`use_codes` does: a float operator whose operands are dequantized and whose result is quantized
becomes the operator of codes, with requantizations as ExecuTorch's own lowering derives them from the
scales (`quantize_multiplier`). The result is that of rounding once where the pairs round, so it may be
one code away from the float operator's. What has no operator of codes stays as it is, in float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir import Array, DType, Graph, Op, Rescale, Tensor, Work, ops
from ..ir.attrs import Attrs
from ..ir.edit import GraphBuilder, consumers, producers, remove_dead
from ..ir.fixed_point import quantize_multiplier
from ..ir.floats import F32
from ..ir.geometry import Window
from ..ir.types import contiguous
from ..ir.wide import ADD_RAISE, WIDE_SHIFT, narrowed, smallest_table, softmax_multiplier

# The scale and zero point that a softmax has; see ir/ops/activation.py.
_SOFTMAX = {DType.S8: (1 / 256, -128), DType.S16: (2**-15, 0)}


@dataclass(frozen=True)
class _Codes:
    """How the codes of a tensor state values: scale, zero point, type, and the range they are cut to."""

    scale: float
    zero_point: int
    dtype: DType
    low: int
    high: int

    @property
    def is_symmetric(self) -> bool:
        return self.zero_point == 0

    def code(self, value: float) -> int:
        """The code of a value, within the range."""
        return int(min(max(round(value / self.scale) + self.zero_point, self.low), self.high))

    def within(self, low: float | None, high: float | None) -> _Codes:
        """The same, of values within bounds."""
        least = self.low if low is None else self.code(low)
        most = self.high if high is None else self.code(high)
        return replace(self, low=least, high=most)

    def same_values(self, other: _Codes) -> bool:
        """Whether a code means the same in both."""
        return (self.scale, self.zero_point, self.dtype) == (
            other.scale, other.zero_point, other.dtype
        )  # fmt: skip

    @property
    def is_whole(self) -> bool:
        """Whether every code of the type is in the range."""
        return (self.low, self.high) == self.dtype.limits


@dataclass(frozen=True)
class ConstantCodes:
    """What a float constant was made of: codes with zero point 0, and the scale of each index of `axis`."""

    codes: Array
    scales: tuple[float, ...]
    axis: int


class _Unknown(Exception):
    """A float operator that has no counterpart on these codes."""


def use_codes(graph: Graph, constants: Mapping[int, ConstantCodes]) -> Graph:
    """The graph with operators of codes where pairs of quantize and dequantize ask for them.

    Args:
        constants: what its float constants were made of, by tensor.
    """
    rewrite = _Rewrite(graph, constants)
    for op in graph.ops:
        rewrite.take(op)
    return remove_dead(rewrite.build.finish())


class _Rewrite:
    def __init__(self, graph: Graph, constants: Mapping[int, ConstantCodes]) -> None:
        self.graph, self.constants = graph, constants
        self.made_by, self.read_by = producers(graph), consumers(graph)
        self.build = GraphBuilder(graph)

    def take(self, op: Op) -> None:
        """Adds an operator, or what stands for it."""
        if isinstance(op.attrs, ops.Quantize):
            before = len(self.build.ops)
            try:
                codes = self.codes(op.inputs[0], self.result(op), op)
            except _Unknown:
                del self.build.ops[before:]
            else:
                quant = self.graph.tensors[op.outputs[0]].quant
                self.build.tensors[codes] = replace(self.build.tensors[codes], quant=quant)
                self.build.alias(op.outputs[0], codes)
                return
        self.build.add(op)

    def result(self, op: Op) -> _Codes:
        attrs = op.attrs
        assert isinstance(attrs, ops.Quantize)
        dtype = self.graph.tensors[op.outputs[0]].dtype
        return _Codes(attrs.scale, attrs.zero_point, dtype, attrs.qmin, attrs.qmax)

    def tensor(self, like: int, dtype: DType) -> int:
        """A new tensor of codes with the shape of a float one."""
        tensor = self.graph.tensors[like]
        return self.build.add_tensor(replace(tensor, name=f"{tensor.name}_code", dtype=dtype))

    def add(self, attrs: Attrs, inputs: tuple[int, ...], like: Op, dtype: DType) -> int:
        """Adds an operator on codes in the place of a float one."""
        out = self.tensor(like.outputs[0], dtype)
        self.build.add(Op(attrs, inputs, (out,), like.layer))
        return out

    def constant(self, data: Array, dtype: DType) -> int:
        order = contiguous(data.ndim)
        made = np.ascontiguousarray(data).astype(dtype.numpy)
        return self.build.add_tensor(Tensor("codes", dtype, made.shape, order, made))

    # What is read

    def operand(self, index: int, dtype: DType) -> tuple[int, _Codes]:
        """The codes of a dequantized tensor, or of one that was moved since."""
        op = self.made_by.get(index)
        if op is None:
            raise _Unknown
        if isinstance(op.attrs, ops.Dequantize):
            tensor = self.graph.tensors[op.inputs[0]]
            if tensor.dtype is not dtype:
                raise _Unknown
            found = _Codes(op.attrs.scale, op.attrs.zero_point, dtype, *dtype.limits)
            if dtype is DType.S16 and not found.is_symmetric:
                raise _Unknown
            return op.inputs[0], found
        if _only_moves(op) and len(op.inputs) == 1:
            source, found = self.operand(op.inputs[0], dtype)
            return self.add(op.attrs, (source,), op, dtype), found
        raise _Unknown

    def rows(self, index: int) -> ConstantCodes:
        """Weights with a scale for each index of the first axis, as a layer has them."""
        found = self.constants.get(index)
        if found is None or found.axis != 0 or found.codes.dtype != np.int8:
            raise _Unknown
        return found

    def columns(self, index: int) -> ConstantCodes:
        """The same of a transposed matrix."""
        op = self.made_by.get(index)
        if op is None or op.attrs != ops.Transpose((1, 0)):
            raise _Unknown
        return self.rows(op.inputs[0])

    def bias(self, index: int | None, x: _Codes, weights: ConstantCodes) -> tuple[int, ...]:
        """The bias in units of the products, as the last operand of a layer; none if there is none."""
        if index is None:
            return ()
        data = self.graph.tensors[index].data
        if data is None or data.size != len(weights.scales):
            raise _Unknown
        unit = x.scale * np.array(weights.scales)
        codes = np.rint(data.astype(np.float64).reshape(-1) / unit)
        wide = DType.S64 if x.dtype is DType.S16 else DType.S32
        if np.abs(codes).max(initial=0) >= (2**31 if wide is DType.S32 else 2**46):
            raise _Unknown
        narrow = np.abs(codes).max(initial=0) < 2**31
        return (self.constant(codes, DType.S32 if narrow else wide),)

    # What is made

    def codes(self, index: int, out: _Codes, quantize: Op) -> int:
        """The float tensor `index` as codes: a new tensor.

        Raises:
            _Unknown: it cannot be computed on codes.
        """
        op = self.made_by.get(index)
        if op is None or (out.dtype is DType.S16 and not out.is_symmetric):
            raise _Unknown
        if isinstance(op.attrs, ops.Dequantize):
            return self.requantized(op, out, quantize)
        if len(self.read_by[index]) > 1 or index in self.graph.kept:
            raise _Unknown
        if _only_moves(op):
            parts = tuple(
                self.codes(i, out, quantize) if self.graph.tensors[i].dtype is DType.F32 else i
                for i in op.inputs
            )
            return self.add(op.attrs, parts, op, out.dtype)
        if isinstance(op.attrs, ops.Pad):
            part = self.codes(op.inputs[0], out, quantize)
            return self.add(
                replace(op.attrs, value=out.code(op.attrs.value)), (part,), op, out.dtype
            )
        if isinstance(op.attrs, ops.Clamp):
            return self.codes(op.inputs[0], out.within(op.attrs.low, op.attrs.high), quantize)
        if isinstance(op.attrs, ops.Unary) and op.attrs.function == "relu":
            return self.codes(op.inputs[0], out.within(0.0, None), quantize)
        make = _MAKERS.get(type(op.attrs))
        if make is None:
            raise _Unknown
        return make(self, op, op.attrs, out)

    def requantized(self, dequantize: Op, out: _Codes, like: Op) -> int:
        """Codes as codes of another scale or range."""
        source, dtype = dequantize.inputs[0], self.graph.tensors[dequantize.inputs[0]].dtype
        attrs = dequantize.attrs
        assert isinstance(attrs, ops.Dequantize)
        x = _Codes(attrs.scale, attrs.zero_point, dtype, *dtype.limits)
        if x.same_values(out) and out.is_whole and like.inputs[0] == dequantize.outputs[0]:
            raise _Unknown  # simplify/requantize.py removes the pair, without a change to any code
        return self.changed(source, x, out, like)

    def changed(self, source: int, x: _Codes, out: _Codes, like: Op) -> int:
        """Codes `x` as codes `out`; the source itself where these are the same."""
        if x.same_values(out) and out.is_whole:
            return source
        if x.dtype is DType.S16 and not x.is_symmetric:
            raise _Unknown
        rescale = quantize_multiplier(x.scale / out.scale)
        if (x.dtype.limits[1] - x.dtype.limits[0]) << max(rescale.shift, 0) >= 2**31:
            raise _Unknown
        made = ops.Requantize(x.zero_point, rescale, out.zero_point, out.low, out.high)
        return self.add(made, (source,), like, out.dtype)

    def rescales(self, x: _Codes, weights: ConstantCodes, out: _Codes) -> tuple[Rescale, ...]:
        made = tuple(quantize_multiplier(x.scale * scale / out.scale) for scale in weights.scales)
        if x.dtype is DType.S16 and max(each.shift for each in made) > WIDE_SHIFT[1]:
            raise _Unknown
        codes = weights.codes
        if x.dtype is DType.S8 and codes.min(initial=0) >= -8 and codes.max(initial=0) <= 7:
            # As frontend/lower/narrow.py rounds them.
            made = tuple(replace(each, multiplier=narrowed(each.multiplier)) for each in made)
        return made

    def linear(self, op: Op, x_index: int, weights: ConstantCodes, out: _Codes) -> int:
        source, x = self.operand(x_index, out.dtype)
        bias = self.bias(op.inputs[2] if len(op.inputs) > 2 else None, x, weights)
        rescales = self.rescales(x, weights, out)
        if len(set(rescales)) == 1:
            rescales = rescales[:1]
        attrs = ops.Linear(x.zero_point, 0, out.zero_point, rescales, out.low, out.high)
        weight = self.constant(weights.codes, DType.S8)
        return self.add(attrs, (source, weight, *bias), op, out.dtype)


def _only_moves(op: Op) -> bool:
    """Whether an operator's result consists of elements of its operands."""
    return op.attrs.traits.work is Work.MOVE and not isinstance(op.attrs, ops.Pad)


def _conv(rewrite: _Rewrite, op: Op, attrs: ops.FloatConv2d, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    weights = rewrite.rows(op.inputs[1])
    bias = rewrite.bias(op.inputs[2] if len(op.inputs) > 2 else None, x, weights)
    common = (attrs.window, x.zero_point, out.zero_point, rewrite.rescales(x, weights, out))
    depthwise = attrs.groups > 1 and weights.codes.shape[1] == 1
    if depthwise:
        made: ops.ConvAttrs = ops.DepthwiseConv2d(*common, out.low, out.high)
        data = weights.codes.transpose(1, 2, 3, 0)
    else:
        made = ops.Conv2d(*common, out.low, out.high, attrs.groups)
        data = weights.codes.transpose(0, 2, 3, 1)
    return rewrite.add(made, (source, rewrite.constant(data, DType.S8), *bias), op, out.dtype)


def _transpose_conv(rewrite: _Rewrite, op: Op, attrs: ops.FloatTransposeConv2d, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    found = rewrite.constants.get(op.inputs[1])
    if found is None or attrs.groups > 1 or found.codes.dtype != np.int8:
        raise _Unknown
    if found.axis == 0 and len(set(found.scales)) > 1:
        raise _Unknown  # a scale for each input channel
    out_c = found.codes.shape[1]
    scales = found.scales if found.axis == 1 else found.scales[:1] * out_c
    weights = ConstantCodes(found.codes.transpose(1, 2, 3, 0), scales, 0)
    bias = rewrite.bias(op.inputs[2] if len(op.inputs) > 2 else None, x, weights)
    common = (attrs.window, x.zero_point, out.zero_point, rewrite.rescales(x, weights, out))
    made = ops.TransposeConv2d(*common, out.low, out.high)
    weight = rewrite.constant(weights.codes, DType.S8)
    return rewrite.add(made, (source, weight, *bias), op, out.dtype)


def _linear(rewrite: _Rewrite, op: Op, attrs: ops.FloatLinear, out: _Codes) -> int:
    return rewrite.linear(op, op.inputs[0], rewrite.rows(op.inputs[1]), out)


def _matmul(rewrite: _Rewrite, op: Op, attrs: ops.FloatMatmul, out: _Codes) -> int:
    return rewrite.linear(op, op.inputs[0], rewrite.columns(op.inputs[1]), out)


def _binary(rewrite: _Rewrite, op: Op, attrs: ops.Binary, out: _Codes) -> int:
    (a_index, a), (b_index, b) = (rewrite.operand(i, out.dtype) for i in op.inputs)
    zero_points = a.zero_point, b.zero_point, out.zero_point
    if attrs.function == "mul" and out.is_whole:
        rescale = quantize_multiplier(a.scale * b.scale / out.scale)
        return rewrite.add(ops.Mul(*zero_points, rescale), (a_index, b_index), op, out.dtype)
    if attrs.function not in ("add", "sub"):
        raise _Unknown
    raised = ADD_RAISE if out.dtype is DType.S16 else 20
    unit = 2 * max(a.scale, b.scale)
    a_rescale, b_rescale = (quantize_multiplier(each.scale / unit) for each in (a, b))
    if attrs.function == "sub":
        b_rescale = replace(b_rescale, multiplier=-b_rescale.multiplier)
    made = ops.Add(
        a.zero_point,
        a_rescale,
        b.zero_point,
        b_rescale,
        out.zero_point,
        quantize_multiplier(unit / (out.scale * 2**raised)),
        out.low,
        out.high,
    )
    return rewrite.add(made, (a_index, b_index), op, out.dtype)


def _unary(rewrite: _Rewrite, op: Op, attrs: ops.Unary, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    low, high = out.dtype.limits
    points = np.arange(low, high + (2 if out.dtype is DType.S16 else 1))
    inputs = ((points - x.zero_point) * x.scale).astype(F32)
    made = Tensor("values", DType.F32, inputs.shape, (0,))
    values = attrs.compute((made,), inputs).astype(np.float64)
    codes = np.clip(np.rint(values / out.scale) + out.zero_point, out.low, out.high)
    table = smallest_table(codes) if out.dtype is DType.S16 else np.nan_to_num(codes)
    constant = rewrite.constant(table, out.dtype)
    return rewrite.add(ops.Activation(), (source, constant), op, out.dtype)


def _softmax(rewrite: _Rewrite, op: Op, attrs: ops.FloatSoftmax, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    if attrs.log:
        raise _Unknown
    made: Attrs
    if out.dtype is DType.S16:
        if not x.scale < math.log(2):
            raise _Unknown
        made = ops.WideSoftmax(attrs.dim, softmax_multiplier(x.scale))
    else:
        made = ops.Softmax.of(attrs.dim, x.scale)
    scale, zero_point = _SOFTMAX[out.dtype]
    given = _Codes(scale, zero_point, out.dtype, *out.dtype.limits)
    return rewrite.changed(rewrite.add(made, (source,), op, out.dtype), given, out, op)


def _max_pool(rewrite: _Rewrite, op: Op, attrs: ops.FloatMaxPool2d, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    made = ops.MaxPool2d(attrs.window, *out.dtype.limits)
    return rewrite.changed(rewrite.add(made, (source,), op, out.dtype), x, out, op)


def _avg_pool(rewrite: _Rewrite, op: Op, attrs: ops.FloatAvgPool2d, out: _Codes) -> int:
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    padded = attrs.count_padding and any(attrs.declared_padding)
    if attrs.divisor is not None or padded:
        raise _Unknown
    made = ops.AvgPool2d(attrs.window)
    return rewrite.changed(rewrite.add(made, (source,), op, out.dtype), x, out, op)


def _mean(rewrite: _Rewrite, op: Op, attrs: ops.Reduce, out: _Codes) -> int:
    """The mean of whole images."""
    source, x = rewrite.operand(op.inputs[0], out.dtype)
    shape = rewrite.build.tensors[source].shape
    if attrs.function != "mean" or len(shape) != 4 or sorted(attrs.dims) != [2, 3]:
        raise _Unknown
    size = (shape[2], shape[3])
    pooled = rewrite.build.add_tensor(
        Tensor("mean_code", out.dtype, (*shape[:2], 1, 1), contiguous(4))
    )
    window = Window(size, (1, 1), (0, 0, 0, 0))
    rewrite.build.add(Op(ops.AvgPool2d(window), (source,), (pooled,), op.layer))
    made = rewrite.add(ops.View(), (pooled,), op, out.dtype)
    return rewrite.changed(made, x, out, op)


_MAKERS: dict[type[Attrs], Callable[[_Rewrite, Op, Any, _Codes], int]] = {
    ops.FloatConv2d: _conv,
    ops.FloatTransposeConv2d: _transpose_conv,
    ops.FloatLinear: _linear,
    ops.FloatMatmul: _matmul,
    ops.Binary: _binary,
    ops.Unary: _unary,
    ops.FloatSoftmax: _softmax,
    ops.FloatMaxPool2d: _max_pool,
    ops.FloatAvgPool2d: _avg_pool,
    ops.Reduce: _mean,
}
