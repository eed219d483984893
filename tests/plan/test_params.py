# SPDX-License-Identifier: Apache-2.0
"""Parameter blocks: what their fields can hold."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.kernels.params import field_types
from cortexm_tools.plan.kernels.table import kernels
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net

M55 = Target.parse("cortex-m55")


def test_a_parameter_beyond_its_field_is_an_error() -> None:
    net = Net()
    graph = net.finish(net.pool(net.input((1, 1, 1, 65536)), (1, 1), largest=True))
    with pytest.raises(CortexMError, match="in_w is 65536, the kernel takes at most 65535"):
        make_plan(simplify(graph), M55)


def test_every_block_of_the_table_is_in_the_header() -> None:
    blocks = field_types()
    assert {kernel.params for kernel in kernels()} <= blocks.keys()
    assert blocks["cortexm_conv_s8_t"]["multiplier"] == "int32_t*"
    assert blocks["cortexm_conv_s8_t"]["in_w"] == "uint16_t"
    assert blocks["cortexm_copy_t"]["dims"] == "int32_t"
