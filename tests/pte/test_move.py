# SPDX-License-Identifier: Apache-2.0
"""Reading what moves elements: views, padding, splits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import ops
from cortexm_tools.ir.types import Graph
from cortexm_tools.pte import parse_program, read_program, read_pte
from cortexm_tools.pte.values import PteList

from tests.pte.stored import graph_of, only
from tests.support.golden import GoldenCase, golden_case, golden_cases


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


PAD = "cortex_m::pad.out"


def with_contiguous_pad(case: GoldenCase, order: tuple[int, ...] = (0, 1, 2, 3)) -> Graph:
    """The case with the operator that reads no layout into shapes, its entries in another order."""
    program = parse_program(case.pte)
    values, instructions = list(program.values), list(program.instructions)
    for number, call in enumerate(instructions):
        if call.operator == PAD:
            instructions[number] = replace(call, operator="cortex_m::pad_contiguous.out")
            for index in {call.args[1], call.args[2]}:
                entries = values[index]
                assert isinstance(entries, PteList)
                values[index] = replace(entries, items=tuple(entries.items[n] for n in order))
    changed = replace(program, values=tuple(values), instructions=tuple(instructions))
    return read_program(changed, name="test")


def test_contiguous_padding_is_logical_whatever_the_shape() -> None:
    seen = set()
    for case in golden_cases():
        if PAD not in case.operators:
            continue
        graph = read_pte(case.pte, name="test")
        (op,) = (op for op in graph.ops if isinstance(op.attrs, ops.Pad))
        x = graph.tensors[op.inputs[0]]
        is_image = len(x.shape) == 4 and (x.shape[1] == 1 or x.dim_order[1] != 1)
        if x.dim_order != tuple(range(len(x.shape))):
            with pytest.raises(CortexMError, match="is not contiguous"):
                with_contiguous_pad(case)
        elif is_image:
            assert with_contiguous_pad(case, (0, 3, 1, 2)) == graph
        else:
            assert with_contiguous_pad(case) == graph
        seen.add((is_image, len(x.shape)))
    assert seen == {(False, 1), (False, 2), (False, 3), (False, 4), (True, 4)}


def test_splitting_gives_one_slice_per_result() -> None:
    graph = graph_of("portable_int8-split_with_sizes")
    slices = [op.attrs for op in graph.ops if isinstance(op.attrs, ops.Slice)]
    assert [attrs.begin for attrs in slices] == [(0, 0, 0, 0), (0, 1, 0, 0)]
    assert {attrs.step for attrs in slices} == {(1, 1, 1, 1)}
