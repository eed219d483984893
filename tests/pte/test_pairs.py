# SPDX-License-Identifier: Apache-2.0
"""Programs of any quantizer, with pairs of quantize and dequantize around PyTorch's operators.

tests/data/pairs/make.py made them with ExecuTorch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, Rescale
from cortexm_tools.ir.fixed_point import quantize_multiplier
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import reader
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify

from tests.support.random_graphs import random_inputs

DATA = Path(__file__).parents[1] / "data" / "pairs"


def read(name: str) -> Graph:
    return simplify(read_pte((DATA / f"{name}.pte").read_bytes(), name=name))


@pytest.mark.parametrize(
    ("name", "codes", "decibels"),
    [("a8w8", DType.S8, 35), ("a16w8", DType.S16, 75), ("a16w4", DType.S16, 75)],
)
def test_pairs_become_operators_of_codes(
    name: str, codes: DType, decibels: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left in float, and the result is that of the float operators but for roundings."""
    graph = read(name)
    monkeypatch.setattr(reader, "_has_pairs", lambda program: False)
    floats = read(name)
    made = {(op.kind, graph.tensors[op.outputs[0]].dtype) for op in graph.ops}
    assert {kind for kind, dtype in made if dtype is not codes} == {"dequantize", "clone"}
    kinds = {kind for kind, dtype in made if dtype is codes}
    assert kinds >= {
        *("conv2d", "depthwise_conv2d", "transpose_conv2d", "linear", "add", "mul", "activation"),
        *("max_pool2d", "avg_pool2d", "concat", "pad", "slice"),
    }
    # Between int8 codes a requantization is a table.
    assert ("requantize" in kinds) == (codes is DType.S16)
    inputs = random_inputs(graph, 3)
    for have, want in zip(run_graph(graph, inputs), run_graph(floats, inputs), strict=True):
        noise = np.square(have - want).sum()
        assert np.square(want).sum() >= 10 ** (decibels / 10) * noise
    # Weights of 4 bits stay that.
    weights = [graph.tensors[op.inputs[1]].data for op in graph.ops if op.kind == "linear"]
    assert (max(np.abs(each).max() for each in weights if each is not None) <= 8) == (
        name == "a16w4"
    )


@pytest.mark.parametrize(
    ("factor", "rescale"),
    [
        (0.75, Rescale(3 << 29, 0)),
        (1.0, Rescale(1 << 30, 1)),
        (1 - 2**-40, Rescale(1 << 30, 1)),
        (2**-30, Rescale(1 << 30, -29)),
        (2.0**-40, Rescale(0, 0)),
        (0.0, Rescale(0, 0)),
        (0.5 + 2**-32, Rescale((1 << 30) + 1, 0)),
    ],
)
def test_multipliers(factor: float, rescale: Rescale) -> None:
    assert quantize_multiplier(factor) == rescale
