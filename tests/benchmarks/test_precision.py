# SPDX-License-Identifier: Apache-2.0
"""What was recorded of each precision: the page says it, and it is within what is promised."""

from __future__ import annotations

import json

import pytest

from cortexm_tools.plan import make_plan
from cortexm_tools.target import Target

from benchmarks import precision

RECORDED = json.loads(precision.DATA.read_text())

# Instructions of a8w4 over int8: convolutions and depthwise ones, linear layers; over CMSIS-NN's s4.
MOST = {
    "cortex-m55": (1.3, 1.6, 0.6),
    "cortex-m4": (1.2, 1.5, 0.5),
    "cortex-m3": (1.25, 1.3, 0.7),
    "cortex-m0": (1.3, 1.3, 0.6),
}


def test_page_is_what_was_recorded() -> None:
    assert precision.PAGE.read_text() == precision.page(RECORDED)


@pytest.mark.parametrize("cpu", MOST)
def test_four_bits_cost_what_is_promised(cpu: str) -> None:
    convolution, linear, other = MOST[cpu]
    rows = RECORDED["measured"][cpu]
    assert precision.mean(precision.ratios(rows, ("conv2d", "depthwise_conv2d"))) <= convolution
    assert precision.mean(precision.ratios(rows, ("linear",))) <= linear
    theirs = RECORDED["cmsis_nn"]["instructions"].get(cpu, {})
    ours = dict(zip(RECORDED["layers"][cpu], rows["layers"]["a8w4"]["layers"], strict=True))
    shares = [ours[name][1] / count for name, count in theirs.items()]
    assert not shares or precision.mean(shares) <= other


def test_rounded_weights_are_packed_two_to_a_byte() -> None:
    graph = precision.layers()
    target = Target.parse("cortex-m4")
    whole = make_plan(graph, target)
    half = make_plan(precision.four_bits(graph), target)
    kernels = [call.kernel for step in half.steps for call in step.calls]
    assert {kernel.types for kernel in kernels} == {"s8w4"}
    sizes = [max(c.nbytes for c in plan.constants) for plan in (whole, half)]
    assert sizes[1] <= 0.53 * sizes[0]
