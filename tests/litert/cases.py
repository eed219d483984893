# SPDX-License-Identifier: Apache-2.0
"""Files of one operator, with random shapes, scales, zero points and activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cortexm_tools.ir import Array

from tests.litert.files import ENUMS, File

FUSED = ENUMS["ActivationFunctionType"]
Case = Callable[["Draw"], None]


@dataclass
class Draw:
    """A file under construction, and what is random about it."""

    random: np.random.Generator
    name: str
    kind: str
    bits: int
    file: File
    inputs: list[int]
    outputs: list[int]

    def one(self, *values: Any) -> Any:
        return values[self.random.integers(len(values))]

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = rank or self.number(1, 4)
        return tuple(self.number(1, 6) for _ in range(rank))

    @property
    def scale(self) -> float:
        return float(np.float32(self.random.uniform(0.005, 0.12)))

    @property
    def zero(self) -> int:
        return 0 if self.kind == "int16" else self.number(-128, 127)

    def coded(self, shape: tuple[int, ...], **more: Any) -> int:
        """A tensor that is computed."""
        if self.kind in ("int8", "int16"):
            more = {"scale": self.scale, "zero": self.zero, **more}
        return self.file.tensor(shape, more.pop("kind", self.kind), **more)

    def x(self, shape: tuple[int, ...], **more: Any) -> int:
        """An input."""
        self.inputs.append(self.coded(shape, **more))
        return self.inputs[-1]

    def y(self, shape: tuple[int, ...], **more: Any) -> int:
        """An output."""
        self.outputs.append(self.coded(shape, **more))
        return self.outputs[-1]

    def ints(self, *values: int) -> int:
        return self.file.constant(np.array(values, np.int32))

    def like(self, index: int) -> dict[str, Any]:
        """The quantization of a tensor."""
        found = self.file.graphs[-1]["tensors"][index].get("quantization")
        return {"scale": found["scale"], "zero": found["zero_point"]} if found else {}

    @property
    def fused(self) -> int:
        return FUSED[self.one("NONE", "RELU", "RELU6", "RELU_N1_TO_1")]

    def weights(self, shape: tuple[int, ...], axis: int, x: int) -> list[int]:
        """Weights, and a bias or none."""
        random, count = self.random, shape[axis]
        # TFLM takes no matrices of int4 with a scale for each row.
        per_channel = self.one(True, False) and (self.bits, self.name) != (4, "FULLY_CONNECTED")
        if self.kind == "float32":
            data = random.normal(size=shape).astype(np.float32)
            bias = random.normal(size=count).astype(np.float32)
            return [self.file.constant(each) for each in self.one([data], [data, bias])]
        scales = random.uniform(0.001, 0.02, count if per_channel else 1).astype(np.float32)
        data = random.integers(-127, 128, shape).astype(np.int8)
        wide = np.dtype(np.int64 if self.kind == "int16" else np.int32)
        bias = random.integers(-3000, 3000, count).astype(wide)
        own = float(self.like(x)["scale"][0])
        if self.bits == 4:
            data = data.astype(np.int16) * 7 // 127
            codes = np.append(data.reshape(-1), 0)[: -(-data.size // 2) * 2].astype(np.uint8) & 15
            packed = (codes[::2] | codes[1::2] << 4).tobytes()
            w = self.file.tensor(shape, "int4", scales, 0, packed, axis)
        else:
            zero = 0
            if self.name == "FULLY_CONNECTED" and self.kind == "int8" and not per_channel:
                zero = self.number(-9, 9)
            w = self.file.constant(data, scale=scales, zero=zero, axis=axis)
        return self.one([w], [w, self.file.constant(bias, scale=scales * own)])

    def op(
        self, name: str, inputs: list[int], outputs: list[int], table: str = "", **options: Any
    ) -> None:
        self.file.operator(name, inputs, outputs, table, **options)

    def row(self) -> tuple[Array, ...]:
        """One call's inputs."""
        tensors = [self.file.graphs[0]["tensors"][i] for i in self.inputs]
        return tuple(values(self.random, t["shape"], t["type"]) for t in tensors)


_RANGES = {
    "INT8": (-128, 128, "i1"),
    "INT16": (-32768, 32768, "i2"),
    "UINT8": (0, 256, "u1"),
    "INT32": (-1000, 1000, "i4"),
    "INT64": (-1000, 1000, "i8"),
    "BOOL": (0, 2, "?"),
}
_NAMES = {number: name for name, number in ENUMS["TensorType"].items()}


