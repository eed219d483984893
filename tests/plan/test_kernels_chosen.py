# SPDX-License-Identifier: Apache-2.0
"""Which ways of computing its operators a network takes: plan/choose."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from itertools import product

import pytest

from cortexm_tools.ir import DType, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.choose.kernels import choose
from cortexm_tools.plan.choose.options import Option, within
from cortexm_tools.plan.kernels.table import code_sizes, kernels
from cortexm_tools.plan.lower.context import Lowered, Lowerings
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.random_graphs import random_branches, random_network


def random_operators(seed: int) -> list[list[Option]]:
    """Operators with a few ways each, of eight kernels and of constants of their own."""
    rng = random.Random(seed)
    sizes = {f"kernel {number}": rng.randrange(200, 2000) for number in range(8)}
    return [
        [
            Option(
                Lowered((), {}),
                rng.randrange(100, 20_000),
                {
                    kernel: sizes[kernel]
                    for kernel in rng.sample(sorted(sizes), rng.choice((1, 1, 2)))
                }
                | {f"constant of {operator}.{way}": rng.randrange(1000)},
                rng.randrange(500),
            )
            for way in range(rng.randrange(1, 5))
        ]
        for operator in range(5)
    ]


def flash(options: Iterable[Option]) -> int:
    """Bytes, of what several bring once."""
    return sum({part: size for o in options for part, size in o.flash.items()}.values())


def instructions(options: Iterable[Option]) -> float:
    return sum(option.instructions for option in options)


def cost(options: Collection[Option], per_byte: float) -> float:
    return instructions(options) + per_byte * flash(options)


@pytest.mark.parametrize("per_byte", [0.0, 2.0, 1e6])
def test_the_choice_is_the_best_or_nearly_so(per_byte: float) -> None:
    """Against all choices that there are: local search finds nine in ten, and the others within a tenth."""
    ratios = []
    for seed in range(100):
        operators = random_operators(seed)
        best = min(cost(each, per_byte) for each in product(*operators))
        chosen = choose(operators, per_byte)
        assert all(option in ways for option, ways in zip(chosen, operators, strict=True))
        ratios.append(cost(chosen, per_byte) / best)
    assert sorted(ratios)[89] < 1 + 1e-9 and max(ratios) < 1.1


def test_room_leaves_what_needs_no_more_and_at_least_one_way() -> None:
    for ways in random_operators(1):
        options = tuple(ways)
        for room in range(0, 500, 20):
            left = within(options, room)
            assert left and all(option in options for option in left)
            fitting = [option for option in options if option.memory <= room]
            assert list(left) == fitting or (
                not fitting and all(o.memory == min(w.memory for w in options) for o in left)
            )


def test_a_kernel_that_is_there_is_taken_unless_another_one_saves_its_code() -> None:
    def option(kernel: str, cost: float) -> Option:
        return Option(Lowered((), {}), cost, {kernel: 500}, 0)

    first = [option("a", 1000), option("b", 9000)]
    for saved, taken in ((900, ["a", "a"]), (1100, ["a", "b"])):
        second = [option("a", 3000), option("b", 3000 - saved)]
        chosen = choose([first, second], 2.0)
        assert [kernel for each in chosen for kernel in each.flash] == taken
    # Two layers share what one alone would not bring.
    chosen = choose([first, [option("a", 3000), option("b", 2400)]] + [second] * 2, 2.0)
    assert [kernel for each in chosen for kernel in each.flash] == ["a", "b", "b", "b"]


GRAPHS = [*map(random_network, range(6)), *map(random_branches, range(4))]
CPUS = [Target.parse(cpu) for cpu in ("cortex-m55", "cortex-m4", "cortex-m0")]


@pytest.mark.parametrize("target", CPUS, ids=lambda target: target.core.value)
def test_size_speed_and_what_lies_between(target: Target) -> None:
    """The dearer a byte, the fewer of them and the more instructions."""
    differ = 0
    for graph in map(simplify, GRAPHS):
        space = SearchSpace(graph, target)
        small, balanced, fast = (
            space.chosen(optimize).values()
            for optimize in (Optimize.SIZE, Optimize.BALANCED, Optimize.SPEED)
        )
        assert flash(small) <= flash(balanced) <= flash(fast)
        assert instructions(small) >= instructions(balanced) >= instructions(fast)
        differ += flash(small) < flash(fast)
    assert differ


def test_parts_of_a_concatenation_are_copied_alike() -> None:
    """Not each in every way."""
    net = Net()
    parts = [net.input((1, 3, 5), DType.F32) for _ in range(40)]
    graph = net.finish(net.add(ops.Concat(1), parts, (1, 120, 5), DType.F32))
    assert len([*Lowerings(graph, CPUS[0]).ways(graph.ops[0])]) <= 8


def test_sizes_are_known_of_all_kernels() -> None:
    every = (*kernels(), *kernels("adapters"))
    assert {kernel.symbol for kernel in every} == code_sizes().keys()


@pytest.mark.parametrize("target", CPUS[:2], ids=lambda target: target.core.value)
def test_a_limit_is_met_where_the_smallest_arena_meets_it(target: Target) -> None:
    """And where it is no limit no step gives anything up, and none costs less."""
    spared = 0
    for graph in map(simplify, GRAPHS):
        usual, roomy, least = (make_plan(graph, target, ram_limit=n) for n in (None, 1 << 24, 1))
        assert least.arena_size <= usual.arena_size and roomy.spared == 0
        for limit in (
            least.arena_size,
            (least.arena_size + roomy.arena_size) // 2,
            roomy.arena_size,
        ):
            plan = make_plan(graph, target, ram_limit=limit)
            assert plan.arena_size <= limit
            assert plan.spared == 0 or limit < roomy.arena_size
            spared += plan.spared
    assert spared
