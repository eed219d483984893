# SPDX-License-Identifier: Apache-2.0
"""Neighbouring pixels of a convolution that are computed as one: with which weights, and the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.linear_map import check_linear_map
from cortexm_tools.plan.forms.neighbours import join_pixels
from cortexm_tools.plan.forms.rows import row_as_pixel
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net
from tests.support.ownership import replay
from tests.support.problems import conv_problem
from tests.support.random_graphs import random_inputs
from tests.support.ways import taking, where

# Inputs, outputs, rows and columns, kernel, stride, padding, dilation.
LAYERS = (
    (8, 1, (8, 8), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (3, 3, (5, 12), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (8, 2, (9, 8), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (4, 1, (16, 16), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (3, 2, (24, 12), (3, 1), (1, 1), (1, 0, 1, 0), (1, 1)),
    (2, 1, (9, 24), (1, 5), (1, 2), (0, 2, 0, 2), (1, 1)),
    (3, 1, (16, 16), (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    (5, 1, (1, 40), (1, 1), (1, 2), (0, 0, 0, 0), (1, 1)),
    (1, 5, (7, 12), (1, 5), (1, 1), (0, 2, 0, 2), (1, 1)),
    (1, 2, (8, 8), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 3, (9, 8), (1, 3), (2, 1), (0, 2, 0, 2), (1, 2)),
    (1, 2, (9, 6), (5, 3), (1, 1), (2, 1, 2, 1), (1, 1)),
    (3, 8, (6, 12), (5, 1), (1, 1), (2, 0, 2, 0), (1, 1)),
    (1, 1, (8, 8), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (1, 2, (11, 7), (4, 3), (3, 2), (2, 0, 1, 2), (1, 2)),
)


def graph_of(of: DType = DType.S8) -> Graph:
    net = Net("neighbours", 7)
    outs = []
    for in_c, out_c, size, kernel, stride, padding, dilation in LAYERS * 2:
        x = net.input((1, in_c, *size), of)
        outs.append(net.conv(x, out_c, kernel, stride, padding, dilation=dilation))
    return net.finish(*outs)


def fields_of(width: int, kernel: int, stride: int = 1, padding: int = 0) -> dict[str, int]:
    return {
        "in_h": 16,
        "in_w": width,
        "out_h": 16,
        "out_w": (width + 2 * padding - kernel) // stride + 1,
        "in_y0": 0,
        "in_x0": -padding,
        "kernel_h": 1,
        "kernel_w": kernel,
        "stride_h": 1,
        "stride_w": stride,
        "dilation_h": 1,
        "dilation_w": 1,
    }


# Several pixels of a layer as one.
JOINED = where(
    lambda attrs, calls: any(
        call.int_fields.get("out_c", 0) > len(attrs.rescales) for call in calls
    )
)


def plan_of(graph: Graph, cpu: str) -> Plan:
    with taking(JOINED):
        return make_plan(graph, Target.parse(cpu))


def test_each_pixel_has_its_window() -> None:
    weight = np.arange(1, 7, dtype=np.int8).reshape(1, 1, 3, 2)
    forms = {
        len(form.weight): form
        for form in join_pixels(conv_problem(weight, fields_of(32, 3, padding=1)))
    }
    assert forms.keys() == {2, 4, 8}
    form = forms[4]
    assert form.weight.shape == (4, 1, 6, 2)
    for pixel in range(4):
        assert (form.weight[pixel, :, pixel : pixel + 3] == weight[0]).all()
    assert np.count_nonzero(form.weight) == 4 * weight.size
    assert form.fields["stride_w"] == form.fields["out_c"] == 4
    assert form.fields["out_w"] == 8 and form.fields["kernel_w"] == 6


def test_pixels_of_one_column_are_pixels_of_more_channels() -> None:
    weight = np.arange(1, 17, dtype=np.int8).reshape(2, 1, 1, 8)
    for count, form in zip(
        (2, 4, 8), join_pixels(conv_problem(weight, fields_of(16, 1))), strict=True
    ):
        assert form.weight.shape == (2 * count, 1, 1, 8 * count)
        assert form.fields["in_w"] * count == 16 and form.fields["kernel_w"] == 1


def test_a_whole_row_needs_no_padding() -> None:
    weight = np.arange(1, 11, dtype=np.int8).reshape(5, 1, 2, 1)
    form = row_as_pixel(conv_problem(weight, fields_of(12, 2, padding=1)), 1024)
    assert form is not None and form.weight.shape == (13 * 5, 1, 1, 12)
    assert (form.fields["in_c"], form.fields["in_w"], form.fields["in_x0"]) == (12, 1, 0)
    rows = form.weight.reshape(13, 5, 12)
    for pixel in range(1, 12):
        assert (rows[pixel, :, pixel - 1 : pixel + 1] == weight[:, 0, :, 0]).all()
    assert (rows[0, :, 0] == weight[:, 0, 1, 0]).all() and not rows[0, :, 1:].any()
    inside = rows.sum(axis=2, dtype=np.int64)
    assert (form.constants.bias.reshape(13, 5) == -3 * inside).all()  # the zero point is 3


def test_rows_of_pixels_are_pixels_of_one_row() -> None:
    weight = np.arange(1, 10, dtype=np.int8).reshape(1, 3, 3, 1)
    fields = fields_of(8, 3, padding=1) | {"in_h": 9, "out_h": 5}
    fields |= {"in_y0": -1, "stride_h": 2, "dilation_h": 1, "act_min": -128, "act_max": 127}
    form = row_as_pixel(conv_problem(weight, fields), 1024)
    assert form is not None and form.weight.shape == (8, 1, 3, 8)
    row = {"in_w": 9, "out_w": 5, "in_x0": -1, "kernel_w": 3, "stride_w": 2}
    column = {"in_h": 1, "out_h": 1, "in_y0": 0, "kernel_h": 1, "stride_h": 1}
    assert (row | column | {"in_row_stride": 72}).items() <= form.fields.items()
    taps = form.weight.reshape(8, 3, 8)
    for pixel in range(1, 7):
        assert (taps[pixel, :, pixel - 1 : pixel + 2] == weight[0, :, :, 0]).all()
    assert (taps[0, :, :2] == weight[0, :, 1:, 0]).all() and not taps[0, :, 2:].any()


def test_what_adds_too_much_is_no_form() -> None:
    few = np.ones((1, 1, 1, 8), np.int8)
    assert not list(join_pixels(conv_problem(few, fields_of(17, 1))))  # no whole pixels
    assert row_as_pixel(conv_problem(few, fields_of(12, 1)), 11 * 12 * 8 - 1) is None
    assert row_as_pixel(conv_problem(few, fields_of(17, 1)), 1 << 20) is None


@pytest.mark.parametrize(
    ("cpu", "of"),
    [
        *(
            (cpu, of)
            for cpu in ("cortex-m55", "cortex-m33", "cortex-m4")
            for of in (DType.S8, DType.S16)
        ),
        *((cpu, DType.S8) for cpu in ("cortex-m3", "cortex-m0")),
    ],
)
def test_joined_neighbours_give_the_same_bytes(cpu: str, of: DType, tmp_path: Path) -> None:
    graph, target = graph_of(of), Target.parse(cpu)
    plan = plan_of(graph, cpu)
    if of is DType.S8:
        replay(plan)
    calls = [call for step in plan.steps for call in step.calls if call.macs]
    outputs = [
        graph.tensors[op.outputs[0]].shape[1]
        for op in graph.ops
        if isinstance(op.attrs, ops.Conv2d)
    ]
    are_joined = (call.int_fields["out_c"] > n for call, n in zip(calls, outputs, strict=True))
    assert sum(are_joined) >= 20
    inputs = random_inputs(graph, 1)
    program = GraphProgram("neighbours", b"", made=graph)
    with taking(JOINED):
        got = run_jobs([Job(program, [inputs])], target, tmp_path)[0][0]
    for a, b in zip(got, run_graph(graph, inputs), strict=True):
        assert (a == b).all()


def refused(plan: Plan) -> int:
    """How many of the plan's constants are noticed, each with another first element."""
    count = 0
    for number, constant in enumerate(plan.constants):
        data = constant.data.copy()
        data.reshape(-1)[0] += 1
        constants = list(plan.constants)
        constants[number] = replace(constant, data=data)
        try:
            check_plan(replace(plan, constants=tuple(constants)))
        except CortexMError as error:
            count += error.message.endswith("would not compute the products of the model")
    return count


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m33", "cortex-m4"])
def test_other_products_are_refused(cpu: str) -> None:
    plan = plan_of(graph_of(), cpu)
    assert refused(plan) >= 20  # weights, biases, multipliers and shifts of five layers at least


