# SPDX-License-Identifier: Apache-2.0
"""Softmax of int16: which kernels compute it, and that they give the same bytes where their limits are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net

GENTLE, STEEP = (1 << 24) - 1, 1 << 24


def graph_of(shape: tuple[int, int, int], multiplier: int) -> Graph:
    """Along the second dimension."""
    net = Net("softmax")
    x = net.input(shape, DType.S16)
    return net.finish(net.add(ops.WideSoftmax(1, multiplier), [x], shape))


@pytest.mark.parametrize(
    ("cpu", "shape", "multiplier", "kernel"),
    [
        ("cortex-m4", (9, 8, 1), GENTLE, "softmax_rows"),
        ("cortex-m4", (9, 8, 1), STEEP, "softmax_steep_rows"),
        ("cortex-m4", (1, 9, 8), GENTLE, "softmax_pairs"),
        ("cortex-m4", (1, 9, 9), GENTLE, "softmax_odd_pairs"),
        ("cortex-m4", (1, 9, 8), STEEP, "softmax_steep_pairs"),
        ("cortex-m4", (1, 1025, 1), GENTLE, "softmax"),  # which kept more than 4 KB, and the codes
        ("cortex-m4", (2, 1025, 1), GENTLE, "softmax_rows"),
        ("cortex-m4", (1, 513, 3), GENTLE, "softmax"),
        ("cortex-m4", (1, 513, 4), GENTLE, "softmax_pairs"),
        ("cortex-m4", (2, 2047, 4), GENTLE, "softmax_pairs"),
        ("cortex-m4", (2, 2048, 4), GENTLE, "softmax"),
        ("cortex-m55", (1, 513, 4), GENTLE, "softmax_long_columns"),
        ("cortex-m55", (64, 4, 1), STEEP, "softmax_short"),
        ("cortex-m55", (1, 2, 64), (1 << 30) - 1, "softmax_of_two"),
        ("cortex-m55", (1, 2, 64), 1 << 30, "softmax"),
        ("cortex-m55", (64, 5, 1), GENTLE, "softmax_columns"),
        ("cortex-m55", (2, 9, 32767), GENTLE, "softmax_columns"),
        ("cortex-m55", (2, 9, 32768), GENTLE, "softmax_columns"),
        ("cortex-m3", (9, 8, 1), GENTLE, "softmax"),
        ("cortex-m3", (32, 2, 1), STEEP, "softmax_of_two"),
        ("cortex-m4", (32, 2, 1), GENTLE, "softmax_of_two"),
        ("cortex-m4", (1, 2, 32), STEEP, "softmax_of_two"),
        ("cortex-m4", (8, 2, 1), GENTLE, "softmax_of_two"),
        ("cortex-m4", (1, 2, 1), GENTLE, "softmax_pair"),
        ("cortex-m33", (1, 2, 1), STEEP, "softmax_pair"),
        ("cortex-m4", (2, 2, 1), GENTLE, "softmax_of_two"),
        ("cortex-m55", (1, 2, 1), GENTLE, "softmax_pair"),
        ("cortex-m55", (1, 2, 1), 1 << 31, "softmax_pair"),
        ("cortex-m55", (2, 2, 1), GENTLE, "softmax_of_two"),
        ("cortex-m0", (8, 2, 1), GENTLE, "softmax_of_two"),
        ("cortex-m4", (8, 3, 1), GENTLE, "softmax_of_three"),
        ("cortex-m55", (1, 3, 1), STEEP, "softmax_row_of_four"),
        ("cortex-m55", (1, 4, 1), GENTLE, "softmax_row_of_four"),
        ("cortex-m55", (1, 5, 1), (1 << 30) - 1, "softmax_row_of_eight"),
        ("cortex-m55", (1, 8, 1), GENTLE, "softmax_row_of_eight"),
        ("cortex-m55", (1, 8, 1), 1 << 30, "softmax"),
        ("cortex-m55", (1, 9, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m55", (1, 9, 1), 1 << 30, "softmax"),
        ("cortex-m55", (2, 4, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m55", (3, 4, 1), GENTLE, "softmax_short"),
        ("cortex-m55", (2, 5, 1), GENTLE, "softmax_rows_of_eight"),
        ("cortex-m55", (3, 5, 1), (1 << 30) - 1, "softmax_rows_of_five"),
        ("cortex-m55", (3, 5, 1), 1 << 30, "softmax"),
        ("cortex-m55", (4, 5, 1), GENTLE, "softmax_columns"),
        ("cortex-m55", (9, 5, 1), STEEP, "softmax_rows_of_five"),
        ("cortex-m55", (1, 5, 3), GENTLE, "softmax_columns"),
        ("cortex-m55", (3, 6, 1), GENTLE, "softmax_rows_of_eight"),
        ("cortex-m55", (3, 8, 1), (1 << 30) - 1, "softmax_rows_of_eight"),
        ("cortex-m55", (3, 9, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m55", (3, 16, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m55", (3, 64, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m55", (3, 65, 1), GENTLE, "softmax_rows"),
        ("cortex-m7", (1, 4, 16), STEEP, "softmax_of_four"),
        ("cortex-m33", (3, 5, 5), GENTLE, "softmax_of_five"),
        ("cortex-m4", (11, 6, 1), STEEP, "softmax_of_six"),
        ("cortex-m4", (2, 7, 5), (1 << 32) - 1, "softmax_of_seven"),
        ("cortex-m4", (3, 7, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m4", (7, 3, 1), GENTLE, "softmax_rows_of_three"),
        ("cortex-m4", (64, 4, 1), GENTLE, "softmax_rows_of_four"),
        ("cortex-m33", (1, 5, 1), GENTLE, "softmax_rows_of_five"),
        ("cortex-m4", (2, 6, 1), GENTLE, "softmax_rows_of_six"),
        ("cortex-m4", (3, 4, 1), STEEP, "softmax"),
        ("cortex-m4", (3, 7, 1), STEEP, "softmax"),
        ("cortex-m4", (1, 7, 3), GENTLE, "softmax"),
        ("cortex-m7", (2, 31, 1), GENTLE, "softmax_kept_rows"),
        ("cortex-m7", (1, 63, 1), GENTLE, "softmax_kept_row"),
        ("cortex-m4", (1, 7, 1), GENTLE, "softmax_kept_row"),
        ("cortex-m4", (1, 7, 1), STEEP, "softmax"),
        ("cortex-m4", (1, 64, 1), GENTLE, "softmax_rows"),
    ],
)
def test_which_kernel_computes_it(
    cpu: str, shape: tuple[int, int, int], multiplier: int, kernel: str
) -> None:
    plan = make_plan(graph_of(shape, multiplier), Target.parse(cpu))
    (call,) = plan.steps[0].calls
    assert call.kernel.op == kernel


@pytest.mark.parametrize(
    ("rows", "kernel"), [(1, "softmax"), (7, "softmax"), (8, "softmax_of_two")]
)
def test_two_elements_beside_others(rows: int, kernel: str) -> None:
    """Code for two elements alone is shorter than that for any number; both take more."""
    net = Net("softmax")
    shapes = [(rows, 2), (1, 10)]
    outs = [
        net.add(ops.WideSoftmax(1, STEEP), [net.input(shape, DType.S16)], shape) for shape in shapes
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m4"))
    calls = [call for step in plan.steps for call in step.calls]
    assert [call.kernel.op for call in calls] == [kernel, "softmax"]
    assert calls[1].kernel.symbol == "cortexm_softmax_s16_dsp"


@pytest.mark.parametrize(
    ("others", "kernel"), [((3, 5, 1), "softmax_kept_rows"), ((1, 5, 3), "softmax")]
)
def test_rows_beside_others(others: tuple[int, int, int], kernel: str) -> None:
    """Code for short rows takes the place of that for any columns, where these need it it would be more."""
    net = Net("softmax")
    outs = [
        net.add(ops.WideSoftmax(1, GENTLE), [net.input(shape, DType.S16)], shape)
        for shape in ((1, 10, 1), others)
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m4"))
    calls = [call for step in plan.steps for call in step.calls]
    assert [call.kernel.op for call in calls] == [kernel, kernel]


@pytest.mark.parametrize(
    ("size", "columns", "kernel"),
    [(2, 2, "softmax_pair"), (2, 10, "softmax_kept_rows"), (5, 5, "softmax_rows_of_eight")],
)
def test_one_row_beside_others(size: int, columns: int, kernel: str) -> None:
    """Code for one pair is shorter than that for any number; beside that its table would be there twice, as
    that for one row would be, or for rows of five to eight where they are not all alike."""
    net = Net("softmax")
    shapes = [(1, size), (1, columns)]
    outs = [
        net.add(ops.WideSoftmax(1, GENTLE), [net.input(shape, DType.S16)], shape)
        for shape in shapes
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    assert [call.kernel.op for step in plan.steps for call in step.calls] == [kernel, kernel]


@pytest.mark.parametrize(
    ("second", "kernel"),
    [
        ((3, 5, 1), "softmax_rows_of_five"),
        ((4, 5, 1), "softmax_columns"),
        ((1, 5, 3), "softmax_columns"),
    ],
)
def test_rows_of_five_beside_others(second: tuple[int, int, int], kernel: str) -> None:
    """Where a model has others than as many rows, the code of any columns serves: it has the table, too."""
    net = Net("softmax")
    outs = [
        net.add(ops.WideSoftmax(1, GENTLE), [net.input(shape, DType.S16)], shape)
        for shape in ((3, 5, 1), second)
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    assert {call.kernel.op for step in plan.steps for call in step.calls} == {kernel}


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_the_most_and_the_fewest_elements(cpu: str, tmp_path: Path) -> None:
    """Of equal codes, which have the largest sum, and of any."""
    random = np.random.default_rng(1)
    graphs = [
        graph_of(shape, multiplier)
        for shape in (
            *((2, 2047, 1), (1, 2047, 4), (1, 2046, 5)),
            *((33, 2, 1), (1, 2, 35), (11, 3, 2), (2, 3, 13), (17, 4, 1), (3, 4, 6)),
            *((13, 5, 1), (4, 5, 5), (1, 6, 11), (12, 6, 2), (10, 7, 1), (2, 7, 5)),
            *((1, 2, 1), (1, 10, 1), (3, 64, 1)),
            *((1, 3, 1), (1, 4, 1), (1, 5, 1), (1, 7, 1), (1, 8, 1)),
            *((1, 63, 1), (3, 10, 2), (2, 3, 3), (5, 3, 1), (3, 6, 1)),
            *((2, 5, 1), (3, 5, 1), (5, 5, 1), (2, 7, 1), (3, 8, 1)),
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
    for rows, size in ((1, 4), (3, 4), (1, 5), (3, 5), (4, 5), (2, 9), (4, 9), (1, 66)):
        graph = graph_of((rows, size, 1), 2592839)
        codes = np.full((rows, size, 1), -(2**15), np.int16)  # so far away that it counts nothing
        codes[:, :4, 0] = 2**15 - 1 - np.array(distances)
        jobs.append(Job(GraphProgram("net", f"{rows} {size}".encode(), made=graph), [[codes]]))
        expected.append(run_graph(graph, [codes]))
        assert expected[-1][0][0, 1, 0] == 332
    for (got,), wanted in zip(run_jobs(jobs, Target.parse(cpu), tmp_path), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
