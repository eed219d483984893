# SPDX-License-Identifier: Apache-2.0
"""samples/keypad-tones: a network that hears every call with activations of 16 bits, and not with 8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import DType
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

MODEL = Path(__file__).parents[2] / "samples" / "keypad-tones" / "keypad.py"
CALLS = 200


@pytest.mark.parametrize(
    ("precision", "right", "decibels"),
    [("a16w8", (1.0, 1.0), (28.0, 34.0)), ("int8", (0.6, 0.85), (5.0, 12.0))],
)
def test_quiet_calls(
    precision: str, right: tuple[float, float], decibels: tuple[float, float]
) -> None:
    program = load_program(
        MODEL,
        name="keypad",
        target=Target.parse("cortex-m55"),
        quantization=parse_quantization(precision),
    )
    graph = program.graph()
    assert program.evaluation is not None
    sound, keys = program.evaluation.inputs, program.evaluation.labels
    scores = [run_graph(graph, [sound[n]])[0] for n in range(CALLS)]
    share = np.mean(np.argmax(np.concatenate(scores), axis=1) == keys[:CALLS])
    assert right[0] <= share <= right[1]
    assert program.quality is not None
    assert decibels[0] <= program.quality["outputs"][0]["sqnr_db"] <= decibels[1]
    if precision == "a16w8":
        # Half of the smaller of two numbers is a change of scale, not a table of 8 KB.
        kinds = [op.kind for op in graph.ops]
        assert kinds.count("requantize") == 1 and kinds.count("activation") == 2
        made = {graph.tensors[op.outputs[0]].dtype for op in graph.ops}
        assert made == {DType.S16, DType.F32}
