# SPDX-License-Identifier: Apache-2.0
"""What was recorded of each precision: the page says it, and it is within what is promised."""

from __future__ import annotations

import json

import pytest

from cortexm_tools.plan import make_plan
from cortexm_tools.target import Target

from benchmarks import precision as precision_module

RECORDED = json.loads(precision_module.DATA.read_text())

# Instructions over those that int8 took when this was promised, so that faster kernels of int8 break no
# promise: convolutions and depthwise ones, linear layers. Then over CMSIS-NN's.
MOST = {
    ("cortex-m55", "a8w4"): (1.3, 1.6, 0.6),
    ("cortex-m4", "a8w4"): (1.2, 1.5, 0.5),
    ("cortex-m3", "a8w4"): (1.25, 1.3, 0.7),
    ("cortex-m0", "a8w4"): (1.3, 1.3, 0.6),
    ("cortex-m55", "a16w8"): (2.0, 2.0, 0.55),
    ("cortex-m4", "a16w8"): (1.0, 1.0, 0.5),
    ("cortex-m3", "a16w8"): (1.25, 1.25, 0.7),
    ("cortex-m0", "a16w8"): (1.25, 1.25, 0.6),
}


def test_page_is_what_was_recorded() -> None:
    assert precision_module.PAGE.read_text() == precision_module.page(RECORDED)


@pytest.mark.parametrize(("cpu", "precision"), MOST)
def test_layers_cost_what_is_promised(cpu: str, precision: str) -> None:
    convolution, linear, other = MOST[cpu, precision]
    rows, int8 = RECORDED["measured"][cpu], RECORDED["promised"][cpu]
    kinds = ("conv2d", "depthwise_conv2d")
    assert precision_module.ratio(rows, precision, kinds, int8) <= convolution
    assert precision_module.ratio(rows, precision, ("linear",), int8) <= linear
    share = precision_module.of_theirs(RECORDED, cpu, precision)
    assert share is None or share <= other


def test_constants_of_4_bits_are_about_half() -> None:
    """Of all benchmark models together."""
    for rows in RECORDED["measured"].values():
        for precision in ("a8w4", "a16w4"):
            sizes = [
                sum(rows[model][each]["constants"] for model in precision_module.MODELS)
                for each in (precision, "int8")
            ]
            assert sizes[0] <= 0.53 * sizes[1], precision


def test_rounded_weights_are_packed_two_to_a_byte() -> None:
    graph = precision_module.layers()
    target = Target.parse("cortex-m4")
    whole = make_plan(graph, target)
    half = make_plan(precision_module.four_bits(graph), target)
    kernels = [call.kernel for step in half.steps for call in step.calls]
    assert {kernel.types for kernel in kernels} == {"s8w4"}
    sizes = [max(c.nbytes for c in plan.constants) for plan in (whole, half)]
    assert sizes[1] <= 0.53 * sizes[0]
