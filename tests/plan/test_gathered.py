# SPDX-License-Identifier: Apache-2.0
"""Convolutions of few channels or outputs from a copy of the image: where it is best, and the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.kernels import gathered
from cortexm_tools.plan.kernels.contract import named
from cortexm_tools.plan.search import gathers as decision
from cortexm_tools.plan.search import less_scratch
from cortexm_tools.plan.search.gathers import copying, is_worth_its_code
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.plan.types import Plan, ScratchArg
from cortexm_tools.target import Optimize, Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net, conv_fields

M55 = Target.parse("cortex-m55")

# Groups, inputs and outputs of a group, rows and columns, kernel, stride, dilation.
LAYERS = (
    (8, 1, 4, (8, 8), (3, 3), 1, 1),
    (3, 1, 2, (7, 8), (3, 3), 1, 1),
    (5, 1, 3, (6, 11), (3, 3), 2, 1),
    (1, 1, 8, (15, 13), (3, 3), 1, 2),
    (1, 1, 8, (15, 13), (3, 3), 3, 1),
    (1, 3, 7, (8, 8), (3, 3), 1, 1),
    (1, 5, 7, (15, 13), (3, 3), 2, 2),
    (1, 2, 3, (7, 8), (3, 5), 1, 3),
    (4, 2, 2, (8, 8), (3, 3), 1, 1),
    (1, 3, 7, (9, 5), (3, 1), 1, 1),
    (2, 2, 3, (8, 11), (5, 1), 1, 2),
    (1, 1, 5, (12, 12), (5, 1), 1, 1),
    (1, 5, 7, (15, 13), (3, 3), 1, 3),
    (8, 1, 4, (7, 12), (3, 3), 1, 1),
    (1, 1, 5, (5, 12), (4, 3), 1, 2),
    (3, 4, 1, (8, 8), (3, 3), 1, 1),
    (1, 8, 1, (8, 8), (3, 3), 1, 1),
    (1, 21, 2, (7, 9), (5, 1), 2, 1),
    (1, 64, 3, (8, 8), (1, 1), 1, 1),
    (1, 48, 3, (6, 7), (3, 1), 1, 3),
    (1, 33, 1, (6, 10), (2, 3), 1, 1),
)
DIRECT = [False] * 15 + [True] * 6  # of these; the others gather


def graph_of(relu: bool = False) -> Graph:
    net = Net("gathered", 11)
    outs = []
    for groups, in_c, out_c, size, kernel, stride, dilation in LAYERS:
        x = net.input((1, groups * in_c, *size))
        top, left = (side // 2 * dilation for side in kernel)
        outs.append(
            net.conv(
                x,
                groups * out_c,
                kernel,
                (stride, stride),
                (top, left, top, left),
                groups=groups,
                dilation=(dilation, dilation),
                relu=relu,
            )
        )
    return net.finish(*outs)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gathering is worth its code and its scratch, however small the layer."""
    monkeypatch.setattr(gathered, "_LEAST", 0)
    monkeypatch.setattr(decision, "_PER_BYTE", 0)
    monkeypatch.setattr(
        less_scratch, "_without_growth", lambda choose, limit: choose(frozenset(), limit)
    )


def gathers(plan: Plan) -> list[bool]:
    return [call.kernel.symbol in gathered.SYMBOLS for step in plan.steps for call in step.calls]


def takes(plan: Plan, symbol: str) -> list[bool]:
    return [call.kernel.symbol == symbol for step in plan.steps for call in step.calls]


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("relu", [False, True])
def test_gathered_windows_give_the_same_bytes(relu: bool, tmp_path: Path) -> None:
    graph = graph_of(relu)
    plan = check_plan(make_plan(graph, M55))
    assert gathers(plan) == [True] * len(LAYERS)
    in_order = make_plan(graph, M55, bands=False)
    assert takes(in_order, gathered.DIRECT) == DIRECT
    assert_same_bytes(graph, M55, tmp_path, seed=2)


