# SPDX-License-Identifier: Apache-2.0
"""Strided copies write the layout that their readers want."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import DType, Graph, Op, Tensor, channels_last, contiguous, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs


def shuffle_unit(*, output: bool = False) -> Graph:
    """Half of the channels goes through a convolution, the other stays: as in ShuffleNetV2, where
    both are cut from a tensor in C order."""
    net = Net()
    x = net.input((1, 8, 4, 5), DType.S8, contiguous(4))
    halves = [
        net.add(ops.Slice((0, begin, 0, 0), (1, 1, 1, 1)), [x], (1, 4, 4, 5), order=contiguous(4))
        for begin in (0, 4)
    ]
    joined = net.concat([halves[0], net.conv(halves[1], 4)], 1)
    return simplify(net.finish(net.conv(joined, 3), *halves[:output]))


def test_slices_write_what_images_need() -> None:
    graph = shuffle_unit()
    assert [op.kind for op in graph.ops] == ["slice", "slice", "conv2d", "concat", "conv2d"]
    cut = [graph.tensors[op.outputs[0]] for op in graph.ops if op.kind == "slice"]
    assert {tensor.dim_order for tensor in cut} == {channels_last(4)}


def test_outputs_keep_their_layout() -> None:
    graph = shuffle_unit(output=True)
    assert graph.tensors[graph.outputs[1]].dim_order == contiguous(4)
    assert "clone" not in [op.kind for op in graph.ops]


_ANY = Target.parse("any")


def _ends(graph: Graph, op: Op) -> tuple[Tensor, Tensor]:
    return graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]


def _signals(seed: int, *, returned: bool) -> Graph:
    """Convolutions over time with a pad, a residual, a table, a constant for each channel and a join in
    between, as signals [N, C, T] that each convolution views as images of one row."""
    net = Net(seed=seed)
    random = np.random.default_rng(seed)
    steps, channels = int(random.integers(5, 9)), int(random.integers(3, 6))
    x = net.linear(net.input((1, steps, 4), DType.S8, contiguous(3)), channels)
    x = net.transpose(x, (0, 2, 1))

    def conv(x: int, taps: int) -> int:
        length = net.shape(x)[2]
        image = net.view(x, (1, channels, 1, length))
        y = net.conv(image, channels, (1, taps), padding=(0, 0, 0, 0))
        return net.view(y, (1, channels, length - taps + 1))

    pad = len(net.ops)
    first = conv(net.pad(x, (0, 0, 2), (0, 0, 0), 0), 3)
    layer = next(op.attrs for op in net.ops[pad:] if isinstance(op.attrs, ops.ConvAttrs))
    net.ops[pad] = replace(net.ops[pad], attrs=ops.Pad((0, 0, 2), (0, 0, 0), layer.in_zero_point))
    y = net.activation(net.sum(first, conv(x, 1)))
    y = net.mul(y, net.codes(channels, 1))
    joined = net.concat([y, first], 2)
    outputs = [conv(joined, 2), *([y] if returned else [])]
    return net.finish(*outputs)


@pytest.mark.parametrize("seed", range(6))
def test_signals_stay_as_the_images_that_convolutions_read(
    executor: PlanExecutor, seed: int
) -> None:
    before = _signals(seed, returned=seed % 2 == 0)
    after = simplify(before)
    kinds = [op.kind for op in after.ops]
    assert "pad" not in kinds  # the convolution has it
    assert kinds.count("clone") == len(before.outputs)  # which have the layout that was declared
    assert all(op.attrs.is_view(*_ends(after, op)) for op in after.ops if op.kind == "transpose")
    row = random_inputs(before, seed)
    wanted = run_graph(before, row)
    for results in (run_graph(after, row), *executor.run_calls(make_plan(after, _ANY), [row])):
        for want, got in zip(wanted, results, strict=True):
            np.testing.assert_array_equal(want, got)


def _shuffled(kind: str, batch: int, channels: int, factor: int, height: int, width: int) -> Graph:
    """An image of a convolution whose pixels or channels change places, or are repeated, and a convolution of
    it, or of its sum with another one."""
    net = Net(seed=channels)
    more = channels * factor * factor
    if kind.startswith("repeated"):
        x = net.conv(net.input((batch, 2, height, width)), channels)
        apart = net.view(x, (batch, channels, height, 1, width, 1))
        wide = (batch, channels, height, factor, width, factor)
        apart = net.add(ops.Expand(), [apart], wide, order=contiguous(6))
        shape = (batch, channels, height * factor, width * factor)
        x = net.view(apart, shape)
        if kind == "repeated and added":
            x = net.sum(x, net.conv(net.input((batch, 2, *shape[2:])), channels))
        return net.finish(net.conv(x, 3))
    if kind == "pixels":
        x = net.conv(net.input((batch, 2, height, width)), more)
        parts, perm = (batch, channels, factor, factor, height, width), (0, 1, 4, 2, 5, 3)
        shape = (batch, channels, height * factor, width * factor)
    elif kind == "depth":
        x = net.conv(net.input((batch, 2, height * factor, width * factor)), channels)
        parts, perm = (batch, channels, height, factor, width, factor), (0, 1, 3, 5, 2, 4)
        shape = (batch, more, height, width)
    else:
        x = net.conv(net.input((batch, 2, height, width)), more)
        parts, perm = (batch, factor, channels * factor, height, width), (0, 2, 1, 3, 4)
        shape = (batch, more, height, width)
    moved = net.transpose(net.view(x, parts), perm)
    return net.finish(net.conv(net.view(moved, shape), 3))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(("pixels", "depth", "channels", "repeated", "repeated and added")),
    batch=st.integers(1, 2),
    channels=st.integers(1, 4),
    factor=st.integers(1, 3),
    size=st.tuples(st.integers(1, 4), st.integers(2, 9)),
)
def test_shuffles_move_pixels_once(
    executor: PlanExecutor,
    kind: str,
    batch: int,
    channels: int,
    factor: int,
    size: tuple[int, int],
) -> None:
    before = _shuffled(kind, batch, channels, factor, *size)
    after = simplify(before)
    copies = [
        op
        for op in after.ops
        if op.kind not in ("conv2d", "linear", "add") and not op.attrs.is_view(*_ends(after, op))
    ]
    assert len(copies) <= 1
    row = random_inputs(before, channels)
    wanted = run_graph(before, row)
    for results in (run_graph(after, row), *executor.run_calls(make_plan(after, _ANY), [row])):
        for want, got in zip(wanted, results, strict=True):
            np.testing.assert_array_equal(want, got)


def test_constants_are_images_and_rows(executor: PlanExecutor) -> None:
    """What layers make of them is larger than they are, so it is computed on the device."""
    net = Net()
    image, pixel, rows = net.codes(1, 2, 4, 4), net.codes(1, 2, 1, 1), net.codes(5, 3)
    of_image = net.conv(image, 40, (3, 3), padding=(1, 1, 1, 1))
    of_pixel, of_rows = net.conv(pixel, 60, (1, 1), padding=(0, 0, 0, 0)), net.linear(rows, 50)
    results = [net.sum(net.input(net.shape(y)), y) for y in (of_image, of_pixel, of_rows)]
    before = net.finish(*results)
    after = simplify(before)
    row = random_inputs(before, 1)
    wanted = run_graph(before, row)
    for got in (run_graph(after, row), *executor.run_calls(make_plan(after, _ANY), [row])):
        for want, result in zip(wanted, got, strict=True):
            np.testing.assert_array_equal(want, result)
