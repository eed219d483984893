# SPDX-License-Identifier: Apache-2.0
"""Graphs of one operator that CMSIS-NN has, over the parameters that its functions distinguish.

A family is an operator on int8 codes, or with `_s16` behind it on int16 codes, or with
`_s4` on int8 codes with weights of 4 bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, Rescale, contiguous, ops
from cortexm_tools.ir.geometry import Window

from tests.support.graphs import GraphProgram, Net

FAMILIES = (
    "conv2d", "conv2d_row", "depthwise_conv2d", "transpose_conv2d", "linear", "batch_matmul",
    "avg_pool2d", "max_pool2d", "add", "mul", "minimum", "maximum", "softmax",
    "conv2d_s16", "depthwise_conv2d_s16", "linear_s16", "batch_matmul_s16", "avg_pool2d_s16",
    "max_pool2d_s16", "add_s16", "mul_s16", "conv2d_s4", "depthwise_conv2d_s4", "linear_s4",
)  # fmt: skip


def layer_program(family: str, seed: int) -> GraphProgram:
    return GraphProgram("layer", f"{family} {seed}".encode(), made=random_layer(family, seed))


def random_layer(family: str, seed: int) -> Graph:
    """One layer; equal arguments give equal layers."""
    net = Layer(f"{family}_{seed}", 1000 * FAMILIES.index(family) + seed)
    family, _, types = family.partition("_s")
    net.wide, net.narrow = types == "16", types == "4"
    make = {
        "conv2d": _conv2d,
        "conv2d_row": _conv2d_row,
        "depthwise_conv2d": _depthwise,
        "transpose_conv2d": _transpose,
        "linear": _linear,
        "batch_matmul": _batch_matmul,
        "avg_pool2d": _pool,
        "max_pool2d": _pool,
        "softmax": _softmax,
    }.get(family, _elementwise)
    return net.finish(make(net, family))


class Layer(Net):
    """A layer on codes of one type.

    Attributes:
        wide: the codes are int16.
        narrow: weights have 4 bits.
    """

    wide = False
    narrow = False

    @property
    def bits_less(self) -> int:
        return 4 if self.narrow else 0

    @property
    def dtype(self) -> DType:
        return DType.S16 if self.wide else DType.S8

    def zero_point(self) -> int:
        return 0 if self.wide else _pick(self, -128, 127)

    def clamp(self) -> tuple[int, int]:
        """A range in which most codes lie."""
        unit = 256 if self.wide else 1
        return unit * _pick(self, -128, -100), unit * _pick(self, 60, 127)


def _pick(net: Net, low: int, high: int) -> int:
    """From low to high, both included."""
    return int(net.random.integers(low, high + 1))


def _conv_attrs(net: Layer, out_c: int, depth: int, **more: Any) -> dict[str, Any]:
    """Rescaling to the range of codes, sometimes by more than 1, with sums of `depth` products."""
    base = net.bits_less - 6 - int(math.log2(depth)) // 2
    shifts = net.random.integers(base - 1, base + 2, out_c)
    return {
        "stride": (_pick(net, 1, 3), _pick(net, 1, 3)),
        "dilation": (1, 1),
        "in_zero_point": net.zero_point(),
        "out_zero_point": net.zero_point(),
        "rescales": net.rescales(net.random.integers(2**30, 2**31, out_c), shifts),
        **dict(zip(("act_min", "act_max"), net.clamp(), strict=True)),
    } | more


def _windowed(attrs: dict[str, Any], kernel: tuple[int, int]) -> dict[str, Any]:
    """The attributes with the window that some of them make."""
    window = Window(kernel, *(attrs[name] for name in ("stride", "padding", "dilation")))
    return {"window": window, **{name: attrs[name] for name in attrs if not hasattr(window, name)}}


def _bias(net: Layer, inputs: list[int], out_c: int) -> list[int]:
    if _pick(net, 0, 3):
        values = net.random.integers(-9999, 9999, out_c) >> net.bits_less
        if net.wide and _pick(net, 0, 3) == 0:
            values = values + (1 << 33) * net.random.integers(-1, 2, out_c)
        inputs.append(net.constant(values, DType.S64 if net.wide else DType.S32))
    return inputs


def _extents(shape: tuple[int, ...], attrs: dict[str, Any], kernel: tuple[int, int]) -> list[int]:
    """Rows and columns of the result; less than one if the window is larger than the image."""
    pad = attrs["padding"]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, attrs["dilation"], strict=True)]
    return [
        (shape[2 + d] + pad[d] + pad[2 + d] - spans[d]) // attrs["stride"][d] + 1 for d in range(2)
    ]


def _finish_conv(
    net: Layer, x: int, weight: int, attrs: ops.ConvAttrs, out_c: int, out: list[int]
) -> int:
    n = net.shape(x)[0]
    return net.add(attrs, _bias(net, [x, weight], out_c), (n, out_c, *out))


def _conv2d(net: Layer, family: str) -> int:
    groups = (1, 1, 1, 2, 3)[_pick(net, 0, 4)]
    in_c, out_c = groups * _pick(net, 1, 9), groups * _pick(net, 1, 9)
    if net.wide and _pick(net, 0, 5) == 0:
        in_c = groups * _pick(net, 60, 130)
    while True:
        kernel = (_pick(net, 1, 4), _pick(net, 1, 4)) if _pick(net, 0, 3) else (1, 1)
        attrs = _conv_attrs(net, out_c, kernel[0] * kernel[1] * in_c // groups)
        attrs["padding"] = tuple(_pick(net, 0, 2) for _ in range(4))
        if _pick(net, 0, 2) == 0:
            attrs["padding"] = (0, 0, 0, 0)
        if _pick(net, 0, 2) == 0:
            attrs["stride"] = (1, 1)
        if _pick(net, 0, 4) == 0:
            attrs["dilation"] = (_pick(net, 1, 3), _pick(net, 1, 2))
        shape = (1 + (_pick(net, 0, 5) == 0), in_c, _pick(net, 1, 9), _pick(net, 1, 9))
        out = _extents(shape, attrs, kernel)
        if min(out) >= 1:
            break
    x = net.input(shape, net.dtype)
    weight = net.weights(out_c, *kernel, in_c // groups)
    return _finish_conv(
        net, x, weight, ops.Conv2d(**_windowed(attrs, kernel), groups=groups), out_c, out
    )


def _conv2d_row(net: Layer, family: str) -> int:
    """One row of pixels, which has functions of its own."""
    in_c, out_c = (1, 2, 3, 4, 8)[_pick(net, 0, 4)], _pick(net, 1, 9)
    while True:
        kernel = (1, _pick(net, 1, 7))
        attrs = _conv_attrs(net, out_c, kernel[1] * in_c)
        pad = _pick(net, 0, 3)
        attrs["padding"] = (0, pad, 0, max(0, pad + _pick(net, -1, 1)))
        attrs["stride"] = (1, _pick(net, 1, 4))
        shape = (1, in_c, 1, _pick(net, 1, 17))
        out = _extents(shape, attrs, kernel)
        if min(out) >= 1:
            break
    x = net.input(shape, net.dtype)
    weight = net.weights(out_c, *kernel, in_c)
    return _finish_conv(net, x, weight, ops.Conv2d(**_windowed(attrs, kernel)), out_c, out)


def _depthwise(net: Layer, family: str) -> int:
    times = (1, 1, 1, 2, 4, 5)[_pick(net, 0, 5)]
    in_c = _pick(net, 1, 21) if _pick(net, 0, 9) else 130
    out_c = times * in_c
    while True:
        kernel = (3, 3) if _pick(net, 0, 1) else (_pick(net, 1, 4), _pick(net, 1, 5))
        attrs = _conv_attrs(net, out_c, kernel[0] * kernel[1])
        attrs["padding"] = tuple(_pick(net, 0, 2) for _ in range(4))
        if _pick(net, 0, 4) == 0:
            attrs["dilation"] = (_pick(net, 1, 2), _pick(net, 1, 2))
        shape = (1 + (_pick(net, 0, 5) == 0), in_c, _pick(net, 1, 7), _pick(net, 1, 7))
        out = _extents(shape, attrs, kernel)
        if min(out) >= 1:
            break
    x = net.input(shape, net.dtype)
    weight = net.weights(1, *kernel, out_c)
    return _finish_conv(net, x, weight, ops.DepthwiseConv2d(**_windowed(attrs, kernel)), out_c, out)


def _transpose(net: Layer, family: str) -> int:
    in_c, out_c = _pick(net, 1, 6) if _pick(net, 0, 1) else _pick(net, 17, 20), _pick(net, 1, 6)
    while True:
        kernel = (_pick(net, 1, 5), _pick(net, 1, 5))
        attrs = _conv_attrs(net, out_c, kernel[0] * kernel[1] * in_c)
        attrs["padding"] = tuple(_pick(net, 0, 2) for _ in range(2)) * 2
        shape = (1 + (_pick(net, 0, 5) == 0), in_c, _pick(net, 1, 5), _pick(net, 1, 5))
        out = [
            (shape[2 + d] - 1) * attrs["stride"][d]
            + kernel[d]
            - 2 * attrs["padding"][d]
            + _pick(net, 0, attrs["stride"][d] - 1)
            for d in range(2)
        ]
        if min(out) >= 1:
            break
    x = net.input(shape, net.dtype)
    weight = net.weights(out_c, *kernel, in_c)
    return _finish_conv(net, x, weight, ops.TransposeConv2d(**_windowed(attrs, kernel)), out_c, out)


def _linear(net: Layer, family: str) -> int:
    rows, depth, out = _pick(net, 1, 5), _pick(net, 1, 70), _pick(net, 1, 13)
    if net.wide and _pick(net, 0, 3) == 0:
        depth = _pick(net, 500, 1200)
    x = net.input((rows, depth), net.dtype)
    outputs = 1 if _pick(net, 0, 3) == 0 else out  # one requantization for all, or one for each
    attrs = ops.Linear(
        in_zero_point=net.zero_point(),
        weight_zero_point=_pick(net, -5, 5) if _pick(net, 0, 2) == 0 and not net.wide else 0,
        out_zero_point=net.zero_point(),
        rescales=net.rescales(
            net.random.integers(2**30, 2**31, outputs),
            net.bits_less - 6 - int(math.log2(depth)) // 2 - net.random.integers(0, 3, outputs),
        ),
        **dict(zip(("act_min", "act_max"), net.clamp(), strict=True)),
    )
    return net.add(attrs, _bias(net, [x, net.weights(out, depth)], out), (rows, out))


def _batch_matmul(net: Layer, family: str) -> int:
    batches, rows = _pick(net, 1, 3), _pick(net, 1, 5)
    cols, inner = _pick(net, 1, 11), _pick(net, 1, 40)
    a = net.input((batches, rows, inner), net.dtype)
    b = net.input((batches, cols, inner), net.dtype)
    zero = [net.zero_point() for _ in range(3)]
    bits = 15 if net.wide else 7
    rescale = Rescale(_pick(net, 2**30, 2**31 - 1), -bits - int(math.log2(inner)) // 2)
    attrs = ops.BatchMatmul(zero[0], zero[1], zero[2], rescale)
    return net.add(attrs, [a, b], (batches, rows, cols), order=contiguous(3))


def _pool(net: Layer, family: str) -> int:
    while True:
        kernel = (_pick(net, 1, 5), _pick(net, 1, 5))
        attrs: dict[str, Any] = {
            "stride": (_pick(net, 1, 3), _pick(net, 1, 3)),
            "padding": tuple(_pick(net, 0, kernel[d % 2] // 2) for d in range(4)),
            "dilation": (1, 1),
        }
        n = 1 + (_pick(net, 0, 5) == 0)
        shape = (n, _pick(net, 1, 37), _pick(net, 1, 9), _pick(net, 1, 9))
        out = _extents(shape, attrs, kernel)
        if min(out) >= 1:
            break
    x = net.input(shape, net.dtype)
    if family == "avg_pool2d":
        return net.add(ops.AvgPool2d(**_windowed(attrs, kernel)), [x], (*shape[:2], *out))
    unit = 256 if net.wide else 1
    clamp = (unit * _pick(net, -128, -50), unit * _pick(net, 50, 127))
    largest = ops.MaxPool2d(**_windowed(attrs, kernel), act_min=clamp[0], act_max=clamp[1])
    return net.add(largest, [x], (*shape[:2], *out))


def _elementwise(net: Layer, family: str) -> int:
    shape = (1, _pick(net, 8, 19), _pick(net, 1, 4), _pick(net, 1, 4))
    a = net.input(shape, net.dtype)
    other = _pick(net, 0, 3)
    b = net.input(shape if other else (1, 1, 1, 1), net.dtype)
    if other == 1:
        b = net.codes(1, shape[1], 1, 1, dtype=net.dtype)  # repeats at every pixel
    operands = [a, b] if _pick(net, 0, 1) else [b, a]
    if family in ("minimum", "maximum"):
        kind = ops.Minimum() if family == "minimum" else ops.Maximum()
        return net.add(kind, operands, shape)
    zero = [net.zero_point() for _ in range(3)]
    if family == "mul":
        shift = _pick(net, -9, -5) - (8 if net.wide else 0)
        rescale = Rescale(_pick(net, 2**30, 2**31 - 1), shift)
        return net.add(ops.Mul(zero[0], zero[1], zero[2], rescale), operands, shape)
    multipliers = [_pick(net, 2**30, 2**31 - 1) for _ in range(3)]
    most = 0 if net.wide else 1
    shifts = [_pick(net, -4, most), _pick(net, -4, most), _pick(net, -20, -18)]
    if net.wide:
        shifts[2] += 5
    a_scale, b_scale, scale = map(Rescale, multipliers, shifts)
    attrs = ops.Add(zero[0], a_scale, zero[1], b_scale, zero[2], scale, *net.clamp())
    return net.add(attrs, operands, shape)


def _softmax(net: Layer, family: str) -> int:
    x = net.input((_pick(net, 1, 4), _pick(net, 1, 70)))
    shift = _pick(net, 19, 25)
    attrs = ops.Softmax(1, Rescale(_pick(net, 2**30, 2**31 - 1), shift), -(31 << (26 - shift)) - 1)
    return net.add(attrs, [x], net.shape(x))


def layer_inputs(graph: Graph, seed: int) -> list[Array]:
    """Codes over the whole range; every third time only the extreme ones."""
    random = np.random.default_rng(seed)
    extreme = seed % 3 == 2
    result: list[Array] = []
    for index in graph.inputs:
        shape, dtype = graph.tensors[index].shape, graph.tensors[index].dtype
        low, high = dtype.limits
        codes = (
            random.choice([low, high], shape) if extreme else random.integers(low, high + 1, shape)
        )
        result.append(codes.astype(dtype.numpy))
    return result
