# SPDX-License-Identifier: Apache-2.0
"""Linear layers of few outputs: which may have a kernel of their own, and that it gives the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

# Rows, inputs, outputs.
LAYERS = (
    *((1, inputs, outputs) for inputs in (32, 63, 65) for outputs in range(1, 9)),
    *((rows, 255, 1) for rows in range(1, 10)),
    *((1, inputs, 1) for inputs in (64, 80, 128)),
    *((7, 257, outputs) for outputs in range(2, 8)),
)


def graph_of(*layers: tuple[int, int, int]) -> Graph:
    net = Net("few", 5)
    outs = [net.linear(net.input((rows, inputs)), outputs) for rows, inputs, outputs in layers]
    return net.finish(*outs)


def test_they_give_the_same_bytes(tmp_path: Path) -> None:
    graph, target = graph_of(*LAYERS), Target.parse("cortex-m4")
    with taking(using("linear_n3")):
        calls = [call for step in make_plan(graph, target).steps for call in step.calls]
        assert {call.kernel.op for call in calls} == {"linear_n3"}
        assert_same_bytes(graph, target, tmp_path, seed=3)


def test_rows_that_are_read_as_words_have_one() -> None:
    with taking(using("linear_n3")):
        plan = make_plan(graph_of((1, 32, 2)), Target.parse("cortex-m4"))
    (step,) = plan.steps
    check_contracts(plan, step)
    (call,) = step.calls
    fields = tuple((dict(call.fields) | {"in_features": 3}).items())
    short = replace(step, calls=(replace(call, fields=fields),))
    with pytest.raises(CortexMError, match="linear_n3_s8_dsp requires in_features >= 4"):
        check_contracts(plan, short)
