# SPDX-License-Identifier: Apache-2.0
"""Which ways of computing its operators a network takes: plan/choose."""

from __future__ import annotations

import random
from itertools import product

import pytest

from cortexm_tools.plan.choose.kernels import choose
from cortexm_tools.plan.choose.options import Option, within
from cortexm_tools.plan.lower.context import Lowered


def random_operators(seed: int) -> list[list[Option]]:
    """Operators with a few ways each, of eight kernels and of constants of their own."""
    rng = random.Random(seed)
    sizes = {f"kernel {number}": rng.randrange(200, 2000) for number in range(8)}
    return [
        [
            Option(
                Lowered((), {}),
                rng.randrange(100, 20_000),
                {kernel: sizes[kernel] for kernel in rng.sample(sorted(sizes), rng.choice((1, 1, 2)))}
                | {f"constant of {operator}.{way}": rng.randrange(1000)},
                rng.randrange(500),
            )
            for way in range(rng.randrange(1, 5))
        ]
        for operator in range(5)
    ]


def cost(options: list[Option] | tuple[Option, ...], per_byte: float) -> float:
    flash = {part: size for option in options for part, size in option.flash.items()}
    return sum(option.instructions for option in options) + per_byte * sum(flash.values())


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
