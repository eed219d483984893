# SPDX-License-Identifier: Apache-2.0
"""Parsing the container: header, segments, values, instructions."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.pte.program import parse_program
from cortexm_tools.pte.values import Dynamism, InstructionKind, PteList, PteTensor, ScalarType

from tests.support.golden import golden_case, golden_cases


def test_a_linear_layer() -> None:
    program = parse_program(golden_case("activation-linear_relu6").pte)
    assert program.method == "forward"
    assert program.delegates == () and program.named_data == ()
    assert [i.kind for i in program.instructions] == [InstructionKind.KERNEL] * 3
    assert program.instructions[1].operator == "cortex_m::quantized_linear.out"
    weights = program.values[program.instructions[1].args[1]]
    assert isinstance(weights, PteTensor)
    assert weights.scalar_type is ScalarType.S8
    assert (weights.shape, weights.dim_order) == ((8, 8), (0, 1))
    assert weights.dynamism is Dynamism.STATIC and not weights.mutable
    assert weights.data is not None and len(weights.data) == weights.nbytes == 64
    kernel_sum = program.values[program.instructions[1].args[3]]
    assert isinstance(kernel_sum, PteTensor) and kernel_sum.data is not None
    # The zero point is folded into the sum: -offset * sum(w) + bias, and the bias is absent.
    codes = np.frombuffer(weights.data, np.int8).reshape(8, 8).astype(np.int32)
    sums = np.frombuffer(kernel_sum.data, np.int32)
    offset = program.values[program.instructions[1].args[4]]
    assert offset == 85
    assert np.array_equal(sums, codes.sum(axis=1) * 85)
    multipliers = program.values[program.instructions[1].args[7]]
    assert isinstance(multipliers, PteList) and not multipliers.of_tensors
    assert [program.values[item] for item in multipliers.items] == [1523961728]


def test_inputs_take_the_stated_dim_order() -> None:
    for case in golden_cases():
        program = parse_program(case.pte)
        values = [program.values[index] for index in program.inputs]
        tensors = [value for value in values if isinstance(value, PteTensor)]
        assert [tensor.shape for tensor in tensors] == [array.shape for array in case.inputs]
        assert [tensor.dim_order for tensor in tensors] == list(case.orders)


def test_a_missing_method() -> None:
    with pytest.raises(CortexMError, match="no method 'backward'") as error:
        parse_program(golden_case("activation-linear_relu6").pte, method="backward")
    assert "forward" in error.value.hint


def test_segments_must_lie_in_the_file() -> None:
    data = bytearray(golden_case("activation-linear_relu6").pte)
    with pytest.raises(CortexMError, match="data segment lies outside"):
        parse_program(bytes(data[:-1]))
    data[24:32] = (2**62).to_bytes(8, "little")
    with pytest.raises(CortexMError, match="segments do not begin behind"):
        parse_program(bytes(data))


def test_bytes_behind_the_last_segment_do_not_matter() -> None:
    data = golden_case("activation-linear_relu6").pte
    assert parse_program(data + bytes(128)).values == parse_program(data).values
