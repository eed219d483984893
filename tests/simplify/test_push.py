# SPDX-License-Identifier: Apache-2.0
"""States that a model shifts by concatenations are moved up in place, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, channels_last, ops
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs

CHANNELS, STEPS = 6, 5


def _cut(net: Net, x: int, first: int, count: int) -> int:
    shape = (*net.shape(x)[:-1], count)
    attrs = ops.Slice((0,) * (len(shape) - 1) + (first,), (1,) * len(shape))
    return net.add(attrs, [x], shape, net.tensors[x].dtype, net.tensors[x].dim_order)


def _shifted(
    *, roll: bool = False, gone: int = 1, first: int = 1, also: str = "", images: bool = True
) -> Graph:
    """A memory without its columns before `first`, `gone` new ones behind, weighted over time."""
    net = Net()
    x = net.input((1, CHANNELS, gone))
    old = net.tensor((1, CHANNELS, STEPS))
    if roll:
        turned = net.concat([_cut(net, old, gone, STEPS - gone), _cut(net, old, 0, gone)], 2)
        rest = _cut(net, turned, 0, STEPS - gone)
    else:
        rest = _cut(net, old, first, STEPS - gone)
    new = net.keep(old, net.concat([rest, x], 2))
    outputs = []
    if images:
        image = net.view(new, (1, CHANNELS, 1, STEPS))
        outputs.append(net.conv(image, CHANNELS, (1, STEPS), padding=(0, 0, 0, 0), depthwise=True))
    if also == "old":
        outputs.append(net.activation(old))
    if also == "new":
        outputs.append(net.activation(new))
    if also == "output":
        outputs.append(new)
    return net.finish(*outputs)


def _same_calls(before: Graph, after: Graph, calls: int = 9) -> None:
    rows = [random_inputs(before, k) for k in range(calls)]
    for want, got in zip(run_sequence(before, rows), run_sequence(after, rows), strict=True):
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("also", ["", "old", "new", "output"])
@pytest.mark.parametrize("gone", [1, 2, 4])
@pytest.mark.parametrize("roll", [False, True])
def test_shifts_are_pushes(roll: bool, gone: int, also: str) -> None:
    before = _shifted(roll=roll, gone=gone, first=gone, also=also)
    after = simplify(before)
    kinds = [op.kind for op in after.ops]
    assert kinds.count("push") == 1
    assert not {"concat", "slice"} & set(kinds)
    state = after.tensors[after.states[0].before]
    assert (state.dim_order == channels_last(4)) == (not also)
    assert also or not {"clone", "transpose"} & set(kinds)
    assert state.dtype is DType.S8
    _same_calls(before, after)


def test_other_parts_are_no_pushes() -> None:
    """One column is dropped at each end, so what stays does not end where the new one begins."""
    before = _shifted(gone=2, first=1)
    after = simplify(before)
    assert "push" not in [op.kind for op in after.ops]
    _same_calls(before, after)
