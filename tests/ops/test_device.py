# SPDX-License-Identifier: Apache-2.0
"""Operators on emulated cores and, under sanitizers, on this machine, many in one image: what the
interpreter says.

Data operators in random graphs, float operators one by one.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from cortexm_tools.ir import Array, DType, Graph, channels_last, ops
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify.input_layout import with_input_layout
from cortexm_tools.target import Core, Target

from tests.support.batches import Job, run_jobs
from tests.support.byte_graphs import images, random_chain
from tests.support.data_graphs import STEPS, data_graph, data_inputs
from tests.support.float_graphs import INEXACT_UNARY, LAYERS, binary, clamp, unary, values
from tests.support.graphs import GraphProgram, Net

# Every operator first, seven times: once for each element type.
COUNT = 7 * len(STEPS)

# Layers whose kernels take their sums in several ways.
SUMS = ("convolution", "channels", "linear", "matmul")

Case = tuple[Graph, list[list[Array]]]


def data_cases(share: int) -> list[Case]:
    """Every operator with every `share`-th type, however many operators there are."""
    seeds = [seed for seed in range(COUNT) if sum(divmod(seed, len(STEPS))) % share == share // 4]
    graphs = [graph for graph in map(data_graph, seeds) if graph.outputs]
    return [(graph, [data_inputs(graph, k) for k in range(2)]) for graph in graphs]


def float_cases() -> list[Case]:
    graphs = [unary(seed, name) for seed, name in enumerate(ops.UNARY_FUNCTIONS)]
    for seed, name in enumerate(ops.BINARY_FUNCTIONS):
        graphs += [binary(100 + seed, ops.Binary(name)), binary(200 + seed, ops.Binary(name))]
    for seed, dtype in enumerate((DType.S32, DType.S64)):
        graphs += [binary(300 + seed, ops.Binary(name), dtype) for name in ops.INTEGER_FUNCTIONS]
    graphs += [clamp(400 + n, dtype) for n, dtype in enumerate((DType.F32, DType.S8, DType.S32))]
    for name, layer in LAYERS.items():
        graphs += [layer(500 + seed) for seed in range(12 if name in SUMS else 4)]
    return [
        (graph, [values(graph, 1), values(graph, 2, special=graph.name not in INEXACT_UNARY)])
        for graph in graphs
    ]


def row_cases() -> list[Case]:
    """Layers of floats with one row, two and many, and convolutions of single pixels."""
    net = Net("rows")
    for number, (inner, outputs) in enumerate(((1, 2), (7, 5), (9, 11), (16, 29), (21, 40))):
        constants = [net.constant(net.random.normal(0, 1, (outputs, inner)), DType.F32)]
        constants += [net.constant(net.random.normal(0, 1, outputs), DType.F32)] * (number % 3 > 0)
        for rows in (1, 2, 40 + number % 4):
            operands = [net.input((rows, inner), DType.F32), *constants]
            net.add(ops.FloatLinear(), operands, (rows, outputs), DType.F32)
        image = net.input((1, inner, 1, 1), DType.F32, channels_last(4))
        weight = net.constant(net.random.normal(0, 1, (outputs, inner, 1, 1)), DType.F32)
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        operands = [image, weight, *constants[1:]]
        net.add(attrs, operands, (1, outputs, 1, 1), DType.F32, channels_last(4))
    graph = net.finish(*(op.outputs[0] for op in net.ops))
    used = {step.calls[0].kernel.op for step in make_plan(graph, Target.parse("cortex-m55")).steps}
    assert "conv2d_row" in used
    return [(graph, [values(graph, 1), values(graph, 2, special=True)])]


def byte_cases() -> list[Case]:
    """Tables of bytes, some with one run of a channel after the other."""
    graphs = [random_chain(seed) for seed in range(12)]
    graphs += [with_input_layout(graph, layout) for graph in graphs for layout in ("nhwc", "nchw")]
    return [(graph, [images(graph)]) for graph in graphs]


def turn_cases() -> list[Case]:
    """Images of one channel, joined in twos: words of both, and what is left of them."""
    net = Net("turns")
    for of, size in product(
        (DType.S8, DType.S16), ((1, 1), (1, 3), (2, 2), (1, 5), (3, 5), (9, 11))
    ):
        x = net.input((1, 1, *size), of)
        net.concat([x, net.input((1, 1, *size), of)], 1)
    graph = net.finish(*(op.outputs[0] for op in net.ops))
    return [(graph, [data_inputs(graph, 1)])]


CASES = {
    "host": lambda: [*data_cases(2), *float_cases(), *byte_cases()],
    "cortex-m0": lambda: [*float_cases(), *byte_cases()],
    "cortex-m3": lambda: [*data_cases(4), *turn_cases()],
    "cortex-m33": float_cases,
    "cortex-m55": lambda: [
        *data_cases(4),
        *float_cases(),
        *byte_cases(),
        *row_cases(),
    ],
}


@pytest.mark.parametrize("cpu", CASES)
def test_operators(cpu: str, tmp_path: Path) -> None:
    target, cases = Target.parse(cpu), CASES[cpu]()
    jobs = [
        Job(GraphProgram("net", str(number).encode(), made=graph), row)
        for number, (graph, row) in enumerate(cases)
    ]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST)
    for (graph, invocations), got in zip(cases, results, strict=True):
        allowed = tolerances(graph)
        for inputs, outputs in zip(invocations, got, strict=True):
            expected = run_graph(graph, inputs)
            for value, wanted, tolerance in zip(outputs, expected, allowed, strict=True):
                assert differing(value, wanted, tolerance) == 0, (graph.name, value, wanted)
