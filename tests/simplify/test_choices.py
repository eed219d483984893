# SPDX-License-Identifier: Apache-2.0
"""What is chosen from constants and codes is chosen as codes, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import Array, DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net

RANDOM = np.random.default_rng(3)


def _simplified(net: Net, result: int, *inputs: Array) -> Graph:
    before = net.finish(result)
    after = simplify(before)
    (want,), (got,) = (run_graph(each, list(inputs)) for each in (before, after))
    np.testing.assert_array_equal(got, want)
    return after


@pytest.mark.parametrize("kind", ["index", "gather"])
def test_a_table_is_kept_as_codes(kind: str) -> None:
    net = Net()
    table = net.constant(RANDOM.standard_normal((50, 8)).astype(np.float32), DType.F32)
    index = RANDOM.integers(-3, 60, (3,) if kind == "index" else (3, 8))
    place = net.input(index.shape, DType.S64)
    attrs = ops.Index((0,)) if kind == "index" else ops.Gather(0)
    row = net.add(attrs, [table, place], (3, 8), DType.F32)
    after = _simplified(net, net.activation(net.quantize(row)), index)
    assert [op.kind for op in after.ops] == [kind, "activation"]
    assert [t.nbytes for t in after.tensors if t.is_constant and t.dtype is DType.S8] == [256, 400]


@pytest.mark.parametrize("same", [True, False])
def test_masked_scores_stay_codes(same: bool) -> None:
    """Minus infinity becomes the lowest code."""
    net = Net()
    x, mask = net.input((2, 3, 5)), net.input((5,), DType.BOOL)
    lowest = net.constant(np.array(-np.inf, np.float32), DType.F32)
    real = net.dequantize(x, zero_point=3 if same else 4)
    chosen = net.add(ops.Where(), [mask, lowest, real], (2, 3, 5), DType.F32)
    scores = net.softmax(net.quantize(chosen), 2)
    codes = RANDOM.integers(-128, 128, (2, 3, 5)).astype(np.int8)
    after = _simplified(net, scores, codes, np.array([0, 1, 0, 0, 1], np.bool_))
    assert [op.kind for op in after.ops] == [*["activation"] * (not same), "where", "softmax"]


def test_what_is_computed_in_float_stays() -> None:
    net = Net()
    table = net.input((50, 8), DType.F32)
    row = net.add(ops.Index((0,)), [table, net.input((3,), DType.S64)], (3, 8), DType.F32)
    values = RANDOM.standard_normal((50, 8)).astype(np.float32)
    after = _simplified(net, net.quantize(row), values, np.arange(3))
    assert [op.kind for op in after.ops] == ["index", "quantize"]
