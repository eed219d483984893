# SPDX-License-Identifier: Apache-2.0
"""Products of matrices read and write heads of attention where they lie, the same elements."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.edit import remove_dead
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify.strides import move_operands_once

from tests.support.graphs import Net


def _view(net: Net, x: int, *shape: int) -> int:
    return net.add(ops.View(), [x], shape)


def _kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def _moved(net: Net, result: int) -> Graph:
    before = check_graph(net.finish(result))
    after = check_graph(remove_dead(move_operands_once(before)))
    x = np.random.default_rng(1).integers(-128, 128, before.tensors[before.inputs[0]].shape)
    (want,), (got,) = (run_graph(each, [x.astype(np.int8)]) for each in (before, after))
    np.testing.assert_array_equal(got, want)
    return after


def _part(net: Net, qkv: int, number: int, batch: int, tokens: int, heads: int, depth: int) -> int:
    """[batch * heads, tokens, depth] of [batch, tokens, 3 * heads * depth], as attention is written."""
    x = _view(net, qkv, batch, tokens, 3, heads, depth)
    x = net.transpose(x, (2, 0, 3, 1, 4))
    begin = (number, 0, 0, 0, 0)
    x = net.add(ops.Slice(begin, (1,) * 5), [x], (1, batch, heads, tokens, depth))
    return _view(net, x, batch * heads, tokens, depth)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    batch=st.integers(1, 2),
    tokens=st.integers(1, 5),
    heads=st.integers(1, 3),
    depth=st.integers(1, 4),
)
def test_heads_are_read_and_written_where_they_lie(
    batch: int, tokens: int, heads: int, depth: int
) -> None:
    net = Net()
    qkv = net.linear(net.input((batch, tokens, 6)), 3 * heads * depth)
    q, k, v = (_part(net, qkv, number, batch, tokens, heads, depth) for number in range(3))
    scores = net.batch_matmul(q, net.transpose(net.transpose(k, (0, 2, 1)), (0, 2, 1)))
    x = net.batch_matmul(scores, net.transpose(v, (0, 2, 1)))
    x = net.transpose(_view(net, x, batch, heads, tokens, depth), (0, 2, 1, 3))
    after = _moved(net, net.linear(_view(net, x, batch, tokens, heads * depth), 6))
    moves_nothing = {"view"} if heads > 1 and tokens > 1 else {"view", "transpose"}
    kinds = [kind for kind in _kinds(after) if kind not in moves_nothing]
    # One layer for queries and keys, one for values.
    assert kinds == ["linear", "linear", "batch_matmul", "batch_matmul", "linear"]


def test_what_cannot_be_read_by_rows_is_moved_once() -> None:
    """Columns of a left operand; the right one has them."""
    net = Net()
    x = net.linear(net.input((2, 3, 4)), 4)
    y = net.transpose(net.linear(x, 4), (0, 2, 1))
    after = _moved(net, net.batch_matmul(net.transpose(x, (0, 2, 1)), y))
    assert _kinds(after) == ["linear", "linear", "transpose", "batch_matmul"]
    net = Net()
    given = net.input((5, 4))
    x, y = _view(net, net.linear(given, 6), 5, 2, 3), _view(net, net.linear(given, 14), 2, 7, 5)
    left = net.transpose(net.transpose(x, (1, 0, 2)), (0, 2, 1))  # [2, 3, 5]
    after = _moved(net, net.batch_matmul(left, y))
    kinds = [kind for kind in _kinds(after) if kind != "view"]
    assert kinds == ["linear", "linear", "as_strided", "batch_matmul"]


def test_a_cache_is_read_where_it_lies() -> None:
    """Keys are written where an index says, and transposed as attention is written, and back."""
    net = Net()
    key, at, query = net.input((1, 2, 1, 4)), net.input((1,), DType.S64), net.input((2, 1, 4))
    order = (0, 1, 2, 3)
    cache = net.tensor((1, 2, 8, 4), order=order)
    after = net.add(ops.IndexPut((2,), False), [cache, key, at], (1, 2, 8, 4), order=order)
    net.keep(cache, after)
    keys = _view(net, net.transpose(after, (0, 1, 3, 2)), 2, 4, 8)
    scores = net.batch_matmul(query, net.transpose(keys, (0, 2, 1)))
    moved = remove_dead(move_operands_once(net.finish(scores)))
    assert _kinds(check_graph(moved)) == ["index_put", "view", "batch_matmul"]
