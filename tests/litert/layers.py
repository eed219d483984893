# SPDX-License-Identifier: Apache-2.0
"""Files of a convolution, a product of matrices, a sum of two operands, a pool, a filter in time."""

from __future__ import annotations

import numpy as np

from tests.litert.draw import FUSED, Draw, case, options_of


def _windows(d: Draw, size: int, taps: int, step: int, apart: int, same: bool) -> int:
    reach = (taps - 1) * apart + 1
    return -(-size // step) if same else (size - reach) // step + 1


def _window(d: Draw, most: int = 9) -> tuple[tuple[int, int], tuple[int, int], dict[str, int]]:
    """Taps, extents and options of a convolution."""
    taps = d.number(1, 4), d.number(1, 4)
    step = d.number(1, 3)
    apart = d.one(1, 1, 2) if step == 1 else 1
    size = tuple(d.number((n - 1) * apart + 1, most + (n - 1) * apart) for n in taps)
    same = d.one(True, False)
    options = {
        "padding": 0 if same else 1,
        "stride_h": step,
        "stride_w": step,
        "dilation_h_factor": apart,
        "dilation_w_factor": apart,
        "fused_activation_function": d.fused,
    }
    return taps, (size[0], size[1]), options


def _out(d: Draw, taps: tuple[int, int], size: tuple[int, int], o: dict[str, int]) -> list[int]:
    return [
        _windows(d, n, k, o["stride_h"], o.get("dilation_h_factor", 1), o["padding"] == 0)
        for n, k in zip(size, taps, strict=True)
    ]


@case(kinds="int8 int4 int16 float32")
def conv_2d(d: Draw) -> None:
    taps, size, options = _window(d)
    groups, c, o = d.one((1, d.number(1, 8), d.number(1, 9)), (2, 4, 6))
    x = d.x((1, *size, c))
    w = d.weights((o, *taps, c // groups), 0, x)
    y = d.y((1, *_out(d, taps, size, options), o))
    d.op("CONV_2D", [x, *w], [y], "Conv2DOptions", **options)


@case(kinds="int8 int4 int16 float32")
def depthwise_conv_2d(d: Draw) -> None:
    taps, size, options = _window(d)
    c, times = d.number(1, 9), d.one(1, 1, 2, 3)
    x = d.x((1, *size, c))
    w = d.weights((1, *taps, c * times), 3, x)
    y = d.y((1, *_out(d, taps, size, options), c * times))
    options["depth_multiplier"] = times
    d.op("DEPTHWISE_CONV_2D", [x, *w], [y], "DepthwiseConv2DOptions", **options)


@case(kinds="int8 int16 float32")
def transpose_conv(d: Draw) -> None:
    taps, size, o = _window(d, 5)
    same, step = o["padding"] == 0, o["stride_h"]
    out = [n * step if same else (n - 1) * step + k for n, k in zip(size, taps, strict=True)]
    c, outputs = d.number(1, 5), d.number(1, 6)
    shape = (1, out[0], out[1], outputs)
    x = d.x((1, *size, c))
    w = d.weights((outputs, *taps, c), 0, x)
    options = {k: o[k] for k in ("padding", "stride_h", "stride_w")}
    d.op(
        "TRANSPOSE_CONV",
        [d.ints(*shape), w[0], x, *w[1:]],
        [d.y(shape)],
        "TransposeConvOptions",
        **options,
    )


@case(kinds="int8 int4 int16 float32")
def fully_connected(d: Draw) -> None:
    n, k, o = d.number(1, 4), d.number(1, 20), d.number(1, 9)
    x = d.x((n, k))
    w = d.weights((o, k), 0, x)
    d.op(
        "FULLY_CONNECTED",
        [x, *w],
        [d.y((n, o))],
        "FullyConnectedOptions",
        fused_activation_function=d.fused,
    )


@case(kinds="int8 int16 float32")
def batch_matmul(d: Draw) -> None:
    b, m, k, n = (d.number(1, 6) for _ in range(4))
    adj_x, adj_y = d.one(0, 1), d.one(0, 1)
    left = (b, k, m) if adj_x else (b, m, k)
    right = (d.one(b, 1), *((n, k) if adj_y else (k, n)))
    # What exceeds 32 bits after it was scaled, TFLM cuts off.
    large = {"scale": 0.1} if d.kind == "int16" else {}
    operands = [d.x(left), d.x(right)]
    options = {"adj_x": adj_x, "adj_y": adj_y}
    d.op("BATCH_MATMUL", operands, [d.y((b, m, n), **large)], "BatchMatMulOptions", **options)


@case("ADD", "SUB", "MUL", kinds="int8 int16 float32")
@case("ADD", "SUB", "MUL", kinds="int32")
@case("DIV", kinds="float32")
@case("SQUARED_DIFFERENCE", kinds="int8 int16")
def binary(d: Draw) -> None:
    shape = d.shape()
    other = tuple(d.one(n, n, 1) for n in shape)[d.one(0, 0, len(shape) // 2) :]
    more = (
        {}
        if d.name == "SQUARED_DIFFERENCE" or d.kind == "int32"
        else {"fused_activation_function": d.fused}
    )
    x = d.x(shape)
    operands = [x, d.x(other, **d.one({}, d.like(x)))][:: d.one(1, -1)]
    d.inputs[:] = operands
    wide = d.name == "SQUARED_DIFFERENCE" and d.kind == "int16"  # squares of 16 bits have 30
    y = d.y(shape, **({"scale": d.scale * d.one(1, 500, 4000)} if wide else {}))
    d.op(d.name, operands, [y], options_of(d.name), **more)


@case("MINIMUM", "MAXIMUM", kinds="int8 int16 int32 float32")
def extremum(d: Draw) -> None:
    shape = d.shape()
    x = d.x(shape)
    z = d.x(tuple(d.one(n, 1) for n in shape), **d.like(x))
    d.op(d.name, [x, z], [d.y(shape, **d.like(x))], "MaximumMinimumOptions")


@case("AVERAGE_POOL_2D", "MAX_POOL_2D", kinds="int8 int16 float32")
def pool(d: Draw) -> None:
    taps, size, o = _window(d)
    keys = ("padding", "stride_h", "stride_w", "fused_activation_function")
    options = {**{k: o[k] for k in keys}, "filter_height": taps[0], "filter_width": taps[1]}
    c = d.number(1, 9)
    x = d.x((1, *size, c))
    y = d.y((1, *_out(d, taps, size, options), c), **d.like(x))
    d.op(d.name, [x], [y], "Pool2DOptions", **options)


@case(kinds="int8 int16 float32")
def svdf(d: Draw) -> None:
    """Of int8 codes as well where filters and what is kept are int16."""
    kept = d.kind
    d.kind = "float32" if kept == "float32" else "int8"
    rank, units, memory, n, inputs = (d.number(1, most) for most in (3, 6, 5, 2, 9))
    filters = rank * units
    shapes = (filters, inputs), (filters, memory)
    if d.kind == "int8":
        weights = [
            d.file.constant(d.random.integers(-127, 128, s).astype(np.int8), scale=d.scale / 10)
            for s in shapes
        ]
        if kept == "int16":
            wide = d.random.integers(-9000, 9000, shapes[1]).astype(np.int16)
            weights[1] = d.file.constant(wide, scale=d.scale / 1000)
        data = d.random.integers(-900, 900, units).astype(np.int32)
        scale = float(np.float32(d.like(weights[1])["scale"][0])) * 0.05
        bias = d.file.constant(data, scale=scale)
    else:
        weights = [d.file.constant(d.random.normal(size=s).astype(np.float32)) for s in shapes]
        bias = d.file.constant(d.random.normal(size=units).astype(np.float32))
    fixed = {"scale": 0.05} if d.kind == "int8" else {}
    if kept == "int16":
        fixed = {"scale": 0.05 / 32, "zero": 0, "kind": kept}
    state = d.coded((n, filters * memory), is_variable=1, **fixed)
    x, y = d.x((n, inputs)), d.y((n, units))
    options = {"rank": rank, "fused_activation_function": FUSED["RELU"]}
    d.op("SVDF", [x, *weights, bias, state], [y], "SVDFOptions", **options)


@case(kinds="int8")
def unidirectional_sequence_lstm(d: Draw) -> None:
    steps, n, inputs, hidden = (d.number(1, most) for most in (5, 2, 9, 7))
    time_major = d.one(0, 1)
    order = (steps, n) if time_major else (n, steps)
    shapes = [(hidden, inputs)] * 4 + [(hidden, hidden)] * 4
    weights = [
        d.file.constant(d.random.integers(-127, 128, s).astype(np.int8), scale=d.scale / 6)
        for s in shapes
    ]
    biases = [
        d.file.constant(d.random.integers(-9000, 9000, hidden).astype(np.int32), scale=1e-4)
        for _ in range(4)
    ]
    x, y = (
        d.x((*order, inputs)),
        d.y((*order, hidden), scale=float(np.float32(1 / d.number(90, 128)))),
    )
    h = d.coded((n, hidden), is_variable=1, **d.like(y))
    cell = {"kind": "int16", "scale": 2.0 ** -d.number(9, 14), "zero": 0}
    c = d.coded((n, hidden), is_variable=1, **cell)
    options = {"time_major": time_major, "cell_clip": d.one(0.0, 0.0, 1.5)}
    d.op(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [x, *weights, -1, -1, -1, *biases, -1, -1, h, c, -1, -1, -1, -1],
        [y],
        "UnidirectionalSequenceLSTMOptions",
        fused_activation_function=FUSED["TANH"],
        **options,
    )
