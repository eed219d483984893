# SPDX-License-Identifier: Apache-2.0
"""The default plan tells of one that needs much less RAM, and of no other."""

from __future__ import annotations

import pytest

from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.search.alternatives import (
    LEAST_BYTES,
    LEAST_PART,
    LEAST_PART_IO,
    other_plans,
    smaller_plan,
)
from cortexm_tools.plan.search.choose import plan_within
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.report import alternative_lines, report_data, summary
from cortexm_tools.simplify import simplified, simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.random_graphs import random_network, random_tower

M55 = Target.parse("cortex-m55")


def _wide(size: int) -> Graph:
    """Blocks with a wide middle, which are small in bands of rows."""
    net = Net()
    x = net.input((1, 4, size, size))
    for _ in range(2):
        wide = net.conv(x, 40, (1, 1), padding=(0, 0, 0, 0))
        wide = net.conv(wide, 40, depthwise=True)
        x = net.conv(wide, 4, (1, 1), padding=(0, 0, 0, 0))
    return simplify(net.finish(x))


def test_much_less_ram_is_told() -> None:
    graph = _wide(24)
    space = SearchSpace(graph, M55)
    plan = plan_within(space, optimize=Optimize.SPEED)
    other = smaller_plan(space, plan)
    assert other is not None and 1.0 <= other.instructions < 2.5
    assert other.ram_bytes == make_plan(graph, M55, optimize=Optimize.SIZE).arena_size
    data = report_data(plan, name="net", digest="", alternatives=[other])
    (line,) = alternative_lines(data)
    assert line.startswith(
        f"{other.ram_bytes:,} B RAM instead of {plan.arena_size:,} with OPTIMIZE size, about "
    )
    assert line in summary(data)
    assert [entry["ram_bytes"] for entry in data["alternatives"]] == [other.ram_bytes]


def test_what_is_told_is_what_the_other_plan_needs() -> None:
    told = 0
    graphs = [*map(random_tower, range(8)), *map(random_network, range(8)), *map(_wide, (8, 40))]
    for graph in map(simplify, graphs):
        space = SearchSpace(graph, M55)
        plan = plan_within(space, optimize=Optimize.SPEED)
        small = make_plan(graph, M55, optimize=Optimize.SIZE).arena_size
        other = smaller_plan(space, plan)
        much = min(plan.arena_size - LEAST_BYTES, plan.arena_size * (1 - LEAST_PART))
        assert (other is not None) == (small <= much)
        told += other is not None
        assert other is None or other.ram_bytes == small
    assert 0 < told < len(graphs)
    space = SearchSpace(_wide(24), M55)
    assert smaller_plan(space, plan_within(space, optimize=Optimize.SIZE)) is None


def _images(size: int, channels: int, kinds: tuple[DType, ...] = (DType.S8,)) -> Graph:
    """Networks beside one another on float images, on codes of each kind."""
    net, outputs = Net(), []
    for kind in kinds:
        x = net.quantize(net.input((1, 1, size, size), DType.F32), dtype=kind)
        outputs.append(net.dequantize(net.conv(x, channels, stride=(2, 2)), zero_point=0))
    return net.finish(*outputs)


@pytest.mark.parametrize(
    ("size", "channels", "kinds", "io"),
    [
        (64, 2, (DType.S8,), ["int8", "uint8"]),
        (64, 2, (DType.S16,), ["int16"]),
        (64, 2, (DType.S8, DType.S16), ["codes"]),
        (64, 40, (DType.S8,), ["int8", "uint8"]),
        (16, 2, (DType.S8,), None),  # saves less than a kilobyte
    ],
)
def test_codes_at_the_interface_are_told(
    size: int, channels: int, kinds: tuple[DType, ...], io: list[str] | None
) -> None:
    graph = _images(size, channels, kinds)
    space = SearchSpace(simplify(graph), M55)
    plan = plan_within(space)
    coded = SearchSpace(simplified(graph, io_codes=True).graph, M55)
    needed = plan_within(coded).arena_size
    much = min(plan.arena_size - LEAST_BYTES, plan.arena_size * (1 - LEAST_PART_IO))
    told = other_plans(space, plan, lambda: coded)
    assert (needed <= much) == (io is not None) == any(other.io for other in told)
    data = report_data(plan, name="net", digest="", alternatives=told)
    found = [entry for entry in data["alternatives"] if "io" in entry]
    assert [entry["io"] for entry in found] == ([io] if io else [])
    if io:
        assert found[0]["ram_bytes"] == needed and 0 < found[0]["instructions"] < 1.1
        said = f"{needed:,} B RAM instead of {plan.arena_size:,} with IO {' or '.join(io)} (codes"
        assert said in summary(data)


def test_an_interface_without_codes_is_no_error() -> None:
    net = Net()
    x = net.input((1, 1, 64, 64), DType.F32)
    graph = simplify(net.finish(net.view(x, (1, 4096)), net.dequantize(net.quantize(x))))
    space = SearchSpace(graph, M55)

    def coded() -> SearchSpace:
        return SearchSpace(simplified(graph, io_codes=True).graph, M55)

    assert not [other for other in other_plans(space, plan_within(space), coded) if other.io]


def test_plans_that_share_what_was_found_out_are_those_made_alone() -> None:
    """Whatever was planned before: equal calls in equal bands, at equal places."""
    for graph in map(simplify, map(random_tower, range(4))):
        space = SearchSpace(graph, M55)
        for optimize, limit in (
            (Optimize.BALANCED, None),
            (Optimize.SIZE, None),
            (Optimize.SPEED, 1),
        ):
            shared = plan_within(space, optimize=optimize, ram_limit=limit)
            alone = make_plan(graph, M55, optimize=optimize, ram_limit=limit)
            assert (shared.steps, shared.buffers) == (alone.steps, alone.buffers)
