# SPDX-License-Identifier: Apache-2.0
"""Norms of codes: which kernels compute the rows of a network, by how many there are of each size, and groups
of single channels."""

from __future__ import annotations

import pytest

from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.target import Target

from benchmarks.limits import norm
from tests.support.graphs import Net


def graph_of(*layers: tuple[int, int, DType]) -> Graph:
    """Layer norms, each of its own input: rows and elements."""
    net = Net("norms")
    return net.finish(*(norm(rows, elements, 1, of).add(net) for rows, elements, of in layers))


@pytest.mark.parametrize(
    ("cpu", "layers", "kernels"),
    [
        ("cortex-m55", [(4, 8, DType.S8)], ["eights_s8_mve"]),
        ("cortex-m55", [(3, 8, DType.S8)], ["rows_s8_mve"]),
        ("cortex-m55", [(4, 9, DType.S8)], ["rows_s8_mve"]),
        ("cortex-m55", [(9, 4, DType.S16)], ["fours_s16_mve"]),
        ("cortex-m55", [(9, 12, DType.S16)], ["twelves_s16_mve"]),
        ("cortex-m55", [(9, 16, DType.S8), (7, 16, DType.S8)], ["sixteens_s8_mve"] * 2),
        ("cortex-m55", [(9, 16, DType.S8), (3, 16, DType.S8)], ["rows_s8_mve"] * 2),
        ("cortex-m55", [(9, 16, DType.S8), (9, 12, DType.S8)], ["rows_s8_mve"] * 2),
        ("cortex-m55", [(9, 16, DType.S8), (9, 12, DType.S16)], ["sixteens_s8_mve", "twelves_s16_mve"]),
        ("cortex-m55", [(9, 8, DType.S8), (23, 8, DType.S8), (9, 24, DType.S8)],
         ["eights_s8_mve", "eights_s8_mve", "rows_s8_mve"]),
        ("cortex-m55", [(9, 8, DType.S8), (22, 8, DType.S8), (9, 24, DType.S8)], ["rows_s8_mve"] * 3),
        ("cortex-m4", [(9, 8, DType.S8)], ["rows_s8_dsp"]),
    ],
)  # fmt: skip
def test_rows_of_few_codes_have_kernels_that_are_worth_it(
    cpu: str, layers: list[tuple[int, int, DType]], kernels: list[str]
) -> None:
    plan = make_plan(graph_of(*layers), Target.parse(cpu))
    symbols = [call.kernel.symbol for step in plan.steps for call in step.calls]
    assert symbols == [f"cortexm_group_norm_{name}" for name in kernels]


@pytest.mark.parametrize(
    ("groups", "kernels"),
    [
        ([(8, 1, True)], ["channels"]),
        ([(8, 1, True), (4, 1, True)], ["channels"] * 2),
        ([(6, 1, True)], ["group"]),  # not in fours
        ([(8, 1, False)], ["group"]),  # planes
        ([(4, 2, True)], ["group"]),
        ([(8, 1, True), (4, 2, True)], ["group"] * 2),  # which needs the other kernel anyway
    ],
)
def test_groups_of_single_channels(groups: list[tuple[int, int, bool]], kernels: list[str]) -> None:
    net = Net("norms")
    outs = [
        norm(count, channels, 9, DType.S8, are_beside=beside).add(net)
        for count, channels, beside in groups
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    symbols = [call.kernel.symbol for step in plan.steps for call in step.calls]
    names = {"channels": "group_norm_channels_s8_mve", "group": "group_norm_s8_mve"}
    assert symbols == [f"cortexm_{names[kernel]}" for kernel in kernels]


@pytest.mark.parametrize(
    ("pixels", "kernels"),
    [
        ([9], ["channels"]),
        ([49, 60], ["channels"] * 2),
        ([56], ["group"]),
        ([49, 64], ["group"] * 2),
    ],
)
def test_int16_groups_of_single_channels(pixels: list[int], kernels: list[str]) -> None:
    """Of small images, all together."""
    net = Net("norms")
    outs = [norm(8, 1, count, DType.S16, are_beside=True).add(net) for count in pixels]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    symbols = [call.kernel.symbol for step in plan.steps for call in step.calls]
    names = {"channels": "group_norm_channels_s16_mve", "group": "group_norm_s16_mve"}
    assert symbols == [f"cortexm_{names[kernel]}" for kernel in kernels]