def values(random: np.random.Generator, shape: list[int], kind: int) -> Array:
    if _NAMES[kind] == "FLOAT32":
        return random.normal(size=shape, scale=2.0).astype(np.float32)
    low, high, dtype = _RANGES[_NAMES[kind]]
    return random.integers(low, high, shape).astype(dtype)


CASES: dict[str, tuple[Case, str]] = {}
"""What makes a file, and the type of its tensors."""


def case(*names: str, kinds: str = "int8") -> Callable[[Case], Case]:
    def register(function: Case) -> Case:
        for name in names or (function.__name__.upper(),):
            for kind in kinds.split():
                CASES[f"{name} {kind}"] = function, kind
        return function

    return register


def made(name: str, seed: int) -> Draw:
    """The file of a case; its operator is in the case's name."""
    function, kind = CASES[name]
    bits, kind = (4, "int8") if kind == "int4" else (8, kind)
    random = np.random.default_rng([seed, *name.encode()])
    draw = Draw(random, name.split()[0], kind, bits, File(), [], [])
    function(draw)
    return draw


def _options(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_")) + "Options"


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
    right = (b, n, k) if adj_y else (b, k, n)
    # What exceeds 32 bits after it was scaled, TFLM cuts off.
    large = {"scale": 0.1} if d.kind == "int16" else {}
    operands = [d.x(left), d.x(right)]
    options = {"adj_x": adj_x, "adj_y": adj_y}
    d.op("BATCH_MATMUL", operands, [d.y((b, m, n), **large)], "BatchMatMulOptions", **options)


@case("ADD", "SUB", "MUL", kinds="int8 int16 float32")
@case("ADD", "SUB", "MUL", kinds="int32")
@case("DIV", kinds="float32")
@case("SQUARED_DIFFERENCE")
def binary(d: Draw) -> None:
    shape = d.shape()
    other = tuple(d.one(n, n, 1) for n in shape)[d.one(0, 0, len(shape) // 2) :]
    more = (
        {}
        if d.name == "SQUARED_DIFFERENCE" or d.kind == "int32"
        else {"fused_activation_function": d.fused}
    )
    operands = [d.x(shape), d.x(other)][:: d.one(1, -1)]
    d.inputs[:] = operands
    d.op(d.name, operands, [d.y(shape)], _options(d.name), **more)


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


_PLAIN = "CEIL COS FLOOR NEG ROUND SIN"


@case(
    *_PLAIN.split(),
    "LOG",
    "EXP",
    "ELU",
    "SQUARE",
    "LOGISTIC",
    "TANH",
    "HARD_SWISH",
    "RELU",
    "RELU6",
    "ABS",
    kinds="float32",
)
@case("ELU", "RELU", "HARD_SWISH")
@case("RELU", kinds="int16")
@case("ABS")
def unary(d: Draw) -> None:
    shape = (1, 256) if d.kind == "int8" else d.shape()
    table = {"HARD_SWISH": "HardSwishOptions", "EXP": "ExpOptions", "ABS": "AbsOptions"}
    name = d.name
    x, y = d.x(shape), d.y(shape)
    d.op(name, [x], [y], table.get(name, ""))


@case("RSQRT", "SQRT", kinds="float32")
@case("RSQRT")
def root(d: Draw) -> None:
    """Of positive numbers."""
    shape = (1, 256) if d.kind == "int8" else d.shape()
    x = d.x(shape, zero=-128) if d.kind == "int8" else d.x(shape)
    if d.kind == "int8":
        d.op(d.name, [x], [d.y(shape)])
        return
    inner = d.coded(shape)
    d.op("SQUARE", [x], [inner])
    d.op(d.name, [inner], [d.y(shape)])


@case("LOGISTIC", "TANH", kinds="int8")
def sigmoid(d: Draw) -> None:
    fixed = (
        {"scale": 1 / 256, "zero": -128} if d.name == "LOGISTIC" else {"scale": 1 / 128, "zero": 0}
    )
    d.op(d.name, [d.x((1, 256))], [d.y((1, 256), **fixed)])


@case(kinds="int8 int16 float32")
def leaky_relu(d: Draw) -> None:
    shape = (1, 256) if d.kind == "int8" else d.shape()
    alpha = float(np.float32(d.random.uniform(-1, 1.5)))
    d.op("LEAKY_RELU", [d.x(shape)], [d.y(shape)], "LeakyReluOptions", alpha=alpha)


@case(kinds="int8 int16")
def relu6(d: Draw) -> None:
    x = d.x((1, 256))
    d.op("RELU6", [x], [d.y((1, 256), **d.like(x))])


@case(kinds="int8 float32")
def prelu(d: Draw) -> None:
    shape = d.shape(4)
    data = d.random.normal(size=shape[3:]).astype(np.float32)
    if d.kind == "int8":
        alpha = d.file.constant(
            d.random.integers(-128, 128, shape[3:]).astype(np.int8), scale=d.scale, zero=d.zero
        )
    else:
        alpha = d.file.constant(data)
    d.op("PRELU", [d.x(shape), alpha], [d.y(shape)])


@case(kinds="int8 float32")
def softmax(d: Draw) -> None:
    shape = (d.number(1, 4), d.number(1, 40))
    fixed = {"scale": 1 / 256, "zero": -128} if d.kind == "int8" else {}
    beta = d.one(1.0, 1.0, 0.5)
    d.op("SOFTMAX", [d.x(shape)], [d.y(shape, **fixed)], "SoftmaxOptions", beta=beta)


@case(kinds="float32")
def log_softmax(d: Draw) -> None:
    shape = d.shape(2)
    d.op("LOG_SOFTMAX", [d.x(shape)], [d.y(shape)], "LogSoftmaxOptions")


def _axes(d: Draw, rank: int) -> list[int]:
    return sorted({d.number(0, rank - 1) for _ in range(d.number(1, rank))})


@case("MEAN", kinds="int8 float32")
@case("SUM", kinds="int8 float32")
@case("REDUCE_MAX", "REDUCE_MIN", kinds="int8 float32")
def reduction(d: Draw) -> None:
    shape = d.shape(d.number(2, 4))
    axes, keep = _axes(d, len(shape)), d.one(0, 1)
    out = tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
    x = d.x(shape)
    y = d.y(out, **(d.like(x) if d.name.startswith("REDUCE") else {}))
    d.op(d.name, [x, d.ints(*axes)], [y], "ReducerOptions", keep_dims=keep)


@case("ARG_MAX", "ARG_MIN", kinds="int8 float32")
def place(d: Draw) -> None:
    shape = d.shape(d.number(2, 4))
    axis = d.number(0, len(shape) - 1)
    y = d.y(shape[:axis] + shape[axis + 1 :], kind="int32", scale=None)
    options = {"output_type": ENUMS["TensorType"]["INT32"]}
    d.op(
        d.name,
        [d.x(shape), d.ints(axis)],
        [y],
        f"Arg{d.name[4:].capitalize()}Options",
        **options,
    )


@case(kinds="float32")
def cumsum(d: Draw) -> None:
    shape = (*d.shape(2), d.number(2, 5))
    d.op(
        "CUMSUM",
        [d.x(shape), d.ints(d.number(0, 2) if shape[0] > 1 < shape[1] else 2)],
        [d.y(shape)],
        "CumsumOptions",
        exclusive=d.one(0, 1),
        reverse=d.one(0, 1),
    )


@case("PAD", "PADV2", kinds="int8 int16 float32")
def pad(d: Draw) -> None:
    shape = d.shape(4)
    around = d.random.integers(0, 3, (4, 2)).astype(np.int32)
    x = d.x(shape)
    operands = [x, d.file.constant(around)]
    if d.name == "PADV2":
        value = values(d.random, [1], d.file.graphs[0]["tensors"][x]["type"])
        operands.append(d.file.constant(value, **d.like(x)))
    out = tuple(n + int(a.sum()) for n, a in zip(shape, around, strict=True))
    d.op(
        d.name,
        operands,
        [d.y(out, **d.like(x))],
        "PadOptions" if d.name == "PAD" else "PadV2Options",
    )


@case(kinds="int8 float32")
def mirror_pad(d: Draw) -> None:
    shape = tuple(n + 2 for n in d.shape(d.number(2, 4)))
    around = d.random.integers(0, 3, (len(shape), 2)).astype(np.int32)
    x = d.x(shape)
    out = tuple(n + int(a.sum()) for n, a in zip(shape, around, strict=True))
    d.op(
        "MIRROR_PAD",
        [x, d.file.constant(around)],
        [d.y(out, **d.like(x))],
        "MirrorPadOptions",
        mode=d.one(0, 1),
    )


@case("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
def view(d: Draw) -> None:
    shape, name = d.shape(3), d.name
    more = (1, *shape[:2], *shape[2:])
    source, target = (more, shape) if name == "SQUEEZE" else (shape, more)
    x = d.x(source)
    operands = {"SQUEEZE": [], "EXPAND_DIMS": [d.ints(0)], "RESHAPE": [d.ints(*target)]}[name]
    options = (
        {"squeeze_dims": [0]}
        if name == "SQUEEZE"
        else {"new_shape": list(target)}
        if name == "RESHAPE"
        else {}
    )
    d.op(name, [x, *operands], [d.y(target, **d.like(x))], _options(name), **options)


@case(kinds="int8 float32")
def transpose(d: Draw) -> None:
    shape = d.shape()
    perm = [int(n) for n in d.random.permutation(len(shape))]
    x = d.x(shape)
    y = d.y(tuple(shape[n] for n in perm), **d.like(x))
    d.op("TRANSPOSE", [x, d.ints(*perm)], [y], "TransposeOptions")


@case(kinds="int8 int16 float32")
def concatenation(d: Draw) -> None:
    shape, count = d.shape(3), d.number(2, 4)
    axis = d.number(0, 2)
    sizes = [d.number(1, 4) for _ in range(count)]
    like: dict[str, Any] = {}
    for size in sizes:
        x = d.x((*shape[:axis], size, *shape[axis + 1 :]), **like)
        like = d.like(x)
    y = d.y((*shape[:axis], sum(sizes), *shape[axis + 1 :]), **like)
    d.op("CONCATENATION", list(d.inputs), [y], "ConcatenationOptions", axis=d.one(axis, axis - 3))


@case("SPLIT", "SPLIT_V", kinds="int8 float32")
def split(d: Draw) -> None:
    shape, axis, count = list(d.shape(3)), d.number(0, 2), d.number(1, 3)
    sizes = [d.number(1, 3) for _ in range(count)]
    sizes = sizes if d.name == "SPLIT_V" else [sizes[0]] * count
    shape[axis] = sum(sizes)
    x = d.x(tuple(shape))
    for size in sizes:
        d.y((*shape[:axis], size, *shape[axis + 1 :]), **d.like(x))
    operands = [d.ints(axis), x] if d.name == "SPLIT" else [x, d.ints(*sizes), d.ints(axis)]
    table = "SplitOptions" if d.name == "SPLIT" else "SplitVOptions"
    d.op(d.name, operands, list(d.outputs), table, num_splits=count)


@case(kinds="int8 float32")
def pack(d: Draw) -> None:
    shape, count = d.shape(2), d.number(1, 3)
    axis = d.number(0, 2)
    like: dict[str, Any] = {}
    for _ in range(count):
        like = d.like(d.x(shape, **like))
    y = d.y((*shape[:axis], count, *shape[axis:]), **like)
    d.op("PACK", list(d.inputs), [y], "PackOptions", axis=axis, values_count=count)


@case(kinds="int8 float32")
def unpack(d: Draw) -> None:
    shape, axis = d.shape(3), d.number(0, 2)
    x = d.x(shape)
    for _ in range(shape[axis]):
        d.y(shape[:axis] + shape[axis + 1 :], **d.like(x))
    d.op("UNPACK", [x], list(d.outputs), "UnpackOptions", axis=axis, num=shape[axis])


@case("SLICE", kinds="int8 float32")
def part(d: Draw) -> None:
    shape = d.shape(d.number(1, 4))
    begin = [d.number(0, n - 1) for n in shape]
    size = [d.number(1, n - b) for n, b in zip(shape, begin, strict=True)]
    x = d.x(shape)
    d.op(
        "SLICE", [x, d.ints(*begin), d.ints(*size)], [d.y(tuple(size), **d.like(x))], "SliceOptions"
    )


@case(kinds="int8 float32")
def strided_slice(d: Draw) -> None:
    shape = d.shape(d.number(1, 4))
    steps = [d.one(1, 2, -1) for _ in shape]
    begin = [d.number(0, n - 1) for n in shape]
    end = [
        d.number(b + 1, n) if s > 0 else b - 1 for n, b, s in zip(shape, begin, steps, strict=True)
    ]
    end = [e if e >= 0 else -n - 1 for e, n in zip(end, shape, strict=True)]
    shrink = d.number(0, 2 ** len(shape) - 1) if d.one(0, 1) and min(steps) > 0 else 0
    out = [
        len(range(n)[slice(b, e, s)])
        for a, (n, b, e, s) in enumerate(zip(shape, begin, end, steps, strict=True))
        if not shrink >> a & 1
    ]
    x = d.x(shape)
    operands = [x, d.ints(*begin), d.ints(*end), d.ints(*steps)]
    d.op(
        "STRIDED_SLICE",
        operands,
        [d.y(tuple(out), **d.like(x))],
        "StridedSliceOptions",
        shrink_axis_mask=shrink,
    )


@case(kinds="int8 float32")
def gather(d: Draw) -> None:
    shape, axis, count = d.shape(3), d.number(0, 2), d.number(1, 4)
    x = d.x(shape)
    places = d.ints(*(d.number(0, shape[axis] - 1) for _ in range(count)))
    y = d.y((*shape[:axis], count, *shape[axis + 1 :]), **d.like(x))
    d.op("GATHER", [x, places], [y], "GatherOptions", axis=axis)


@case(kinds="int8 float32")
def gather_nd(d: Draw) -> None:
    shape, count, depth = d.shape(3), d.number(1, 4), d.number(1, 3)
    rows = [[d.number(0, n - 1) for n in shape[:depth]] for _ in range(count)]
    x = d.x(shape)
    index = d.file.constant(np.array(rows, np.int32))
    d.op("GATHER_ND", [x, index], [d.y((count, *shape[depth:]), **d.like(x))], "GatherNdOptions")


@case(kinds="int8 float32")
def broadcast_to(d: Draw) -> None:
    shape = d.shape(3)
    x = d.x(tuple(d.one(n, 1) for n in shape))
    d.op("BROADCAST_TO", [x, d.ints(*shape)], [d.y(shape, **d.like(x))], "BroadcastToOptions")


@case("RESIZE_BILINEAR", kinds="int8 float32")
@case("RESIZE_NEAREST_NEIGHBOR", kinds="int8 float32")
def resize(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    mode = d.one({}, {"half_pixel_centers": 1}, {"align_corners": 1})
    size = d.number(1, 9), d.number(1, 9)
    if d.name == "RESIZE_BILINEAR" and d.kind == "int8":
        one = int("align_corners" in mode)
        h, w = (max(n, 1 + one) for n in (h, w))
        size = d.one(1, 2, 4, 8) * (h - one) + one, d.one(1, 2, 4) * (w - one) + one
    x = d.x((n, h, w, c))
    table = {
        "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
        "RESIZE_BILINEAR": "ResizeBilinearOptions",
    }
    d.op(d.name, [x, d.ints(*size)], [d.y((n, *size, c), **d.like(x))], table[d.name], **mode)


@case(kinds="int8 float32")
def svdf(d: Draw) -> None:
    rank, units, memory, n, inputs = (d.number(1, most) for most in (3, 6, 5, 2, 9))
    filters = rank * units
    shapes = (filters, inputs), (filters, memory)
    if d.kind == "int8":
        weights = [
            d.file.constant(d.random.integers(-127, 128, s).astype(np.int8), scale=d.scale / 10)
            for s in shapes
        ]
        data = d.random.integers(-900, 900, units).astype(np.int32)
        scale = float(np.float32(d.like(weights[1])["scale"][0])) * 0.05
        bias = d.file.constant(data, scale=scale)
    else:
        weights = [d.file.constant(d.random.normal(size=s).astype(np.float32)) for s in shapes]
        bias = d.file.constant(d.random.normal(size=units).astype(np.float32))
    fixed = {"scale": 0.05} if d.kind == "int8" else {}
    state = d.coded((n, filters * memory), is_variable=1, **fixed)
    x, y = d.x((n, inputs)), d.y((n, units))
    options = {"rank": rank, "fused_activation_function": FUSED["RELU"]}
    d.op("SVDF", [x, *weights, bias, state], [y], "SVDFOptions", **options)


@case("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", kinds="int8 float32")
def blocks(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    k = d.number(1, 3)
    small, large = (n, h, w, c * k * k), (n, h * k, w * k, c)
    source, target = (small, large) if d.name == "DEPTH_TO_SPACE" else (large, small)
    x = d.x(source)
    d.op(d.name, [x], [d.y(target, **d.like(x))], _options(d.name), block_size=k)


@case("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", kinds="int8 float32")
def batches(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    k = d.number(1, 3), d.number(1, 3)
    # TFLM pads with what lies in memory.
    most = 1 if d.name == "SPACE_TO_BATCH_ND" else 2
    around = d.random.integers(0, most, (2, 2)).astype(np.int32)
    rows, columns = h * k[0] + 3 * k[0], w * k[1] + 3 * k[1]
    apart = (n * math.prod(k), rows // k[0], columns // k[1], c)
    whole = (n, rows - int(around[0].sum()), columns - int(around[1].sum()), c)
    source, target = (whole, apart) if d.name == "SPACE_TO_BATCH_ND" else (apart, whole)
    x = d.x(source)
    operands = [x, d.ints(*k), d.file.constant(around)]
    table = {"S": "SpaceToBatchNDOptions", "B": "BatchToSpaceNDOptions"}[d.name[0]]
    d.op(d.name, operands, [d.y(target, **d.like(x))], table)


@case(
    "EQUAL",
    "NOT_EQUAL",
    "LESS",
    "LESS_EQUAL",
    "GREATER",
    "GREATER_EQUAL",
    kinds="int8 int32 float32",
)
def compare(d: Draw) -> None:
    shape = d.shape()
    x = d.x(shape)
    if d.one(True, False):
        z = d.x(shape, **d.like(x))
    else:
        value = values(d.random, [1], d.file.graphs[0]["tensors"][x]["type"])
        z = d.file.constant(
            value, **({"scale": d.scale, "zero": d.zero} if d.kind == "int8" else {})
        )
    d.op(d.name, [x, z], [d.y(shape, kind="bool", scale=None)], _options(d.name))


@case("LOGICAL_AND", "LOGICAL_OR", kinds="bool")
def logical(d: Draw) -> None:
    shape = d.shape()
    d.op(d.name, [d.x(shape), d.x(shape)], [d.y(shape)], _options(d.name))


@case(kinds="bool")
def logical_not(d: Draw) -> None:
    shape = d.shape()
    d.op("LOGICAL_NOT", [d.x(shape)], [d.y(shape)], "LogicalNotOptions")


@case(kinds="int8 float32")
def select_v2(d: Draw) -> None:
    shape = d.shape(3)
    condition = d.x(shape, kind="bool", scale=None)
    x = d.x(shape)
    z = d.x(tuple(d.one(n, 1) for n in shape), **d.like(x))
    d.op("SELECT_V2", [condition, x, z], [d.y(shape, **d.like(x))], "SelectV2Options")


@case()
def quantize(d: Draw) -> None:
    source, target = d.one(
        ("float32", "int8"),
        ("int8", "int8"),
        ("int16", "int8"),
        ("int8", "int16"),
        ("int16", "int16"),
        ("float32", "int16"),
        ("uint8", "int8"),
        ("int8", "uint8"),
    )
    zeros = {"int8": d.zero, "int16": 0, "uint8": d.number(0, 255)}
    shape = (1, 256)
    x = d.x(
        shape, kind=source, **({"scale": None} if source == "float32" else {"zero": zeros[source]})
    )
    d.op("QUANTIZE", [x], [d.y(shape, kind=target, zero=zeros[target])], "QuantizeOptions")


@case(kinds="int8 int16")
def dequantize(d: Draw) -> None:
    shape = d.shape()
    d.op("DEQUANTIZE", [d.x(shape)], [d.y(shape, kind="float32", scale=None)], "DequantizeOptions")


@case(kinds="int8")
def cast(d: Draw) -> None:
    source, target = d.one(
        ("int8", "float32"),
        ("int32", "float32"),
        ("int8", "int32"),
        ("int32", "int8"),
        ("int32", "int16"),
    )
    shape = d.shape()
    x = d.x(shape, kind=source, scale=None)
    d.op("CAST", [x], [d.y(shape, kind=target, scale=None)], "CastOptions")
