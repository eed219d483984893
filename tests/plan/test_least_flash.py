# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE size: code and constants together."""

from __future__ import annotations

from collections import Counter

import pytest

from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.kernels.table import code_sizes, kernels
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net

M55 = Target.parse("cortex-m55")


@pytest.mark.parametrize("channels", [4, 100])
def test_size_weighs_code_against_constants(channels: int) -> None:
    """The DSP kernel packs an odd channel with one of zeros."""
    net = Net()
    graph = simplify(net.finish(net.conv(net.input((1, channels, 4, 4)), 17)))
    target = Target.parse("cortex-m4")
    fast, small = (make_plan(graph, target, optimize=o) for o in (Optimize.BALANCED, Optimize.SIZE))
    assert _kernels(fast) == {"cortexm_conv2d_s8_dsp"}
    saved = fast.constant_bytes - small.constant_bytes
    assert saved == (9 * channels if channels > 50 else 0)
    assert _kernels(small) == {f"cortexm_conv2d_s8_{'v7m' if saved else 'dsp'}"}


def _kernels(plan: Plan) -> set[str]:
    return {call.kernel.symbol for step in plan.steps for call in step.calls}


def test_sizes_are_known_of_all_variants() -> None:
    named = [(kernel, (kernel.of or kernel.op, kernel.types)) for kernel in kernels()]
    by_op = Counter(key for _, key in named)
    expected = {kernel.symbol for kernel, key in named if by_op[key] > 1}
    assert expected == code_sizes().keys()
