# SPDX-License-Identifier: Apache-2.0
"""Groups of a convolution that are computed as one: how many, with which weights, and the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Array, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.lower.groups import FEW_ZEROS, groups_to_join, with_zeros
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net

GROUPS = ((2, 1, 2), (4, 2, 2), (3, 4, 4), (8, 2, 3), (4, 4, 1), (8, 1, 5))


def grouped() -> Graph:
    """Layers of groups, inputs and outputs of a group."""
    net = Net("grouped", 5)
    outs = []
    for groups, in_c, out_c in GROUPS:
        x = net.input((1, groups * in_c, 5, 4))
        outs.append(net.conv(x, groups * out_c, groups=groups))
    return net.finish(*outs)


def test_between_groups_are_zeros() -> None:
    weight = np.arange(1, 6 * 9 * 2 + 1, dtype=np.int8).reshape(6, 3, 3, 2)
    wide = with_zeros(weight, 3, 3).reshape(6, 3, 3, 3, 2)
    for channel in range(6):
        assert (wide[channel, :, :, channel // 2] == weight[channel]).all()
    assert np.count_nonzero(wide) == weight.size
    assert (with_zeros(weight, 3, 1) == weight).all()


def fields_of(weight: Array, groups: int) -> dict[str, int]:
    """Of an image of 8 rows and columns."""
    fields = {"in_h": 8, "in_w": 8, "out_h": 8, "out_w": 8, "in_y0": -1, "in_x0": -1}
    fields |= {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1}
    out_c, kernel_h, kernel_w, depth = weight.shape
    window = {"kernel_h": kernel_h, "kernel_w": kernel_w}
    return fields | window | {"in_c": depth * groups, "out_c": out_c, "groups": groups}


def test_only_small_groups_are_joined() -> None:
    target = Target.parse("cortex-m55")
    small, large = np.ones((16, 3, 3, 2), np.int8), np.ones((64, 3, 3, 8), np.int8)
    assert groups_to_join(target, small, fields_of(small, 8)) == 4
    assert groups_to_join(target, large, fields_of(large, 8)) == 1
    assert groups_to_join(Target.parse("cortex-m3"), small, fields_of(small, 8)) == 2
    assert groups_to_join(Target.parse("any"), small, fields_of(small, 8)) == 1


def test_plans_for_size_have_fewer_zeros() -> None:
    target, weight = Target.parse("cortex-m55"), np.ones((32, 3, 3, 4), np.int8)
    assert groups_to_join(target, weight, fields_of(weight, 8)) == 2
    assert groups_to_join(target, weight, fields_of(weight, 8), FEW_ZEROS) == 1


def test_zeros_must_save_instructions() -> None:
    target, weight = Target.parse("cortex-m55"), np.ones((16, 3, 3, 2), np.int8)
    assert groups_to_join(target, weight, fields_of(weight, 8) | {"out_h": 1, "out_w": 2}) == 2


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"])
def test_joined_groups_give_the_same_bytes(cpu: str, tmp_path: Path) -> None:
    graph = grouped()
    target = Target.parse(cpu)
    calls = [call for step in make_plan(graph, target).steps for call in step.calls]
    joined = [
        call.int_fields["groups"] < groups for call, (groups, *_) in zip(calls, GROUPS, strict=True)
    ]
    assert sum(joined) >= 5
    assert_same_bytes(graph, target, tmp_path)