@pytest.mark.parametrize("name", ["in_x0", "stride_w", "kernel_w", "out_w", "in_c"])
def test_other_windows_are_refused(name: str) -> None:
    plan = plan_of(graph_of(), "cortex-m55")
    step = [step for step in plan.steps if step.calls[0].macs][2]
    fields = tuple(
        (key, value + (key == name))
        for key, value in step.calls[0].fields
        if isinstance(value, int)
    )
    names = tuple(pair for pair in step.calls[0].fields if not isinstance(pair[1], int))
    call = replace(step.calls[0], fields=fields + names)
    with pytest.raises(CortexMError, match="would not compute the products of the model"):
        check_linear_map(plan, replace(step, calls=(call,)))


def test_other_rows_are_refused() -> None:
    # The rows of a column as those of a row.
    with taking(where(lambda attrs, calls: calls[0].int_fields["in_h"] < attrs.window.kernel[0])):
        plan = make_plan(graph_of(), Target.parse("cortex-m4"))
    step = next(
        step
        for step in plan.steps
        if step.calls[0].int_fields["in_h"] == 1 < step.calls[0].int_fields["kernel_w"]
    )
    (call,) = step.calls
    assert call.int_fields["in_h"] == 1
    check_linear_map(plan, step)
    for name in ("in_h", "in_w", "in_x0", "in_y0", "out_h", "out_w", "stride_w", "dilation_w"):
        fields = tuple((k, v + 1 if k == name else v) for k, v in call.fields)  # type: ignore[operator]
        with pytest.raises(CortexMError, match="would not compute the products of the model"):
            check_linear_map(plan, replace(step, calls=(replace(call, fields=fields),)))


def test_parts_of_a_concatenation_stay_where_they_are() -> None:
    net = Net("parts", 3)
    x = net.input((1, 8, 8, 8))
    parts = [net.conv(x, 2, (1, 1), (1, 1), (0, 0, 0, 0)) for _ in range(2)]
    plan = make_plan(net.finish(net.concat(parts, 1)), Target.parse("cortex-m55"))
    widths = [call.int_fields["out_w"] for step in plan.steps for call in step.calls if call.macs]
    assert widths == [8, 8]
