# SPDX-License-Identifier: Apache-2.0
"""Reading what moves elements: views, padding, splits."""

from __future__ import annotations

from cortexm_tools.ir import ops
from cortexm_tools.pte import read_pte

from tests.pte.stored import graph_of, only
from tests.support.golden import golden_case


def test_a_view_that_was_left_out_comes_back() -> None:
    graph = graph_of("mean-spatial")
    assert [op.kind for op in graph.ops] == ["quantize", "avg_pool2d", "view", "dequantize"]
    view = graph.ops[2]
    assert graph.tensors[view.inputs[0]].shape == (1, 8, 1, 1)
    assert graph.tensors[view.outputs[0]].shape == (1, 8)


def test_padding_is_logical() -> None:
    case = golden_case("pad-pad_rank4_last_two_dims_channels_last")
    pad = only(read_pte(case.pte, name="test"), ops.Pad)
    assert isinstance(pad, ops.Pad)
    grown = tuple(b + a for b, a in zip(pad.before, pad.after, strict=True))
    assert grown[:2] == (0, 0) and all(grown[2:])


def test_splitting_gives_one_slice_per_result() -> None:
    graph = graph_of("portable_int8-split_with_sizes")
    slices = [op.attrs for op in graph.ops if isinstance(op.attrs, ops.Slice)]
    assert [attrs.begin for attrs in slices] == [(0, 0, 0, 0), (0, 1, 0, 0)]
    assert {attrs.step for attrs in slices} == {(1, 1, 1, 1)}
