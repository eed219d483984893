# SPDX-License-Identifier: Apache-2.0
"""Groups of a convolution that are computed as one: with which weights, and the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Array, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.forms.groups import join_groups
from cortexm_tools.plan.forms.problem import ConvProblem
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.problems import conv_problem
from tests.support.ways import taking, where

GROUPS = ((2, 1, 2), (4, 2, 2), (3, 4, 4), (8, 2, 3), (4, 4, 1), (8, 1, 5))


def grouped() -> Graph:
    """Layers of groups, inputs and outputs of a group."""
    net = Net("grouped", 5)
    outs = []
    for groups, in_c, out_c in GROUPS:
        x = net.input((1, groups * in_c, 5, 4))
        outs.append(net.conv(x, groups * out_c, groups=groups))
    return net.finish(*outs)


def problem_of(weight: Array, groups: int, **changed: int) -> ConvProblem:
    """Of an image of 8 rows and columns."""
    fields = {"in_h": 8, "in_w": 8, "out_h": 8, "out_w": 8, "in_y0": -1, "in_x0": -1}
    fields |= {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1}
    return conv_problem(weight, fields | changed, groups=groups)


def test_between_groups_are_zeros() -> None:
    weight = np.arange(1, 6 * 9 * 2 + 1, dtype=np.int8).reshape(6, 3, 3, 2)
    (form,) = join_groups(problem_of(weight, 3), 100, 1000)
    wide = form.weight.reshape(6, 3, 3, 3, 2)
    for channel in range(6):
        assert (wide[channel, :, :, channel // 2] == weight[channel]).all()
    assert np.count_nonzero(wide) == weight.size and form.groups == 1
    assert not list(join_groups(problem_of(weight, 3), 3 * 18 - 1, 1000))
    assert not list(join_groups(problem_of(weight, 3), 100, 2 * weight.size - 1))


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"])
def test_joined_groups_give_the_same_bytes(cpu: str, tmp_path: Path) -> None:
    graph, target = grouped(), Target.parse(cpu)
    with taking(where(lambda attrs, calls: calls[0].int_fields["groups"] < attrs.groups)):
        calls = [call for step in make_plan(graph, target).steps for call in step.calls]
        for call, (groups, *_) in zip(calls, GROUPS, strict=True):
            assert call.int_fields["groups"] < groups
        assert_same_bytes(graph, target, tmp_path)
