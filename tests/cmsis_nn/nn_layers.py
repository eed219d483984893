# SPDX-License-Identifier: Apache-2.0
"""Graphs of one operator that CMSIS-NN has, over the parameters that its functions distinguish."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, Rescale, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.program import Program

from tests.support.graphs import Net, rescales

FAMILIES = (
    "conv2d", "conv2d_row", "depthwise_conv2d", "transpose_conv2d", "linear", "batch_matmul",
    "avg_pool2d", "max_pool2d", "add", "mul", "minimum", "maximum", "softmax",
)  # fmt: skip


class LayerProgram(Program):
    """A layer that was never a .pte; its family and seed stand for one."""

    def graph(self) -> Graph:
        family, seed = self.pte.decode().split()
        return random_layer(family, int(seed))


def layer_program(family: str, seed: int) -> LayerProgram:
    return LayerProgram("layer", f"{family} {seed}".encode())


def random_layer(family: str, seed: int) -> Graph:
    """One layer; equal arguments give equal layers."""
    net = Net(f"{family}_{seed}", 1000 * FAMILIES.index(family) + seed)
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


def _pick(net: Net, low: int, high: int) -> int:
    """From low to high, both included."""
    return int(net.random.integers(low, high + 1))


def _conv_attrs(net: Net, out_c: int, depth: int, **more: Any) -> dict[str, Any]:
    """Rescaling to the range of codes, sometimes by more than 1, with sums of `depth` products."""
    base = -6 - int(math.log2(depth)) // 2
    shifts = net.random.integers(base - 1, base + 2, out_c)
    return {
        "stride": (_pick(net, 1, 3), _pick(net, 1, 3)),
        "dilation": (1, 1),
        "in_zero_point": _pick(net, -128, 127),
        "out_zero_point": _pick(net, -128, 127),
        "rescales": rescales(net.random.integers(2**30, 2**31, out_c), shifts),
        "act_min": _pick(net, -128, -100),
        "act_max": _pick(net, 60, 127),
    } | more


def _windowed(attrs: dict[str, Any], kernel: tuple[int, int]) -> dict[str, Any]:
    """The attributes with the window that some of them make."""
    window = Window(kernel, *(attrs[name] for name in ("stride", "padding", "dilation")))
    return {"window": window, **{name: attrs[name] for name in attrs if not hasattr(window, name)}}


def _bias(net: Net, inputs: list[int], out_c: int) -> list[int]:
    if _pick(net, 0, 3):
        inputs.append(net.constant(net.random.integers(-9999, 9999, out_c), DType.S32))
    return inputs


def _extents(shape: tuple[int, ...], attrs: dict[str, Any], kernel: tuple[int, int]) -> list[int]:
    """Rows and columns of the result; less than one if the window is larger than the image."""
    pad = attrs["padding"]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, attrs["dilation"], strict=True)]
    return [
        (shape[2 + d] + pad[d] + pad[2 + d] - spans[d]) // attrs["stride"][d] + 1 for d in range(2)
    ]


def _finish_conv(
    net: Net, x: int, weight: int, attrs: ops.ConvAttrs, out_c: int, out: list[int]
) -> int:
    n = net.shape(x)[0]
    return net.add(attrs, _bias(net, [x, weight], out_c), (n, out_c, *out))


def _conv2d(net: Net, family: str) -> int:
    groups = (1, 1, 1, 2, 3)[_pick(net, 0, 4)]
    in_c, out_c = groups * _pick(net, 1, 9), groups * _pick(net, 1, 9)
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
    x = net.input(shape)
    weight = net.codes(out_c, *kernel, in_c // groups)
    return _finish_conv(
        net, x, weight, ops.Conv2d(**_windowed(attrs, kernel), groups=groups), out_c, out
    )


def _conv2d_row(net: Net, family: str) -> int:
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
    x = net.input(shape)
    weight = net.codes(out_c, *kernel, in_c)
    return _finish_conv(net, x, weight, ops.Conv2d(**_windowed(attrs, kernel)), out_c, out)


def _depthwise(net: Net, family: str) -> int:
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
    x = net.input(shape)
    weight = net.codes(1, *kernel, out_c)
    return _finish_conv(net, x, weight, ops.DepthwiseConv2d(**_windowed(attrs, kernel)), out_c, out)


def _transpose(net: Net, family: str) -> int:
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
    x = net.input(shape)
    weight = net.codes(out_c, *kernel, in_c)
    return _finish_conv(net, x, weight, ops.TransposeConv2d(**_windowed(attrs, kernel)), out_c, out)


def _linear(net: Net, family: str) -> int:
    rows, depth, out = _pick(net, 1, 5), _pick(net, 1, 70), _pick(net, 1, 13)
    x = net.input((rows, depth))
    attrs = ops.Linear(
        in_zero_point=_pick(net, -128, 127),
        weight_zero_point=_pick(net, -5, 5) if _pick(net, 0, 2) == 0 else 0,
        out_zero_point=_pick(net, -128, 127),
        rescales=(Rescale(_pick(net, 2**30, 2**31 - 1), -6 - int(math.log2(depth)) // 2),),
        act_min=_pick(net, -128, -100),
        act_max=_pick(net, 60, 127),
    )
    return net.add(attrs, _bias(net, [x, net.codes(out, depth)], out), (rows, out))


def _batch_matmul(net: Net, family: str) -> int:
    batches, rows = _pick(net, 1, 3), _pick(net, 1, 5)
    cols, inner = _pick(net, 1, 11), _pick(net, 1, 40)
    a = net.input((batches, rows, inner))
    b = net.input((batches, cols, inner))
    zero = [_pick(net, -128, 127) for _ in range(3)]
    rescale = Rescale(_pick(net, 2**30, 2**31 - 1), -7 - int(math.log2(inner)) // 2)
    attrs = ops.BatchMatmul(zero[0], zero[1], zero[2], rescale)
    return net.add(attrs, [a, b], (batches, rows, cols), order=contiguous(3))


def _pool(net: Net, family: str) -> int:
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
    x = net.input(shape)
    if family == "avg_pool2d":
        return net.add(ops.AvgPool2d(**_windowed(attrs, kernel)), [x], (*shape[:2], *out))
    clamp = (_pick(net, -128, -50), _pick(net, 50, 127))
    largest = ops.MaxPool2d(**_windowed(attrs, kernel), act_min=clamp[0], act_max=clamp[1])
    return net.add(largest, [x], (*shape[:2], *out))


def _elementwise(net: Net, family: str) -> int:
    shape = (1, _pick(net, 8, 19), _pick(net, 1, 4), _pick(net, 1, 4))
    a = net.input(shape)
    other = _pick(net, 0, 3)
    b = net.input(shape) if other else net.input((1, 1, 1, 1))
    if other == 1:
        b = net.codes(1, shape[1], 1, 1)  # repeats at every pixel
    operands = [a, b] if _pick(net, 0, 1) else [b, a]
    if family in ("minimum", "maximum"):
        kind = ops.Minimum() if family == "minimum" else ops.Maximum()
        return net.add(kind, operands, shape)
    zero = [_pick(net, -128, 127) for _ in range(3)]
    if family == "mul":
        rescale = Rescale(_pick(net, 2**30, 2**31 - 1), _pick(net, -9, -5))
        return net.add(ops.Mul(zero[0], zero[1], zero[2], rescale), operands, shape)
    multipliers = [_pick(net, 2**30, 2**31 - 1) for _ in range(3)]
    shifts = [_pick(net, -4, 1), _pick(net, -4, 1), _pick(net, -20, -18)]
    a_scale, b_scale, scale = map(Rescale, multipliers, shifts)
    clamp = (_pick(net, -128, -100), _pick(net, 60, 127))
    attrs = ops.Add(zero[0], a_scale, zero[1], b_scale, zero[2], scale, *clamp)
    return net.add(attrs, operands, shape)


def _softmax(net: Net, family: str) -> int:
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
        shape = graph.tensors[index].shape
        codes = random.choice([-128, 127], shape) if extreme else random.integers(-128, 128, shape)
        result.append(codes.astype(np.int8))
    return result
