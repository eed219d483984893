# SPDX-License-Identifier: Apache-2.0
"""Files of a function of one operand, a reduction, a comparison, a conversion."""

from __future__ import annotations

import numpy as np

from tests.litert.draw import Draw, case, options_of, values
from tests.litert.files import ENUMS


@case(
    *"CEIL COS FLOOR NEG ROUND SIN".split(),
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
@case("ABS", kinds="int8 int16")
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


@case("LOGISTIC", "TANH", kinds="int8 int16")
def sigmoid(d: Draw) -> None:
    fixed = (
        {"scale": 1 / 256, "zero": -128} if d.name == "LOGISTIC" else {"scale": 1 / 128, "zero": 0}
    )
    x = {}
    if d.kind == "int16":
        fixed = {"scale": 2.0**-15}
        x = {
            "scale": d.one(2.0**-12, 2.0**-11, 2.0**-13, d.scale, d.scale / 100, d.scale / 1e5, 2.0)
        }
    d.op(d.name, [d.x((1, 256), **x)], [d.y((1, 256), **fixed)])


@case(kinds="int8 int16 float32")
def leaky_relu(d: Draw) -> None:
    shape = (1, 256) if d.kind == "int8" else d.shape()
    alpha = float(np.float32(d.random.uniform(-1, 1.5)))
    d.op("LEAKY_RELU", [d.x(shape)], [d.y(shape)], "LeakyReluOptions", alpha=alpha)


@case(kinds="int8 int16")
def relu6(d: Draw) -> None:
    x = d.x((1, 256))
    d.op("RELU6", [x], [d.y((1, 256), **d.like(x))])


@case(kinds="int8 int16 float32")
def prelu(d: Draw) -> None:
    shape = d.shape(4)
    data = d.random.normal(size=shape[3:]).astype(np.float32)
    if d.kind != "float32":
        codes, zero = d.random.integers(-128, 128, shape[3:]), d.number(-128, 127)
        alpha = d.file.constant(codes.astype(np.int8), scale=d.scale, zero=zero)
    else:
        alpha = d.file.constant(data)
    d.op("PRELU", [d.x(shape), alpha], [d.y(shape)])


@case(kinds="int8 int16 float32")
def softmax(d: Draw) -> None:
    shape = (d.number(1, 4), d.number(1, 40))
    fixed = {"int8": {"scale": 1 / 256, "zero": -128}, "int16": {"scale": 2.0**-15}}
    own = {"scale": d.scale / d.one(1, 100, 1000)} if d.kind == "int16" else {}
    x, y = d.x(shape, **own), d.y(shape, **fixed.get(d.kind, {}))
    d.op("SOFTMAX", [x], [y], "SoftmaxOptions", beta=d.one(1.0, 1.0, 0.5))


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
    d.op(d.name, [x, z], [d.y(shape, kind="bool", scale=None)], options_of(d.name))


@case("LOGICAL_AND", "LOGICAL_OR", kinds="bool")
def logical(d: Draw) -> None:
    shape = d.shape()
    d.op(d.name, [d.x(shape), d.x(shape)], [d.y(shape)], options_of(d.name))


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


@case(kinds="int8 int16 uint8")
def dequantize(d: Draw) -> None:
    shape = d.shape()
    x = d.x(shape, scale=d.scale, zero=d.number(0, 255) if d.kind == "uint8" else d.zero)
    d.op("DEQUANTIZE", [x], [d.y(shape, kind="float32", scale=None)], "DequantizeOptions")


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
