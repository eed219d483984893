# SPDX-License-Identifier: Apache-2.0
"""Pools: rounding, padding, and the kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.types import ScratchArg
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.float_graphs import LAYERS
from tests.support.graphs import GraphProgram, Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, run, seeds
from tests.support.ways import kernels_for


def test_average_pool_rounds_ties_away_from_zero_and_skips_padding() -> None:
    x = np.array([[[[1, 2, -1], [-2, 5, 7]]]], np.int8)
    attrs = ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 1)))
    result = run(attrs, [x], (1, 1, 2, 3))
    assert result.tolist() == [[[[2, 1, -1], [2, 6, 7]]]]  # 1.5, .5, -1 alone; 1.5, 6, 7 alone
    below = run(ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 0))), [-x], (1, 1, 2, 2))
    assert below.tolist() == [[[[-2, -1], [-2, -6]]]]


@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
@pytest.mark.parametrize("channels", [1, 3, 5, 16])
@pytest.mark.parametrize("stride", [1, 2])
def test_columns_are_pooled_as_channels(
    executor: PlanExecutor, dtype: DType, channels: int, stride: int
) -> None:
    """Windows of one column: rows of the image are pixels of so many channels."""
    for padding in ((0, 0, 0, 0), (1, 0, 2, 0)):
        window = Window((3, 1), (stride, 1), padding)
        rows = (7 + padding[0] + padding[2] - 3) // stride + 1
        for attrs in (ops.AvgPool2d(window), ops.MaxPool2d(window, -100, 90)):
            net = Net("columns", channels)
            x = net.input((1, channels, 7, 5), dtype)
            graph = net.finish(net.add(attrs, [x], (1, channels, rows, 5)))
            compare_with_kernels(executor, graph, channels)


M55 = Target.parse("cortex-m55")


def pooled(*windows: Window, channels: int, room: int = 0) -> Graph:
    """A maximum and an average of each window on images of 17 rows and 19 columns; with `room` also one on
    so many more rows and columns."""
    net = Net("pools", channels)
    x = net.input((1, channels, 17, 19), DType.S8)
    outs = []
    for window in windows:
        reach = [(side - 1) * by for side, by in zip(window.kernel, window.dilation, strict=True)]
        sides = [
            (size + sum(window.padding[axis::2]) - reach[axis] - 1) // window.stride[axis] + 1
            for axis, size in enumerate((17, 19))
        ]
        shape = (1, channels, *sides)
        outs.append(net.add(ops.MaxPool2d(window, -100, 90), [x], shape))
        if window.dilation == (1, 1):
            outs.append(net.add(ops.AvgPool2d(window), [x], shape))
    if room:
        large = net.pad(x, (0,) * 4, (0, 0, room, room), 3)
        outs.append(net.pool(large, (17, 19), largest=True))
    return net.finish(*outs)


def pools_of(plan: Plan) -> list[str]:
    """The kernels of the operators in the program's order."""
    made = {step.op.outputs[0]: step.calls[-1].kernel.op for step in plan.steps}
    return [made[op.outputs[0]] for op in plan.graph.ops if op.kind.endswith("pool2d")]


_NONE = (0, 0, 0, 0)
ROWS = (
    Window((2, 2), (2, 2), _NONE),
    Window((3, 3), (2, 2), _NONE),
    Window((8, 8), (8, 8), _NONE),
    Window((1, 5), (1, 3), _NONE),
    Window((3, 2), (4, 1), _NONE),
)
OTHERS = (
    Window((3, 3), (2, 2), (1, 1, 1, 1)),
    Window((2, 2), (2, 3), _NONE),  # columns that no window has
    Window((3, 3), (1, 1), _NONE, (2, 2)),
)
COLUMNS = Window((3, 1), (1, 1), _NONE)  # short rows are a single pixel