def test_other_cores_and_plans_for_size_do_not_gather() -> None:
    graph = graph_of()
    assert not any(gathers(make_plan(graph, Target.parse("cortex-m4"))))
    assert not any(gathers(make_plan(graph, M55, optimize=Optimize.SIZE)))


def test_what_fits() -> None:
    for symbol in gathered.SYMBOLS:
        assert gathered.fits(symbol, conv_fields(2, 8, 1))
        assert not gathered.fits(symbol, conv_fields(2, 9, 1))
        assert not gathered.fits(symbol, conv_fields(1, 1, 9, out_pixel_stride=9363))
        large = {"in_h": 96, "in_w": 96, "out_h": 96, "out_w": 96}
        assert not gathered.fits(symbol, conv_fields(1, 1, 8, **large))
    # From a window's first input to that three rows below, and six pixels further on: 3 * 3 * columns + 24.
    assert gathered.fits(gathered.GATHERED, conv_fields(1, 3, 1, dilation_h=3, out_w=23))
    assert not gathered.fits(gathered.GATHERED, conv_fields(1, 3, 1, dilation_h=3, out_w=24))
    # Fifteen inputs of a row have a vector of their own.
    assert gathered.fits(gathered.GATHERED, conv_fields(1, 5, 1, dilation_h=3, out_w=24))
    # Columns apart are in no piece, rows apart may be.
    assert gathered.fits(gathered.DIRECT, conv_fields(1, 5, 1, dilation_h=3, out_w=16))
    assert not gathered.fits(gathered.DIRECT, conv_fields(1, 5, 1, dilation_w=2))
    assert gathered.fits(gathered.DIRECT, conv_fields(1, 5, 1, kernel_w=1, dilation_w=2))


def test_an_image_that_is_read_itself_takes_no_scratch() -> None:
    inside = {"in_y0": 0, "in_x0": 0, "kernel_h": 1, "kernel_w": 1}
    least = 12 * 3 + 4 * 2  # of each output, and of two sixteens of inputs
    assert named()["direct"](conv_fields(1, 64, 3, **inside)) == least
    for change in ({"in_x0": -1}, {"in_row_stride": 520}, {"out_w": 7}, {"kernel_w": 2}):
        assert named()["direct"](conv_fields(1, 64, 3, **{**inside, **change})) > 7 * 64


def test_gathering_must_be_worth_it() -> None:
    fields = conv_fields(4, 1, 2, in_h=16, out_h=16)
    mine = gathered.instructions(gathered.GATHERED, fields)
    assert gathered.pays(gathered.GATHERED, fields, 1.5 * mine)
    assert not gathered.pays(gathered.GATHERED, fields, 1.2 * mine)
    for symbol in gathered.SYMBOLS:
        small = conv_fields(1, 1, 1, in_h=1, out_h=1)
        assert not gathered.pays(symbol, small, 1.3 * gathered.instructions(symbol, small))


def peak(net: Net, convolves: bool = True) -> int:
    """Layers that take more memory than others, beside which there is room, and conv2d's code."""
    x = net.input((1, 16, 1, 1))
    x = net.pad(net.conv(x, 16) if convolves else x, (0,) * 4, (0, 0, 19, 19), 3)
    return net.pool(x, (20, 20), largest=True)


def dilated(net: Net, x: int) -> int:
    return net.conv(x, 5, (3, 3), padding=(2, 2, 2, 2), dilation=(2, 2))


