# SPDX-License-Identifier: Apache-2.0
"""Convolutions of few channels or outputs whose windows are read where they are: where that is best, and the
same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.widened import check_widened
from cortexm_tools.plan.kernels import widened
from cortexm_tools.plan.search import less_scratch
from cortexm_tools.plan.types import Plan, ScratchArg
from cortexm_tools.target import Optimize, Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net, conv_fields

M4 = Target.parse("cortex-m4")

# Groups, inputs and outputs of a group, rows and columns, kernel, stride, dilation.
LAYERS = (
    (8, 4, 1, (8, 8), (3, 3), 1, 1),
    (4, 2, 2, (7, 9), (3, 3), 1, 1),
    (2, 4, 3, (40, 6), (3, 3), 1, 1),
    (3, 3, 2, (9, 11), (3, 3), 2, 1),
    (1, 1, 8, (15, 13), (3, 3), 2, 2),
    (1, 1, 5, (12, 12), (5, 1), 1, 1),
    (1, 8, 1, (8, 8), (3, 3), 1, 1),
    (1, 5, 3, (15, 13), (3, 5), 1, 3),
)


def graph_of() -> Graph:
    net = Net("widened", 11)
    outs = []
    for groups, in_c, out_c, size, kernel, stride, dilation in LAYERS:
        top, left = (side // 2 * dilation for side in kernel)
        outs.append(
            net.conv(
                net.input((1, groups * in_c, *size)),
                groups * out_c,
                kernel,
                (stride, stride),
                (top, left, top, left),
                groups=groups,
                dilation=(dilation, dilation),
            )
        )
    return net.finish(*outs)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is worth its code and its scratch, however small the layer."""
    monkeypatch.setattr(widened, "_LEAST", 0)
    monkeypatch.setattr(
        less_scratch, "_without_growth", lambda choose, limit: choose(frozenset(), limit)
    )


def are_widened(plan: Plan) -> list[bool]:
    return [call.kernel.op == "conv2d_widened" for step in plan.steps for call in step.calls]


@pytest.mark.usefixtures("always")
def test_windows_where_they_are_give_the_same_bytes(tmp_path: Path) -> None:
    graph = graph_of()
    assert are_widened(check_plan(make_plan(graph, M4))) == [True] * len(LAYERS)
    assert_same_bytes(graph, M4, tmp_path, seed=2)


def test_other_cores_and_plans_for_size_do_without() -> None:
    graph = graph_of()
    assert not any(are_widened(make_plan(graph, Target.parse("cortex-m55"))))
    assert not any(are_widened(make_plan(graph, M4, optimize=Optimize.SIZE)))


def test_it_must_be_worth_it() -> None:
    fields = conv_fields(8, 4, 2)
    mine = widened.instructions(fields)
    assert widened.pays(fields, 1.3 * mine, are_planes=False)
    assert not widened.pays(fields, 1.2 * mine, are_planes=False)
    assert widened.pays(fields, 1.1 * mine, are_planes=True)
    small = conv_fields(1, 4, 1)
    assert not widened.pays(small, 1.3 * widened.instructions(small), are_planes=False)
    assert not widened.pays(conv_fields(8, 4, 2, out_w=3), 1e9, are_planes=False)


def test_an_arena_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two layers that would take it, the one beside which there is room does."""
    net = Net("room", 3)
    x = net.conv(net.input((1, 8, 16, 16)), 16, (3, 3), padding=(1, 1, 1, 1), groups=4)
    graph = net.finish(net.conv(net.pool(x, (2, 2), largest=True), 16, (3, 3), groups=4))
    plan = make_plan(graph, M4)
    first, *_, last = are_widened(plan)
    assert last and not first
    monkeypatch.setattr(widened, "pays", lambda *_: False)
    assert plan.arena_size == make_plan(graph, M4).arena_size


@pytest.mark.usefixtures("always")
def test_check_finds_short_rows_and_little_scratch() -> None:
    plan = make_plan(graph_of(), M4)
    for step in plan.steps:
        (call,) = step.calls
        check_widened(plan, step)
        short = tuple((k, 3 if k == "out_w" else v) for k, v in call.fields)
        with pytest.raises(CortexMError, match="too short for cortexm_conv2d_widened_s8_dsp"):
            check_widened(plan, replace(step, calls=(replace(call, fields=short),)))
        args = tuple(
            ScratchArg(arg.nbytes - 1) if isinstance(arg, ScratchArg) else arg for arg in call.args
        )
        with pytest.raises(CortexMError, match="not enough scratch"):
            check_widened(plan, replace(step, calls=(replace(call, args=args),)))
