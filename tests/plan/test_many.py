# SPDX-License-Identifier: Apache-2.0
"""Many tensors at one time: the work of the tools grows with their number, and there is a limit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import budget, make_plan
from cortexm_tools.plan.memory.sharing import share_memory
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import GraphProgram, Net
from tests.support.random_graphs import random_network

TARGET = Target.parse("cortex-m55")
MOST_CALLS = 12_000  # of Python's functions, for each tensor
SHAPE = (1, 4)


def identities(net: Net, count: int) -> list[int]:
    return [net.input(SHAPE) for _ in range(count)]


def results(net: Net, count: int) -> list[int]:
    x = net.input(SHAPE)
    return [net.activation(x) for _ in range(count)]


def joined(net: Net, count: int) -> list[int]:
    return [net.concat(results(net, count), 1)]


def summed(net: Net, count: int) -> list[int]:
    y = net.input(SHAPE)
    for _ in range(count):
        y = net.sum(y, net.input(SHAPE))
    return [y]


def layers(net: Net, count: int) -> list[int]:
    y = net.input(SHAPE)
    for _ in range(count):
        y = net.linear(y, 4)
    return [y]


Kind = Callable[[Net, int], list[int]]


def graph_of(kind: Kind, count: int) -> Graph:
    net = Net()
    return net.finish(*kind(net, count))


@pytest.mark.parametrize("kind", [identities, results, joined, summed, layers])
def test_work_grows_with_the_number(kind: Kind) -> None:
    program = GraphProgram("net", b"", made=graph_of(kind, 100))
    calls = 0

    def count(frame: object, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        compile_program(program, CompileOptions(TARGET))
    finally:
        sys.setprofile(None)
    assert calls < 100 * MOST_CALLS


@pytest.mark.parametrize("seed", range(6))
def test_pairs_that_live_at_one_time_are_counted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = simplify(random_network(seed))
    group = share_memory(graph)
    lives: dict[int, list[int]] = {group[i]: [0] for i in graph.given}
    for step, op in enumerate(graph.ops):
        for index in (*op.inputs, *op.outputs):
            if index in group:
                lives.setdefault(group[index], []).append(step)
    for index in graph.kept:
        if index in group:
            lives[group[index]].append(len(graph.ops))
    spans = [(min(steps), max(steps)) for steps in lives.values()]
    pairs = sum(a[0] <= b[1] and b[0] <= a[1] for a, b in combinations(spans, 2))
    monkeypatch.setattr(budget, "MOST_PAIRS", pairs)
    budget.check_alive(graph, group)
    monkeypatch.setattr(budget, "MOST_PAIRS", pairs - 1)
    with pytest.raises(CortexMError, match=f"of the {pairs:,} pairs"):
        budget.check_alive(graph, group)


def test_too_many_are_refused() -> None:
    for kind in (identities, results):
        with pytest.raises(CortexMError, match=r"2,20\d tensors need places beside") as refused:
            make_plan(graph_of(kind, 2200), TARGET)
        assert "join them" in refused.value.hint
