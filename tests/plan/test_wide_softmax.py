# SPDX-License-Identifier: Apache-2.0
"""Softmax of int16: which kernels compute it, and that they give the same bytes where their limits are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net
from tests.support.ways import kernels_for

GENTLE, STEEP = (1 << 24) - 1, 1 << 24


def graph_of(shape: tuple[int, int, int], multiplier: int) -> Graph:
    """Along the second dimension."""
    net = Net("softmax")
    x = net.input(shape, DType.S16)
    return net.finish(net.add(ops.WideSoftmax(1, multiplier), [x], shape))


@pytest.mark.parametrize(
    ("cpu", "shape", "multiplier", "kernel"),
    [
        ("cortex-m4", (9, 64, 1), GENTLE, "cortexm_softmax_s16_dsp"),
        ("cortex-m33", (1, 64, 5), STEEP, "cortexm_softmax_s16_dsp"),
        ("cortex-m4", (9, 65, 1), GENTLE, "cortexm_softmax_s16_scalar"),
        ("cortex-m3", (9, 8, 1), GENTLE, "cortexm_softmax_s16_scalar"),
        ("cortex-m55", (9, 65, 1), STEEP, "cortexm_softmax_s16_mve"),
        ("cortex-m55", (1, 2, 64), 1 << 31, "cortexm_softmax_s16_mve"),
    ],
)
def test_which_kernel_computes_it(
    cpu: str, shape: tuple[int, int, int], multiplier: int, kernel: str
) -> None:
    found = {each.symbol for each in kernels_for(graph_of(shape, multiplier), Target.parse(cpu))}
    assert kernel in found and ("scalar" in kernel) == (len(found) == 1)


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_the_most_and_the_fewest_elements(cpu: str, tmp_path: Path) -> None:
    """Of equal codes, which have the largest sum, and of any."""
    random = np.random.default_rng(1)
    graphs = [
        graph_of(shape, multiplier)
        for shape in (
            *((2, 2047, 1), (1, 2047, 4), (3, 64, 1), (1, 65, 2), (1, 63, 1)),
            *((1, 1, 1), (33, 2, 1), (1, 2, 35), (2, 3, 3), (1, 4, 1), (4, 5, 5)),
        )
        for multiplier in (GENTLE, STEEP, 5000)
    ]
    jobs, expected = [], []
    for number, graph in enumerate(graphs):
        shape = graph.tensors[graph.inputs[0]].shape
        rows = [
            [np.full(shape, -300, np.int16)],
            [random.integers(-(2**15), 2**15, shape).astype(np.int16)],
        ]
        jobs.append(Job(GraphProgram("net", str(number).encode(), made=graph), rows))
        expected.append([run_graph(graph, row) for row in rows])
    for got, wanted in zip(run_jobs(jobs, Target.parse(cpu), tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_sums_that_are_one_more_than_a_power_of_two(cpu: str, tmp_path: Path) -> None:
    """Without the bit that is dropped: their reciprocal is less than that of the power, and a share tells."""
    distances = [0, 9314, 49, 40940]
    jobs, expected = [], []
    for rows, size in ((1, 4), (3, 5), (2, 9), (1, 66)):
        graph = graph_of((rows, size, 1), 2592839)
        codes = np.full((rows, size, 1), -(2**15), np.int16)  # so far away that it counts nothing
        codes[:, :4, 0] = 2**15 - 1 - np.array(distances)
        jobs.append(Job(GraphProgram("net", f"{rows} {size}".encode(), made=graph), [[codes]]))
        expected.append(run_graph(graph, [codes]))
        assert expected[-1][0][0, 1, 0] == 332
    for (got,), wanted in zip(run_jobs(jobs, Target.parse(cpu), tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
