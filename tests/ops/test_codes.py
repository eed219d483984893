# SPDX-License-Identifier: Apache-2.0
"""Operators on codes whose fields, extents and operands go to the borders of what is allowed: the scalar
kernels give what the operators say. `tests/kernels` compares all others, and the references, with these."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Attrs, DType, Graph, Rescale, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.wide import softmax_multiplier
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.data_graphs import DataNet, data_inputs
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor

S8, S16, S32, S64, F32 = DType.S8, DType.S16, DType.S32, DType.S64, DType.F32
CASES = 120


class Draw(DataNet):
    """Fields of operators on codes of one type."""

    def __init__(self, seed: int) -> None:
        super().__init__("drawn", seed)
        self.codes_of = (S8, S16)[seed % 2]
        self.is_s16 = self.codes_of is S16

    def among(self, *values: int) -> int:
        return values[self.pick(0, len(values) - 1)]

    def code(self) -> int:
        low, high = self.codes_of.limits
        return self.among(low, low + 1, -1, 0, 1, high, *(self.pick(low, high) for _ in range(6)))

    def zero_point(self) -> int:
        return 0 if self.is_s16 else self.code()

    def clamp(self) -> tuple[int, int]:
        low, high = sorted((self.code(), self.code()))
        return low, high

    def rescale(self, low: int, high: int) -> Rescale:
        """Shifts in [low, high]; of int16 codes any multiplier."""
        least = 0 if self.is_s16 else 2**30
        multiplier = self.among(2**30, 2**31 - 1, *(self.pick(least, 2**31 - 1) for _ in range(6)))
        return Rescale(multiplier, self.pick(low, high))

    def pair(self, low: int, high: int) -> tuple[int, int]:
        return self.pick(low, high), self.pick(low, high)

    def image(self, channels: int) -> int:
        return self.input((self.pick(1, 3), channels, *self.pair(1, 6)), self.codes_of)

    def bias(self, count: int) -> int:
        """Of int16 codes also with sums beyond 32 bits."""
        if self.is_s16 and self.pick(0, 1):
            return self.constant(self.random.integers(-(2**46), 2**46, count), S64)
        bound = 2**30 if self.is_s16 else 2**16
        return self.constant(self.random.integers(-bound, bound, count), S32)

    def rescales(self, count: int) -> tuple[Rescale, ...]:  # type: ignore[override]
        return tuple(self.rescale(*((-31, 14) if self.is_s16 else (-12, -4))) for _ in range(count))

    def windows(self, x: int) -> tuple[Window, tuple[int, int]]:
        """Windows that may lie in the padding, and how many there are."""
        kernel, stride, dilation = (self.pair(1, 3) for _ in range(3))
        reach = Window(kernel, stride, (0,) * 4, dilation).reach
        before = [self.pick(0, r) for r in reach]
        after = [
            self.pick(max(0, r - b - size), r)
            for r, b, size in zip(reach, before, self.shape(x)[2:], strict=True)
        ]
        window = Window(kernel, stride, (*before, *after), dilation)
        rows, columns = (
            (b + size + a - r) // s + 1
            for b, size, a, r, s in zip(
                before, self.shape(x)[2:], after, reach, stride, strict=True
            )
        )
        return window, (rows, columns)


def convolution(net: Draw) -> int:
    groups, each = net.pick(1, 3), net.among(1, 3, 4, 5, 16, 17)
    outputs = groups * net.among(1, 2, 4, 5, 8, 9)
    x = net.image(groups * each)
    window, sizes = net.windows(x)
    weight = net.codes(outputs, *window.kernel, each)
    zero_points = net.zero_point(), net.zero_point()
    attrs = ops.Conv2d(window, *zero_points, net.rescales(outputs), *net.clamp(), groups=groups)
    return net.add(attrs, [x, weight, net.bias(outputs)], (net.shape(x)[0], outputs, *sizes))


def depthwise(net: Draw) -> int:
    channels = net.among(1, 3, 4, 5, 16, 17)
    outputs = channels * net.pick(1, 3)
    x = net.image(channels)
    window, sizes = net.windows(x)
    weight = net.codes(1, *window.kernel, outputs)
    zero_points = net.zero_point(), net.zero_point()
    attrs = ops.DepthwiseConv2d(window, *zero_points, net.rescales(outputs), *net.clamp())
    return net.add(attrs, [x, weight, net.bias(outputs)], (net.shape(x)[0], outputs, *sizes))


def transposed(net: Draw) -> int:
    channels, outputs = net.among(1, 3, 4, 5, 16, 17), net.among(1, 2, 4, 5, 8, 9)
    x = net.image(channels)
    kernel, stride, dilation = (net.pair(1, 3) for _ in range(3))
    reach = Window(kernel, stride, (0,) * 4, dilation).reach
    full = [(n - 1) * s + r for n, s, r in zip(net.shape(x)[2:], stride, reach, strict=True)]
    cut = [net.pick(0, min(r, size - 1)) for r, size in zip(reach, full, strict=True)]
    sizes = [size - c + net.pick(0, 2) for size, c in zip(full, cut, strict=True)]
    zero_points = net.zero_point(), net.zero_point()
    window = Window(kernel, stride, (*cut, 0, 0), dilation)
    attrs = ops.TransposeConv2d(window, *zero_points, net.rescales(outputs), *net.clamp())
    operands = [x, net.codes(outputs, *kernel, channels), net.bias(outputs)]
    return net.add(attrs, operands, (net.shape(x)[0], outputs, *sizes))


def pool(net: Draw) -> int:
    x = net.image(net.among(1, 3, 4, 5, 16, 17))
    window, sizes = net.windows(x)
    attrs: Attrs = ops.MaxPool2d(window, *net.clamp())
    return net.add(attrs if net.pick(0, 1) else ops.AvgPool2d(window), [x],
                   (*net.shape(x)[:2], *sizes))  # fmt: skip


def linear(net: Draw) -> int:
    rows, depth, outputs = net.pick(1, 4), net.pick(1, 40), net.pick(1, 20)
    x = net.input((rows, depth), net.codes_of)
    zero_points = net.zero_point(), net.zero_point(), net.zero_point()
    rescales = net.rescales(outputs if net.pick(0, 1) else 1)
    attrs = ops.Linear(*zero_points, rescales, *net.clamp())
    return net.add(attrs, [x, net.codes(outputs, depth), net.bias(outputs)], (rows, outputs))


def matmul(net: Draw) -> int:
    batches, rows, columns = net.pick(1, 2), net.pick(1, 4), net.pick(1, 20)
    depth = net.pick(1, 40)
    operands = [net.input((batches, n, depth), net.codes_of) for n in (rows, columns)]
    zero_points = net.zero_point(), net.zero_point(), net.zero_point()
    attrs = ops.BatchMatmul(*zero_points, net.rescales(1)[0])
    return net.add(attrs, operands, (batches, rows, columns), order=contiguous(3))


def operands(net: Draw) -> list[int]:
    """Of one shape, or one of them of a part of it."""
    outer, inner = net.pick(1, 5), net.pick(1, 20)
    shapes = [(outer, inner), ((1,), (inner,), (outer, inner))[net.pick(0, 2)]]
    return [net.input(shape, net.codes_of) for shape in shapes[:: 1 - 2 * net.pick(0, 1)]]


def add(net: Draw) -> int:
    a, b = net.rescale(-2, 0), net.rescale(-2, 0)
    b = replace(b, multiplier=b.multiplier * (1 - 2 * net.pick(0, 1)))
    points, out = [net.zero_point() for _ in range(3)], net.rescale(-20, 0)
    attrs = ops.Add(points[0], a, points[1], b, points[2], out, *net.clamp())
    inputs = operands(net)
    return net.add(attrs, inputs, np.broadcast_shapes(*map(net.shape, inputs)))


def mul(net: Draw) -> int:
    attrs = ops.Mul(*(net.zero_point() for _ in range(3)), net.rescale(-20, 0))
    inputs = operands(net)
    return net.add(attrs, inputs, np.broadcast_shapes(*map(net.shape, inputs)))


def div(net: Draw) -> int:
    attrs = ops.Div(net.code(), net.code(), net.code(), 2.0 ** float(net.random.uniform(-10, 10)))
    return net.add(attrs, [net.input((200,), net.codes_of) for _ in range(2)], (200,))


def softmax(net: Draw) -> int:
    shape = net.pick(1, 3), net.pick(1, 40), net.pick(1, 4)
    attrs: Attrs = ops.WideSoftmax(1, net.pick(0, 2**32 - 1) >> net.pick(0, 31))
    if not net.is_s16:
        attrs = ops.Softmax(1, net.rescale(15, 23), -net.among(0, 1, 255, net.pick(0, 255)))
    return net.add(attrs, [net.input(shape, net.codes_of)], shape)


def activation(net: Draw) -> int:
    entries = (65536 >> net.pick(4, 7)) + 1 if net.is_s16 else 256
    table = net.codes(entries, dtype=net.codes_of)
    return net.add(ops.Activation(), [net.input((400,), net.codes_of), table], (400,))


def quantize(net: Draw) -> int:
    """Of numbers with infinities, NaN and ties, with few codes or all."""
    scale = (1.0, 2.0, 1 / 3, 1 / 127.5, 2.0**20, 2.0**-100)[net.pick(0, 5)]
    attrs = ops.Quantize(scale, net.code(), *net.clamp())
    return net.add(attrs, [net.input((40,), F32)], (40,), net.codes_of)


def dequantize(net: Draw) -> int:
    attrs = ops.Dequantize(float(net.random.uniform(0, 10)), net.code())
    return net.add(attrs, [net.input((40,), net.codes_of)], (40,), F32)


def requantize(net: Draw) -> int:
    """To the same codes, or to the others."""
    zero, other = net.zero_point(), Draw(net.pick(0, 99))
    attrs = ops.Requantize(zero, net.rescale(-20, 0), other.zero_point(), *other.clamp())
    return net.add(attrs, [net.input((40,), net.codes_of)], (40,), other.codes_of)


LAYERS: dict[Callable[[Draw], int], str] = {
    convolution: "conv2d",
    depthwise: "depthwise_conv2d",
    transposed: "transpose_conv2d",
    pool: "max_pool2d avg_pool2d",
    linear: "linear",
    matmul: "batch_matmul",
    add: "add",
    mul: "mul",
    div: "div",
    softmax: "softmax",
    activation: "activation",
    quantize: "quantize",
    dequantize: "dequantize",
    requantize: "requantize",
}


def drawn(build: Callable[[Draw], int], seed: int) -> Graph | None:
    """None if the fields or extents are refused."""
    net = Draw(seed)
    try:
        return net.finish(build(net))
    except CortexMError:
        return None


@pytest.mark.parametrize("build", LAYERS, ids=lambda build: build.__name__)
def test_scalar_kernels(executor: PlanExecutor, build: Callable[[Draw], int]) -> None:
    called = set()
    graphs = ((seed, graph) for seed in itertools.count() if (graph := drawn(build, seed)))
    for seed, graph in itertools.islice(graphs, CASES):
        plan = make_plan(simplify(graph), Target.parse("any"))
        called |= {call.kernel.op for step in plan.steps for call in step.calls}
        inputs = data_inputs(graph, seed)
        for got, wanted in zip(executor.run(plan, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=f"seed {seed}: {plan.steps}")
    assert {*LAYERS[build].split()} <= called


@pytest.mark.parametrize("below", [0, 719, 720, 721, 722])
def test_int16_softmax_of_the_most_elements(executor: PlanExecutor, below: int) -> None:
    """Of equal ones, whose sum has 48 bits, and of one among others that hardly count."""
    net = Net()
    attrs = ops.WideSoftmax(1, softmax_multiplier(0.03))
    graph = net.finish(net.add(attrs, [net.input((1, 2**16), S16)], (1, 2**16)))
    x = np.full((1, 2**16), -below, np.int16)
    x[0, 0] = 0
    np.testing.assert_array_equal(executor.run_graph(graph, [x]), run_graph(graph, [x]))
