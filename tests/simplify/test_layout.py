# SPDX-License-Identifier: Apache-2.0
"""Strided copies write the layout that their readers want."""

from __future__ import annotations

from cortexm_tools.ir import DType, Graph, channels_last, contiguous, ops
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net


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