def test_layers_share_the_code() -> None:
    """Each saves too little for it, two save enough together; conv2d is in the image for another layer."""

    def of(count: int, optimize: Optimize = Optimize.BALANCED, *, beside: bool = False) -> int:
        net = Net("together", 5)
        x = net.input((1, 4, 5, 5))
        outs = [dilated(net, x) for _ in range(count)]
        if beside:
            outs.append(net.conv(net.input((1, 16, 1, 1)), 16, padding=(19,) * 4))
        graph = net.finish(*outs, peak(net))
        return sum(gathers(make_plan(graph, M55, optimize=optimize)))

    assert [of(1), of(2), of(2, Optimize.SIZE)] == [0, 2, 0]
    # Of a network that takes far longer two are a small part, and the code is a large one.
    assert of(2, beside=True) == 0


def test_linear_layers_take_what_is_in_the_image() -> None:
    """A small one is computed by conv2d where a convolution is, so not by that which would have gathered."""
    net = Net("classifier", 5)
    x = dilated(net, net.input((1, 5, 8, 8)))
    graph = net.finish(x, net.linear(net.input((1, 320)), 6), peak(net, convolves=False))
    assert any(gathers(make_plan(graph, M55)))
    for optimize, taken in ((Optimize.BALANCED, "linear"), (Optimize.SIZE, "conv2d")):
        calls = make_plan(graph, M55, optimize=optimize).steps[1].calls
        assert [call.kernel.serves for call in calls] == [taken]


def test_an_arena_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two layers that would gather, the one beside which there is room does."""
    net = Net("room", 3)
    x = net.conv(net.input((1, 8, 16, 16)), 16, (3, 3), padding=(1, 1, 1, 1), groups=8)
    graph = net.finish(net.conv(net.pool(x, (2, 2), largest=True), 16, (3, 3), groups=8))
    plan = make_plan(graph, M55)
    assert gathers(plan) == [False, False, True]
    monkeypatch.setattr(gathered, "pays", lambda *_, **__: False)
    assert plan.arena_size == make_plan(graph, M55).arena_size


def test_what_is_left_must_be_worth_the_code() -> None:
    """Without the layer that has no room the other one saves too little."""
    net = Net("rest", 3)
    x = dilated(net, net.input((1, 4, 15, 15)))
    y = dilated(net, net.pool(x, (3, 3), largest=True))
    graph = net.finish(net.conv(y, 16))
    first = SearchSpace(graph, M55).as_given(Optimize.BALANCED).whole
    assert len(copying(first)) == 2 * len(gathered.SYMBOLS)
    assert is_worth_its_code(first, gathered.GATHERED)
    assert not any(gathers(make_plan(graph, M55)))


@pytest.mark.usefixtures("always")
def test_loads_that_gather_take_time() -> None:
    # For an output alone the loads that gather take more time than they save, but those of two inputs.
    for in_c, is_worth_it in ((7, False), (8, True)):
        alone = conv_fields(1, in_c, 1)
        others = 1.4 * gathered.instructions(gathered.GATHERED, alone)
        assert gathered.pays(gathered.GATHERED, alone, others) == is_worth_it


@pytest.mark.usefixtures("always")
def test_check_finds_far_inputs_and_little_scratch() -> None:
    plan = make_plan(graph_of(), M55)
    for step in plan.steps:
        (call,) = step.calls
        check_contracts(plan, step)
        along = "w" if call.int_fields["kernel_w"] > 1 else "h"
        far = (("stride_w", 200), (f"dilation_{along}", 200), ("out_pixel_stride", 9363))
        if call.kernel.symbol == gathered.DIRECT:
            far = (("out_pixel_stride", 9363),)
            if call.int_fields["kernel_w"] > 1:
                far += (("dilation_w", 2),)
        for name, value in far:
            fields = tuple((k, value if k == name else v) for k, v in call.fields)
            with pytest.raises(CortexMError, match=f"{call.kernel.symbol} requires"):
                check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))
        args = tuple(
            ScratchArg(arg.nbytes - 1) if isinstance(arg, ScratchArg) else arg for arg in call.args
        )
        with pytest.raises(CortexMError, match="not enough scratch"):
            check_contracts(plan, replace(step, calls=(replace(call, args=args),)))
