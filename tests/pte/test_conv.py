# SPDX-License-Identifier: Apache-2.0
"""Reading convolutions; four values of padding, as newer versions of ExecuTorch fuse them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.executorch.operators import find_operators
from cortexm_tools.ir import ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.pte import parse_program, read_program
from cortexm_tools.pte.values import PteInstruction, PteList, PteProgram
from cortexm_tools.target import Target

from tests.pte.stored import graph_of, only
from tests.support.golden import golden_cases

CONVOLUTIONS = ("cortex_m::quantized_conv2d.out", "cortex_m::quantized_depthwise_conv2d.out")
KINDS = dict.fromkeys(
    (*CONVOLUTIONS, "cortex_m::quantize_per_tensor.out", "cortex_m::dequantize_per_tensor.out"), ""
)
# Of (top, left, bottom, right), in the orders that programs may have.
ORDERS = ((0, 1, 2, 3), (0, 2, 1, 3), (1, 3, 0, 2))


def with_padding(program: PteProgram, position: int, padding: tuple[int, ...]) -> PteProgram:
    """`program` with other padding in the convolution at `position`."""
    call = program.instructions[position]
    first = len(program.values)
    items = PteList(tuple(range(first, first + len(padding))), False, False)
    values = (*program.values, *padding, items)
    args = (*call.args[:4], len(values) - 1, *call.args[5:])
    changed = replace(call, args=args)
    instructions = (
        *program.instructions[:position], changed, *program.instructions[position + 1 :],
    )  # fmt: skip
    return replace(program, values=values, instructions=instructions)


def convolutions() -> list[tuple[PteProgram, int, Window, tuple[int, ...], tuple[int, ...]]]:
    """Program, position, attributes, input and output size of the convolutions of the golden cases."""
    found = []
    for case in golden_cases(KINDS):
        program = parse_program(case.pte)
        graph = read_program(program, name="test")
        attrs = [op for op in graph.ops if isinstance(op.attrs, ops.ConvAttrs)]
        places = [k for k, i in enumerate(program.instructions) if i.operator in CONVOLUTIONS]
        for place, op in zip(places, attrs, strict=True):
            assert isinstance(op.attrs, ops.ConvAttrs)
            sizes = (graph.tensors[i].shape[2:] for i in (op.inputs[0], op.outputs[0]))
            found.append((program, place, op.attrs.window, *sizes))
    return found  # type: ignore[return-value]


def padding_of(program: PteProgram, place: int) -> tuple[int, ...]:
    """What the reader makes of the convolution at `place`, which is one of few in the program."""
    number = sum(i.operator in CONVOLUTIONS for i in program.instructions[:place])
    graph = read_program(program, name="test")
    return [op.attrs.window.padding for op in graph.ops if isinstance(op.attrs, ops.ConvAttrs)][
        number
    ]


def test_the_same_padding_in_two_and_in_four_values() -> None:
    cases = convolutions()
    assert len(cases) > 60
    refused = 0
    for program, place, window, _, _ in cases:
        for order in ORDERS:
            four = tuple(window.padding[i] for i in order)
            try:
                assert padding_of(with_padding(program, place, four), place) == window.padding
            except CortexMError as error:
                assert "in one way" in error.message
                refused += 1
    assert refused < len(cases) // 4


def test_half_of_a_same_padding_is_before_the_image() -> None:
    uneven = 0
    for program, place, window, size, out in convolutions():
        if any(o != -(-n // s) for o, n, s in zip(out, size, window.stride, strict=True)):
            continue
        taps = program.values[program.instructions[place].args[1]].shape[1:3]  # type: ignore[union-attr]
        total = [
            max(0, (o - 1) * s + d * (k - 1) + 1 - n)
            for n, o, s, d, k in zip(size, out, window.stride, window.dilation, taps, strict=True)
        ]
        same = (total[0] // 2, total[1] // 2, total[0] - total[0] // 2, total[1] - total[1] // 2)
        uneven += same[:2] != same[2:]
        for order in ORDERS:
            four = tuple(same[i] for i in order)
            assert padding_of(with_padding(program, place, four), place) == same
    assert uneven > 2


def test_what_fits_in_no_way_is_refused() -> None:
    program, place, _, _, _ = convolutions()[0]
    with pytest.raises(CortexMError, match="does not give") as caught:
        read_program(with_padding(program, place, (40, 0, 0, 0)), name="test")
    assert "two values" in caught.value.hint


def test_executorch_s_own_runtime_does_not_take_it() -> None:
    program, place, window, _, _ = convolutions()[0]
    fused = with_padding(program, place, window.padding)
    assert isinstance(fused.instructions[place], PteInstruction)
    with pytest.raises(CortexMError, match="four values") as caught:
        find_operators(fused, (), Target.parse("cortex-m55"))
    assert "RUNTIME executorch" in caught.value.hint


def test_transposed_convolution_keeps_pytorchs_padding() -> None:
    graph = graph_of("conv_transpose-conv_transpose2d_kernel_1x1")
    attrs = only(graph, ops.TransposeConv2d)
    assert isinstance(attrs, ops.TransposeConv2d)
    assert attrs.window.padding[:2] == attrs.window.padding[2:]