@pytest.mark.parametrize("channels", [1, 3, 5, 7])
def test_rows_of_few_channels(channels: int, tmp_path: Path) -> None:
    graph = pooled(*ROWS, *OTHERS, COLUMNS, channels=channels, room=60)
    kernels = pools_of(make_plan(graph, M55))
    assert kernels[: 2 * len(ROWS)] == ["max_pool2d_rows", "avg_pool2d_rows"] * len(ROWS)
    assert not any("rows" in kernel for kernel in kernels[2 * len(ROWS) : -1])
    x = np.random.default_rng(channels).integers(-128, 128, (1, channels, 17, 19)).astype(np.int8)
    got = run_jobs([Job(GraphProgram("pools", b"", made=graph), [[x]])], M55, tmp_path)[0][0]
    for a, b in zip(got, run_graph(graph, [x]), strict=True):
        assert (a == b).all()


def test_windows_outside_and_little_scratch_are_found_out() -> None:
    plan = make_plan(pooled(*ROWS, channels=3, room=60), M55)
    for step in plan.steps:
        for call in step.calls:
            if "pool2d_rows" not in call.kernel.op:
                continue
            check_contracts(plan, step)
            for name, value in (("in_y0", -1), ("in_x0", 19), ("kernel_h", 90), ("dilation_w", 2)):
                fields = tuple((dict(call.fields) | {name: value}).items())
                with pytest.raises(CortexMError, match="requires"):
                    check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))
            args = tuple(
                ScratchArg(arg.nbytes - 1) if isinstance(arg, ScratchArg) else arg
                for arg in call.args
            )
            with pytest.raises(CortexMError, match="not enough scratch"):
                check_contracts(plan, replace(step, calls=(replace(call, args=args),)))


def test_short_rows_are_a_single_pixel() -> None:
    (step, *_) = make_plan(pooled(COLUMNS, channels=1), M55).steps
    fields = step.calls[0].int_fields
    assert (fields["out_h"], fields["out_w"], fields["channels"]) == (1, 1, 15 * 19)


def averaged(*kernels: tuple[int, int], channels: int, inputs: int = 1) -> Graph:
    """Averages of the windows side by side of images of 7 rows and 5 columns."""
    net = Net("averages", channels)
    for height, width in kernels:
        x = net.input((inputs, channels, 7, 5))
        shape = (inputs, channels, 7 // height, 5 // width)
        net.add(ops.AvgPool2d(Window((height, width), (height, width), _NONE)), [x], shape)
    return net.finish(*(op.outputs[0] for op in net.ops))


@pytest.mark.parametrize("channels", [3, 4, 5, 8, 9, 70])
def test_a_single_window_is_averaged_without_a_division(
    executor: PlanExecutor, channels: int
) -> None:
    graph = averaged((7, 5), (4, 5), (7, 5), channels=channels, inputs=2)
    compare_with_kernels(executor, graph, channels)
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"):
        found = {kernel.op for kernel in kernels_for(graph, Target.parse(cpu))}
        assert ("avg_pool2d_pixel" in found) == (channels >= 4), cpu


def test_another_window_than_the_first_one_is_found_out() -> None:
    for cpu in ("cortex-m55", "cortex-m4"):
        plan = make_plan(averaged((4, 5), channels=8), Target.parse(cpu))
        (step,) = (step for step in plan.steps if step.calls)
        (call,) = step.calls
        check_contracts(plan, step)
        for name, value in (
            *(("in_x0", 1), ("in_y0", 1), ("kernel_w", 4), ("kernel_h", 8), ("channels", 3)),
            *(("in_row_stride", 41), ("dilation_h", 2), ("dilation_w", 2), ("out_h", 2)),
        ):
            fields = tuple((dict(call.fields) | {name: value}).items())
            with pytest.raises(CortexMError, match="requires"):
                check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))


@pytest.mark.parametrize("layer", ["pool"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["pool"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        compare_with_kernels(executor, LAYERS[layer](seed), seed, special=True)
