# SPDX-License-Identifier: Apache-2.0
"""All ways to compute an operator are right: each plan is accepted, and gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, Op, channels_last, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.lower.context import Lowerings
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net
from tests.support.random_graphs import random_inputs
from tests.support.ways import COPIES, numbered, spread, taking

# Of the kernels of an M3 each is one of an M4.
CPUS = ("cortex-m55", "cortex-m4", "cortex-m0")
F32 = DType.F32

# Inputs, outputs, groups (of depthwise ones none), rows and columns, kernel, stride, padding, dilation.
CONVOLUTIONS = (
    (8, 2, 1, (5, 8), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (4, 1, 1, (8, 8), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (3, 2, 1, (12, 6), (3, 1), (1, 1), (1, 0, 1, 0), (1, 1)),
    (3, 1, 1, (9, 8), (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    (1, 5, 1, (7, 12), (1, 5), (1, 1), (0, 2, 0, 2), (1, 1)),
    (1, 2, 1, (11, 7), (4, 3), (3, 2), (2, 0, 1, 2), (1, 2)),
    (16, 16, 1, (8, 8), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (12, 8, 4, (6, 5), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (5, 20, 5, (5, 6), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (3, 3, 0, (9, 9), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (16, 16, 0, (9, 8), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (4, 4, 0, (12, 13), (5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
    (3, 6, 0, (9, 11), (3, 5), (1, 1), (2, 4, 2, 4), (2, 2)),
)
# Rows, inputs, outputs.
LINEAR = ((1, 33, 3), (1, 64, 16), (7, 65, 3), (6, 32, 8))
# Inputs, outputs, kernel, stride.
TRANSPOSED = ((5, 2, (2, 2), 2), (4, 3, (3, 3), 2), (3, 5, (2, 5), 3), (5, 2, (3, 3), 1))


def layers(net: Net, of: DType) -> list[int]:
    """All of them beside one another."""
    outs = []
    for in_c, out_c, groups, size, kernel, stride, padding, dilation in CONVOLUTIONS:
        x = net.input((1, in_c, *size), of)
        shared = {"groups": groups or 1, "depthwise": not groups, "dilation": dilation}
        outs.append(net.conv(x, out_c, kernel, stride, padding, **shared))  # type: ignore[arg-type]
    outs += [net.linear(net.input((rows, inner), of), out) for rows, inner, out in LINEAR]
    if not net.bits_less:
        for in_c, out_c, kernel, by in TRANSPOSED:
            outs.append(net.transpose_conv(net.input((2, in_c, 5, 4), of), out_c, kernel, by))
        a, b = net.input((2, 5, 12), of), net.input((2, 7, 12), of)
        outs.append(net.batch_matmul(a, b))
        x = net.input((1, 5, 8, 7), of)
        outs += [
            net.pool(x, kernel, largest=most) for kernel in ((2, 2), (8, 7)) for most in (0, 1)
        ]
        outs += [net.sum(x, net.input((1, 5, 8, 7), of)), net.softmax(net.input((5, 9), of), 1)]
    return outs


def floats(net: Net) -> list[int]:
    def some(*shape: int) -> int:
        return net.constant(net.random.standard_normal(shape), F32)

    outs = []
    for order in (contiguous(4), channels_last(4)):
        for in_c, out_c, groups, side in ((2, 5, 1, 3), (8, 8, 8, 3), (1, 6, 1, 5), (6, 3, 1, 1)):
            x = net.input((1, in_c, 9, 10), F32, order)
            attrs = ops.FloatConv2d(Window((side,) * 2, (1, 1), (side // 2,) * 4), groups)
            inputs = [x, some(out_c, in_c // groups, side, side), some(out_c)]
            outs.append(net.add(attrs, inputs, (1, out_c, 9, 10), F32, order))
        x = net.input((1, 3, 5, 4), F32, order)
        attrs = ops.FloatTransposeConv2d(Window((3, 3), (2, 2), (1, 1, 1, 1)), 1)
        outs.append(net.add(attrs, [x, some(3, 2, 3, 3), some(2)], (1, 2, 9, 7), F32, order))
    for rows, inner, cols in ((1, 33, 7), (5, 16, 8)):
        x = net.input((rows, inner), F32)
        outs.append(net.add(ops.FloatLinear(), [x, some(cols, inner)], (rows, cols), F32))
    a, b = net.input((2, 5, 9), F32), net.input((2, 9, 7), F32)
    outs.append(net.add(ops.FloatMatmul(), [a, b], (2, 5, 7), F32))
    return outs


class FourBits(Net):
    bits_less = 4


def graph_of(kind: str) -> Graph:
    net = FourBits("ways", 7) if kind.endswith("w4") else Net("ways", 7)
    if kind == "f32":
        return net.finish(*floats(net))
    return net.finish(*layers(net, DType.S16 if kind.startswith("s16") else DType.S8))


def alone(graph: Graph, op: Op) -> Graph:
    """An operator by itself."""
    given = tuple(i for i in op.inputs if graph.tensors[i].data is None)
    return Graph("alone", graph.tensors, (op,), given, op.outputs)


@pytest.mark.parametrize("kind", ["s8", "s8w4", "s16", "s16w4", "f32"])
@pytest.mark.parametrize("cpu", CPUS)
def test_every_way_is_accepted(cpu: str, kind: str) -> None:
    """Each operator alone in each of its ways: assembled plans are checked."""
    graph, target, several = graph_of(kind), Target.parse(cpu), 0
    lowerings = Lowerings(graph, target)
    for op in graph.ops:
        count = len([*lowerings.ways(op)])
        several += count > 1
        for number in range(count):
            with taking(numbered(number)):
                make_plan(alone(graph, op), target, bands=False)
    assert several >= 2


@pytest.mark.parametrize("cpu", CPUS)
def test_ways_give_the_same_bytes(cpu: str, tmp_path: Path) -> None:
    jobs, expected = [], []
    for kind in ("s8", "s8w4", "s16", "s16w4", "f32"):
        graph = graph_of(kind)
        inputs = random_inputs(graph, 1)
        for number in range(COPIES):
            made = Graph(f"{kind}_{number}", graph.tensors, graph.ops, graph.inputs, graph.outputs)
            jobs.append(Job(GraphProgram(made.name, b"", made=made), [inputs]))
            expected.append(run_graph(graph, inputs))
    with taking(spread):
        results = run_jobs(jobs, Target.parse(cpu), tmp_path)
    for job, (got,), wanted in zip(jobs, results, expected, strict=True):
        for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
            assert a.tobytes() == np.ascontiguousarray(b).tobytes(), (job.program.name, number)
