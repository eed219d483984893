# SPDX-License-Identifier: Apache-2.0
"""Reading programs that keep state: its name, type and initial value, and what it becomes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.pte import read_pte
from cortexm_tools.pte.program import parse_program
from cortexm_tools.pte.reader import read_program
from cortexm_tools.pte.values import PteProgram, PteTensor

from tests.support.streams import stored_program


def _program(name: str) -> PteProgram:
    return parse_program(stored_program(name))


def test_a_counter() -> None:
    graph = read_pte(stored_program("counter"), name="counter")
    (state,) = graph.states
    assert graph.tensors[state.before].dtype is DType.S64
    rows = [[np.zeros((1, 8), np.float32)]] * 4
    counts = [int(outputs[1][0]) for outputs in run_sequence(graph, rows)]
    steps = np.diff(counts)
    assert (steps == steps[0]).all() and steps[0] > 0


def test_states_that_change_places() -> None:
    graph = read_pte(stored_program("swapped"), name="swapped")
    assert len(graph.states) == 2
    rows = [[np.full((1, 8), 0.5, np.float32)]] * 4
    first, second, third, fourth = (outputs[0] for outputs in run_sequence(graph, rows))
    assert np.array_equal(first, third) and np.array_equal(second, fourth)
    assert not np.array_equal(first, second)


def test_initial_values_in_the_order_of_memory() -> None:
    """A frame buffer in channels_last."""
    graph = read_pte(stored_program("frames"), name="frames")
    (state,) = graph.states
    tensor = graph.tensors[state.before]
    assert tensor.dim_order == (0, 2, 3, 1) and state.initial.shape == tensor.shape


def _without_data(program: PteProgram) -> PteProgram:
    """As files of other tools are: the state has no initial value."""
    values = [
        replace(value, data=None) if isinstance(value, PteTensor) and value.mutable else value
        for value in program.values
    ]
    return replace(program, values=tuple(values))


@pytest.mark.parametrize("name", ["recurrent", "streaming", "counter"])
def test_without_an_initial_value_it_is_zero(name: str) -> None:
    graph = read_program(_without_data(_program(name)), name=name)
    assert len(graph.states) == 1
    assert not graph.states[0].initial.any()


def test_a_copy_of_another_type_is_refused() -> None:
    program = _program("recurrent")
    state = next(i.args[0] for i in program.instructions if i.operator == "aten::copy_")
    value = program.values[state]
    assert isinstance(value, PteTensor)
    other = _program("counter").values
    wide = next(v for v in other if isinstance(v, PteTensor) and v.scalar_type.name == "S64")
    values = list(program.values)
    values[state] = replace(value, scalar_type=wide.scalar_type, data=None)
    with pytest.raises(CortexMError, match="copy_|quantize"):
        read_program(replace(program, values=tuple(values)), name="net")


def test_a_copy_to_an_input_is_refused() -> None:
    program = _program("recurrent")
    instructions = [
        replace(i, args=(program.inputs[0], *i.args[1:3], program.inputs[0]))
        if i.operator == "aten::copy_"
        else i
        for i in program.instructions
    ]
    with pytest.raises(CortexMError):
        read_program(replace(program, instructions=tuple(instructions)), name="net")
