# SPDX-License-Identifier: Apache-2.0
"""Every operator, along every dimension of its operands: its stream gives the bytes of its windows, or is
refused. One that is said to work alike in every column computes the new ones alone."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Attrs, Graph, ops
from cortexm_tools.options.stream import Stream
from cortexm_tools.stream import check_stream, stream_graph
from cortexm_tools.stream.stage import random_input
from cortexm_tools.stream.trace import follow

from tests.support.operator_examples import examples, kinds

_CALLS = 8


@pytest.mark.parametrize("kind", sorted(kinds(), key=lambda kind: kind.kind), ids=lambda k: k.kind)
def test_operators_alone(kind: type[Attrs]) -> None:
    random = np.random.default_rng(0)
    for graph in examples(kind):
        ranks = {len(graph.tensors[index].shape) for index in graph.inputs}
        for dim in range(min(ranks, default=0)):
            for hop in (1, 2, 3):
                _compare(graph, Stream(dim, hop), random)


def _compare(graph: Graph, stream: Stream, random: np.random.Generator) -> None:
    try:
        model = stream_graph(graph, stream)
    except CortexMError as error:
        said = ("does not fit", "along time", "as in attention")
        assert any(words in str(error) for words in said), error
        return
    rows = [
        [random_input(graph, index, random) for index in graph.inputs]
        for _ in range(_CALLS * stream.hop)
    ]
    check_stream(model, model.join(rows), calls=_CALLS, windows=_CALLS)


_ALIKE: dict[type[Attrs], int] = {
    ops.Conv2d: 3,
    ops.AvgPool2d: 3,
    ops.Activation: 0,
    ops.Softmax: 0,
    ops.Linear: 0,
    ops.LogMel: 1,
    ops.Transpose: 1,
    ops.Reduce: 0,
}


@pytest.mark.parametrize("kind", _ALIKE, ids=lambda kind: kind.kind)
def test_operators_that_work_alike_in_every_column(kind: type[Attrs]) -> None:
    assert any(follow(graph, Stream(_ALIKE[kind], 1)).forms for graph in examples(kind))
