# SPDX-License-Identifier: Apache-2.0
"""What the interpreter refuses, and how a graph reads as text."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Op, Tensor, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.text import graph_text

from tests.support.graphs import Net


def test_wrong_inputs_are_refused() -> None:
    net = Net()
    x = net.input((1, 4))
    graph = net.finish(net.activation(x))
    with pytest.raises(CortexMError, match="takes 1 inputs, got 0"):
        run_graph(graph, [])
    with pytest.raises(CortexMError, match="the model takes int8"):
        run_graph(graph, [np.zeros((1, 4), np.float32)])


def broken(**changes: object) -> Graph:
    tensors = (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("y", DType.S8, (4,), (0,)))
    fields: dict[str, object] = {
        "name": "g",
        "tensors": tensors,
        "ops": (Op(ops.View(), (0,), (1,)),),
        "inputs": (0,),
        "outputs": (1,),
    }
    return Graph(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ()}, "before it is computed"),
        ({"ops": ()}, "never computed"),
        ({"ops": (Op(ops.View(), (0,), (1,)),) * 2}, "a second time"),
        ({"ops": (Op(ops.View(), (0,), (7,)),)}, "refers to tensor 7"),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("y", DType.S8, (5,), (0,)))},
            "number of elements",
        ),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 0)), Tensor("y", DType.S8, (4,), (0,)))},
            "dim order",
        ),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("x", DType.S8, (4,), (0,)))},
            "one name",
        ),
    ],
)
def test_check_graph_names_what_is_broken(changes: dict[str, object], message: str) -> None:
    assert check_graph(broken()) == broken()
    with pytest.raises(CortexMError, match=message):
        check_graph(broken(**changes))


def test_text_form() -> None:
    net = Net("tiny")
    x = net.input((1, 2, 3, 3), order=contiguous(4))
    graph = net.finish(net.view(x, (18,)))
    assert graph_text(graph) == (
        "graph tiny\n"
        "  in  %t0: s8 1x2x3x3\n"
        "  out %t1: s8 18\n"
        "  %t1: s8 18 = view(%t0) {}  # layer0\n"
    )
