# SPDX-License-Identifier: Apache-2.0
"""States as codes: which ones are, and that every call gives the same as before."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import Array, DType, Graph, ops
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs
from tests.support.streams import random_stream


def _recurrent(
    initial: Array, *, read: float = 0.05, written: float = 0.05, floats: bool = False
) -> Graph:
    """A float state that is quantized with scale `read` and dequantized with scale `written`."""
    net = Net()
    x, old = net.input((1, 6)), net.tensor((1, 6), DType.F32)
    new = net.activation(net.sum(net.quantize(old, read), x))
    net.keep(old, net.dequantize(new, written), initial)
    outputs = [net.linear(new, 3)]
    if floats:
        outputs.append(net.add(ops.Binary("add"), [old, old], (1, 6), DType.F32))
    return net.finish(*outputs)


def _assert_same(before: Graph, after: Graph, calls: int = 5) -> None:
    rows = [random_inputs(before, k) for k in range(calls)]
    for want, got in zip(run_sequence(before, rows), run_sequence(after, rows), strict=True):
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(a, b)


_ODD = np.array([[0.0, 0.05, -0.1, 0.123, 3.0, -9.0]], np.float32)
_EXACT = (np.array([[3, 4, 5, 6, -128, 127]], np.int64) - 3).astype(np.float32) * np.float32(0.05)


@pytest.mark.parametrize("initial", [np.zeros((1, 6), np.float32), _ODD, _EXACT])
@pytest.mark.parametrize("written", [0.05, 0.11])
def test_a_state_that_is_quantized_when_read(initial: Array, written: float) -> None:
    before = _recurrent(initial, written=written)
    after = simplify(before)
    (state,) = after.states
    assert after.tensors[state.before].dtype is DType.S8 and state.initial.dtype == np.int8
    assert {op.kind for op in after.ops} == {"add", "activation", "linear"}
    _assert_same(before, after)


def test_a_state_that_was_codes_when_written() -> None:
    before = _recurrent(_EXACT, floats=True)
    after = simplify(before)
    assert after.tensors[after.states[0].before].dtype is DType.S8
    _assert_same(before, after)


def test_an_initial_value_without_codes_stays_a_float() -> None:
    before = _recurrent(_ODD, floats=True)
    after = simplify(before)
    assert after.tensors[after.states[0].before].dtype is DType.F32
    _assert_same(before, after)


def test_codes_move_behind_views() -> None:
    net = Net()
    x, old = net.input((1, 6)), net.tensor((2, 3), DType.F32)
    new = net.sum(net.view(net.quantize(old), (1, 6)), x)
    flat = net.dequantize(new)
    moved = net.add(ops.Binary("add"), [old, old], (2, 3), DType.F32)
    net.keep(old, net.view(flat, (2, 3)), np.zeros((2, 3), np.float32))
    before = net.finish(new, moved)
    after = simplify(before)
    assert after.tensors[after.states[0].before].dtype is DType.S8
    _assert_same(before, after)


@pytest.mark.parametrize("seed", range(60))
def test_random_streams_keep_their_results(seed: int) -> None:
    before = random_stream(seed)
    _assert_same(before, simplify(before), calls=4)
