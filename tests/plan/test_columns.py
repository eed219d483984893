# SPDX-License-Identifier: Apache-2.0
"""3x3 convolutions whose windows share columns: which may have that kernel, and that bytes are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.check.sums import check_columns
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

M4 = Target.parse("cortex-m4")


def from_minus_127(graph: Graph) -> Graph:
    """The graph without weights of -128."""
    weights = {op.inputs[1] for op in graph.ops}
    tensors = [
        replace(tensor, data=tensor.data.clip(-127))
        if index in weights and tensor.data is not None
        else tensor
        for index, tensor in enumerate(graph.tensors)
    ]
    return replace(graph, tensors=tuple(tensors))


def graph_of(
    inputs: int = 16,
    outputs: int = 16,
    size: tuple[int, int] = (10, 11),
    stride: tuple[int, int] = (1, 1),
    kernel: tuple[int, int] = (3, 3),
    groups: int = 1,
) -> Graph:
    net = Net("columns", 3)
    x = net.input((1, inputs, *size))
    y = net.conv(x, outputs, kernel, stride, (1, 1, 1, 1), groups=groups)
    return from_minus_127(net.finish(y))


def plan_of(graph: Graph, target: Target = M4) -> Plan:
    with taking(using("conv2d_3x3_3x2")):
        return check_plan(make_plan(graph, target))


def kernels_of(plan: Plan) -> set[str]:
    return {call.kernel.op for step in plan.steps for call in step.calls}


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m33", "cortex-m7"])
def test_which_may_have_a_kernel_of_their_own(cpu: str) -> None:
    target = Target.parse(cpu)
    assert kernels_of(plan_of(graph_of(), target)) == {"conv2d_3x3_3x2"}
    for others in (
        graph_of(inputs=18),
        graph_of(outputs=17),
        graph_of(size=(10, 40), stride=(1, 2)),
        graph_of(size=(16, 16), kernel=(3, 2)),
        graph_of(32, 32, groups=2),
    ):
        assert "conv2d_3x3_3x2" not in kernels_of(plan_of(others, target))


def test_results_on_the_board(tmp_path: Path) -> None:
    """Rows that end with one, two and three pixels; sums at once and in runs; what is beyond the image."""
    net = Net("forms", 5)
    outs = []
    for width in (6, 7, 8, 9):
        for inputs, relu in ((12, True), (40, False), (3, True), (160, False)):
            x = net.input((1, inputs, 2 * width, width))
            outs.append(net.conv(x, 48, (3, 3), (1, 1), (2, 2, 2, 0), relu=relu))
            outs.append(net.conv(x, 46, (3, 3), (2, 1), (0, 1, 1, 2), relu=relu))
    graph = from_minus_127(net.finish(*outs))
    assert kernels_of(plan_of(graph)) == {"conv2d_3x3_3x2"}
    with taking(using("conv2d_3x3_3x2")):
        assert_same_bytes(graph, M4, tmp_path)


def test_what_the_kernel_takes_for_granted() -> None:
    plan = plan_of(graph_of())
    (step,) = plan.steps
    (call,) = step.calls
    check_contracts(plan, step)
    for changed in (
        {"stride_w": 2}, {"dilation_h": 2}, {"dilation_w": 2}, {"groups": 2}, {"kernel_h": 1},
        {"kernel_w": 5}, {"in_c": 18}, {"in_c": 5}, {"in_c": 3, "in_w": 1}, {"out_c": 15},
        {"in_y0": -3}, {"in_h": 8},
    ):  # fmt: skip
        fields = tuple((dict(call.fields) | changed).items())
        with pytest.raises(CortexMError, match="conv2d_3x3_3x2_s8_dsp requires"):
            check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))


def test_sums_that_24_bits_do_not_hold_are_refused() -> None:
    """A layer of many inputs has runs; a table that says otherwise is none of its."""
    plan = plan_of(graph_of(inputs=160, size=(4, 11)))
    (step,) = plan.steps
    check_columns(plan, step)
    flags = {}
    for constant in plan.constants:
        if constant.name.startswith("b_"):
            data = constant.data.copy()
            flags = set(data.view(np.int8).reshape(-1, 20)[:, 18].tolist())
            data.view(np.int8).reshape(-1, 20)[1, 18] = 0
            others = tuple(
                replace(constant, data=data) if each is constant else each
                for each in plan.constants
            )
    assert flags == {1}
    with pytest.raises(CortexMError, match="24 bits do not hold the sums"):
        check_columns(replace(plan, constants=others), step)
