# SPDX-License-Identifier: Apache-2.0
"""Convolutions in tiles: which may be, and the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

M55 = Target.parse("cortex-m55")


def unclamped(graph: Graph) -> Graph:
    """The same with results as large as their type has them."""
    return replace(
        graph,
        ops=tuple(
            replace(op, attrs=replace(op.attrs, act_max=127))
            if isinstance(op.attrs, ops.Conv2d)
            else op
            for op in graph.ops
        ),
    )


def network(width: int = 16, outputs: int = 32, last: int = 10, groups: int = 1) -> Graph:
    """Windows that share columns, one or two of them apart, small ones of three channels, and pixels."""
    net = Net("tiles", 3)
    x = net.input((1, 3, width, width))
    x = net.conv(x, 16, (3, 3), padding=(1, 1, 1, 1), relu=True)
    x = net.conv(x, 16, (3, 3), padding=(1, 1, 1, 1))
    y = net.conv(x, outputs, (3, 3), (2, 2), (1, 1, 1, 1), relu=True)
    y = net.conv(y, outputs, (3, 3), padding=(1, 1, 1, 1), groups=groups)
    y = net.conv(y, last, (1, 1), padding=(0, 0, 0, 0))
    return unclamped(net.finish(y))


def kernels_of(plan: Plan) -> set[str]:
    return {
        call.kernel.op
        for step in plan.steps
        for call in step.calls
        if call.kernel.serves == "conv2d"
    }


def plan_of(graph: Graph, *, bands: bool = True) -> Plan:
    with taking(using("conv2d_4x2")):
        return check_plan(make_plan(graph, M55, bands=bands))


def test_all_convolutions_may_take_tiles() -> None:
    assert kernels_of(plan_of(network())) == {"conv2d_4x2"}
    assert kernels_of(plan_of(network(), bands=False)) == {"conv2d_4x2"}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"width": 96}, "rows that are too long"),
        ({"outputs": 20}, "channels that are no sixteens"),
        ({"groups": 2}, "groups"),
    ],
)
def test_one_that_cannot_has_another_kernel(changed: dict[str, int], why: str) -> None:
    assert len(kernels_of(plan_of(network(**changed)))) > 1, why


def test_results_on_the_board(tmp_path: Path) -> None:
    """Widths whose last pixels are one to four, windows in the padding, sums with and without a ReLU."""
    net = Net("forms", 5)
    outs = []
    for width in (21, 22, 23, 24):
        x = net.input((1, 16, 9, width))
        for stride in (1, 2):
            y = net.conv(x, 16, (3, 3), (stride, stride), (1, 2, 2, 0), relu=stride == 1)
            outs.append(net.conv(y, 48, (3, 3), padding=(2, 2, 2, 2)))
    graph = unclamped(net.finish(*outs))
    assert kernels_of(plan_of(graph)) == {"conv2d_4x2"}
    with taking(using("conv2d_4x2")):
        assert_same_bytes(graph, M55, tmp_path)


def test_what_the_kernel_takes_for_granted() -> None:
    plan = plan_of(network(), bands=False)
    steps = [s for s in plan.steps if any(c.kernel.op == "conv2d_4x2" for c in s.calls)]
    for step in steps:
        (call,) = step.calls
        check_contracts(plan, step)
        for changed in ({"act_min": -127}, {"groups": 2}, {"out_c": 7}, {"dilation_w": 2}):
            fields = tuple((dict(call.fields) | changed).items())
            with pytest.raises(CortexMError, match="conv2d_4x2_s8_mve requires"):
                check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))
    first, last = steps[0].calls[0], steps[-1].calls[0]
    for step, call, changed in (
        (steps[0], first, {"out_w": 96}),
        (steps[0], first, {"out_pixel_stride": 30000}),
        (steps[-1], last, {"in_x0": -1}),
        (steps[-1], last, {"in_c": 24}),
    ):
        fields = tuple((dict(call.fields) | changed).items())
        with pytest.raises(CortexMError, match="conv2d_4x2_s8_mve requires"):
            check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))


def test_biases_have_23_bits() -> None:
    graph = network()
    plan = plan_of(graph, bands=False)
    (index,) = {op.inputs[2] for op in graph.ops if op.kind == "conv2d"} & {graph.ops[0].inputs[2]}
    tensors = list(graph.tensors)
    assert tensors[index].data is not None
    tensors[index] = replace(tensors[index], data=np.full(16, 1 << 23, np.int32))
    large = replace(graph, tensors=tuple(tensors))
    (first, *_) = plan_of(large, bands=False).steps
    assert first.calls[0].kernel.op != "conv2d_4x2"
    with pytest.raises(CortexMError, match="requires largest_bias < 1 << 22"):
        check_contracts(replace(plan, graph=large), plan.steps[0])
