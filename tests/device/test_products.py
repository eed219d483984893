# SPDX-License-Identifier: Apache-2.0
"""Batched matrix products and transposed convolutions: which variant a layer takes, and that all give
what the interpreter does, on this machine under sanitizers, M3, M4 and M55."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, Rescale, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.target import Core, Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net, rescales
from tests.support.random_graphs import random_inputs

CPUS = ("cortex-m3", "cortex-m4", "cortex-m55")
SEEDS = range(60)


def batch_matmul(seed: int, **more: Any) -> Graph:
    net = Net("product", seed)
    batches, rows, cols, inner = (int(net.random.integers(1, end)) for end in (4, 8, 14, 70))
    inner = more.pop("inner", inner)
    lhs, rhs = net.input((batches, rows, inner)), net.input((batches, cols, inner))
    zero = net.random.integers(-128, 128, 3).tolist()
    fields = {
        "lhs_zero_point": zero[0],
        "rhs_zero_point": zero[1],
        "out_zero_point": zero[2],
        "rescale": Rescale(int(net.random.integers(2**30, 2**31)), -7 - int(math.log2(inner)) // 2),
    }
    attrs = ops.BatchMatmul(**fields | more)
    return net.finish(net.add(attrs, [lhs, rhs], (batches, rows, cols), order=contiguous(3)))


def transpose_conv2d(seed: int, dilation: tuple[int, int] = (1, 1), **more: Any) -> Graph:
    """Kernels up to 5x5, strides up to 3x3, so that phases may have no tap; crops and surplus rows."""
    net = Net("transposed", seed)

    def pick(low: int, high: int) -> int:
        return int(net.random.integers(low, high + 1))

    in_c, out_c = pick(1, 20), pick(1, 10)
    kernel, stride, size = ((pick(1, high), pick(1, high)) for high in (5, 3, 6))
    cut = tuple(pick(0, k // 2) for k in kernel)
    surplus = tuple(pick(0, s - 1) for s in stride)
    attrs = ops.TransposeConv2d(
        **{
            "window": Window(kernel, stride, cut * 2, dilation),
            "in_zero_point": pick(-128, 127),
            "out_zero_point": pick(-128, 127),
            "rescales": rescales(
                net.random.integers(2**30, 2**31, out_c),
                np.full(out_c, -7 - int(math.log2(in_c * math.prod(kernel))) // 2),
            ),
            "act_min": pick(-128, -100),
            "act_max": pick(60, 127),
        }
        | more
    )
    extents = [
        max(1, (i - 1) * s + (k - 1) * d + 1 - 2 * p + e)
        for i, s, k, p, e, d in zip(size, stride, kernel, cut, surplus, dilation, strict=True)
    ]
    inputs = [net.input((pick(1, 2), in_c, *size)), net.codes(out_c, *kernel, in_c)]
    inputs.append(net.constant(net.random.integers(-9999, 9999, out_c), DType.S32))
    return net.finish(net.add(attrs, inputs, (net.shape(inputs[0])[0], out_c, *extents)))


def variant(graph: Graph, cpu: str) -> str:
    """The instruction set that the layer's kernel is named after."""
    calls = [call for step in make_plan(graph, Target.parse(cpu)).steps for call in step.trace()]
    assert len({call.kernel.symbol for call in calls}) == 1
    return calls[0].kernel.isa.value


def test_variants_of_products() -> None:
    assert [variant(batch_matmul(0), cpu) for cpu in CPUS] == ["scalar", "dsp", "mve"]
    # DSP: sums below 2^30, shifts to the right. MVE: all.
    for more in ({"inner": 16513}, {"rescale": Rescale(2**30, 0)}):
        assert [variant(batch_matmul(0, **more), cpu) for cpu in CPUS] == [
            "scalar",
            "scalar",
            "mve",
        ]
    assert variant(batch_matmul(0, inner=16512), "cortex-m4") == "dsp"


def test_variants_of_transposed_convolutions() -> None:
    assert [variant(transpose_conv2d(5), cpu) for cpu in CPUS] == ["scalar", "dsp", "mve"]
    scales = transpose_conv2d(5).ops[0].attrs.rescales  # type: ignore[attr-defined]
    for more in ({"dilation": (1, 2)}, {"rescales": (*scales[1:], Rescale(2**30, 0))}):
        assert [variant(transpose_conv2d(5, **more), cpu) for cpu in CPUS] == ["scalar"] * 3


def _graph(number: int) -> Graph:
    make = transpose_conv2d if number % 2 else batch_matmul
    return make(number)


@pytest.mark.parametrize("cpu", ["host", *CPUS])
def test_layers(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    inputs = [[random_inputs(_graph(seed), k) for k in range(2)] for seed in SEEDS]
    jobs = [
        Job(GraphProgram("layer", str(seed).encode(), made=_graph(seed)), inputs[seed])
        for seed in SEEDS
    ]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST, poison=True)
    for seed in SEEDS:
        for given, outputs in zip(inputs[seed], results[seed], strict=True):
            expected = run_graph(_graph(seed), given)[0]
            np.testing.assert_array_equal(outputs[0], expected, err_msg=f"seed {seed}")
