# SPDX-License-Identifier: Apache-2.0
"""fold_constants: what depends on constants alone is computed at build time, if that is exact."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.edit import remove_dead
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify.constants import fold_constants

from tests.support.graphs import Net


def test_transposed_weights_keep_their_bytes() -> None:
    net = Net()
    x = net.input((2, 4), DType.F32)
    weight = net.constant(net.random.normal(size=(3, 4)), DType.F32)
    turned = net.add(ops.Transpose((1, 0)), [weight], (4, 3), DType.F32)
    result = net.add(ops.FloatMatmul(), [x, turned], (2, 3), DType.F32)
    graph = net.finish(result)
    folded = check_graph(fold_constants(graph))
    assert [op.kind for op in folded.ops] == ["float_matmul"]
    tensor = folded.tensors[turned]
    assert tensor.dim_order == (1, 0) and tensor.data is not None
    stored = tensor.data.transpose(tensor.dim_order)
    assert np.array_equal(stored, graph.tensors[weight].data)
    value = net.random.normal(size=(2, 4)).astype(np.float32)
    assert np.array_equal(run_graph(graph, [value])[0], run_graph(folded, [value])[0])


@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
def test_softmax_over_one_element_is_a_constant(dtype: DType) -> None:
    net = Net()
    x = net.input((3, 1, 5), dtype)
    graph = net.finish(net.softmax(x, 1), net.softmax(x, 2))
    folded = check_graph(remove_dead(fold_constants(graph)))
    assert [op.kind for op in folded.ops] == ["expand", graph.ops[1].kind]
    assert folded.tensors[folded.ops[0].inputs[0]].numel == 1
    value = net.random.integers(*dtype.limits, (3, 1, 5)).astype(dtype.numpy)
    for before, after in zip(run_graph(graph, [value]), run_graph(folded, [value]), strict=True):
        assert np.array_equal(before, after)


def test_chains_fold_in_one_pass() -> None:
    net = Net()
    x = net.input((3,), DType.F32)
    whole = net.constant(np.array(7), DType.S64)
    real = net.add(ops.Cast(), [whole], (), DType.F32)
    root = net.add(ops.Unary("sqrt"), [real], (), DType.F32)
    graph = fold_constants(net.finish(net.add(ops.Binary("mul"), [x, root], (3,), DType.F32)))
    assert [op.kind for op in graph.ops] == ["binary"]
    assert graph.tensors[root].data == np.sqrt(np.float32(7))


def test_inexact_large_and_returned_results_stay() -> None:
    net = Net()
    one = net.constant(np.ones(4), DType.F32)
    exponential = net.add(ops.Unary("exp"), [one], (4,), DType.F32)
    wide = net.add(ops.Expand(), [one], (100, 4), DType.F32)
    returned = net.add(ops.Unary("neg"), [one], (4,), DType.F32)
    total = net.add(ops.Binary("add"), [wide, exponential], (100, 4), DType.F32)
    graph = net.finish(total, returned)
    assert fold_constants(graph).ops == graph.ops
