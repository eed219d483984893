# SPDX-License-Identifier: Apache-2.0
"""Reading recurrent layers on codes: operators of the library ``cortexm``."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_program
from cortexm_tools.pte.values import ScalarType

from tests.support.random_graphs import random_inputs
from tests.support.wide_programs import RECURRENT, Argument, Input, recurrent_program

S8, S16 = ScalarType.S8, ScalarType.S16
KINDS = {"lstm": ops.Lstm, "gru": ops.Gru, "rnn": ops.Rnn}


@pytest.mark.parametrize("dtype", [S8, S16])
@pytest.mark.parametrize("operator", RECURRENT)
def test_layers_are_read(operator: str, dtype: ScalarType) -> None:
    graph = read_program(recurrent_program(operator, dtype), name="test")
    check_graph(graph)
    (op,) = graph.ops
    kind, _, last = operator.partition("_")
    attrs = op.attrs
    assert isinstance(attrs, KINDS[kind])
    assert (attrs.sequence, attrs.reverse, attrs.batch_first) == (not last, True, False)
    zero = 3 if dtype is S8 else 0
    assert (attrs.x_zero_point, attrs.h_zero_point) == (zero, -zero)
    bias = graph.tensors[op.inputs[-1]]
    assert len(attrs.gates) == bias.shape[0] and attrs.gates[0] == 2**14
    own = {"lstm": ("cell_bits", 12), "gru": ("state_bits", 15), "rnn": ("relu", False)}
    name, value = own[kind]
    assert getattr(attrs, name) == value
    results = run_graph(graph, random_inputs(graph, 1))
    assert [result.shape for result in results] == [
        graph.tensors[index].shape for index in graph.outputs
    ]
    assert all(len(np.unique(result)) > 1 for result in results)


@pytest.mark.parametrize("operator", RECURRENT)
def test_a_state_that_is_not_given_is_zero(operator: str) -> None:
    states = {"hidden": None} | ({"cell": None} if operator.startswith("lstm") else {})
    without = read_program(recurrent_program(operator, S8, **states), name="test")
    given = read_program(recurrent_program(operator, S8), name="test")
    (x,) = random_inputs(without, 2)
    zeros = [np.zeros(given.tensors[i].shape, given.tensors[i].dtype.numpy) for i in given.inputs]
    zeros[0] = x
    attrs = given.ops[0].attrs
    if given.tensors[given.inputs[1]].dtype is DType.S8:
        assert isinstance(attrs, ops.RecurrentAttrs)
        zeros[1] += np.int8(attrs.h_zero_point)
    for have, want in zip(run_graph(without, [x]), run_graph(given, zeros), strict=True):
        np.testing.assert_array_equal(have, want)


CHANGES: list[tuple[str, dict[str, Argument], str]] = [
    ("lstm", {"input": Input((3, 2), S8)}, "three dimensions"),
    ("lstm", {"input": Input((3, 2, 2), S16)}, "input_zero_point"),
    ("lstm", {"cell": Input((2, 2), S8)}, "must be s16"),
    ("lstm", {"gate_multipliers": np.ones(7, np.int16)}, "as many int16 numbers"),
    ("lstm", {"gate_multipliers": np.ones(8, np.int32)}, "as many int16 numbers"),
    ("lstm", {"gate_multipliers": np.full(8, -1, np.int16)}, "negative"),
    ("lstm", {"cell_bits": 16}, "cell_bits"),
    ("gru", {"state_bits": -1}, "state_bits"),
    ("gru", {"hidden": Input((2, 2), S8)}, "must be s16"),
    ("gru_last", {"hidden": Input((2, 3), S16)}, "does not have the shape"),
    ("rnn", {"input_zero_point": 128}, "input_zero_point"),
    ("rnn", {"hidden_zero_point": -129}, "hidden_zero_point"),
    ("rnn", {"hidden_shift": 16}, "hidden_shift"),
    ("rnn_last", {"gate_shift": 16}, "gate_shift"),
    ("rnn_last", {"output_shift": 0}, "output_shift"),
    ("lstm_last", {"output_multiplier": 2**15}, "output_multiplier"),
    ("gru", {"input_weights": Input((6, 2), S8)}, "constant"),
]


@pytest.mark.parametrize(("operator", "changed", "message"), CHANGES)
def test_what_a_layer_does_not_mean_is_refused(
    operator: str, changed: dict[str, Argument], message: str
) -> None:
    with pytest.raises(CortexMError) as error:
        check_graph(read_program(recurrent_program(operator, S8, **changed), name="test"))
    assert message in f"{error.value} {error.value.hint}"
