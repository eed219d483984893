# SPDX-License-Identifier: Apache-2.0
"""Which outputs are exact, and what counts as a difference."""

from __future__ import annotations

import numpy as np

from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.exactness import differing, inexact_tensors, tolerances

from tests.support.graphs import Net


def test_library_functions_make_what_follows_inexact() -> None:
    net = Net()
    x = net.input((2, 3), DType.F32)
    root = net.add(ops.Unary("sqrt"), [x], (2, 3), DType.F32)
    exponential = net.add(ops.Unary("exp"), [root], (2, 3), DType.F32)
    total = net.add(ops.Binary("add"), [exponential, root], (2, 3), DType.F32)
    codes = net.quantize(total)
    back = net.dequantize(codes, scale=0.25)
    graph = net.finish(root, total, codes, back)
    assert inexact_tensors(graph) == {exponential, total, codes, back}
    assert tolerances(graph) == (0.0, None, 1.0, 0.25)


def test_softmax_and_powers_are_inexact_and_norms_are_not() -> None:
    net = Net()
    x = net.input((2, 3), DType.F32)
    one = net.constant(np.ones(3), DType.F32)
    norm = net.add(ops.FloatLayerNorm(3, 1e-5), [x, one, one], (2, 3), DType.F32)
    soft = net.add(ops.FloatSoftmax(1, False), [x], (2, 3), DType.F32)
    power = net.add(ops.Binary("pow"), [x, one], (2, 3), DType.F32)
    assert tolerances(net.finish(norm, soft, power)) == (0.0, None, None)


def test_exact_values_differ_by_bits_except_nan() -> None:
    nan, other = np.array([0x7FC00000, 0xFFC00001], np.uint32).view(np.float32)
    expected = np.array([1.0, 0.0, nan, np.inf], np.float32)
    assert differing(np.array([1.0, 0.0, other, np.inf], np.float32), expected) == 0
    assert differing(np.array([1.0, -0.0, other, 3.0], np.float32), expected) == 2
    assert differing(np.array([1, 2], np.int8), np.array([1, 3], np.int8)) == 1


def test_inexact_values_differ_beyond_the_tolerance() -> None:
    expected = np.array([100.0, 0.0, np.nan, -np.inf], np.float32)
    near = np.array([100.0, 0.0015, np.nan, -np.inf], np.float32)
    assert differing(near, expected, None) == 0
    assert differing(near + np.float32(0.001), expected, None) == 1
    far = np.array([100.0, 0.0, 1.0, np.inf], np.float32)
    assert differing(far, expected, None) == 2
    codes = np.array([5, -128], np.int8)
    assert differing(np.array([6, -127], np.int8), codes, 1.0) == 0
    assert differing(np.array([7, -128], np.int8), codes, 1.0) == 1


def test_int8_graphs_are_exact() -> None:
    net = Net()
    x = net.input((1, 4, 4, 4))
    graph = net.finish(net.softmax(net.conv(x, 4), 1))
    assert tolerances(graph) == (0.0,)
    assert isinstance(graph.ops[-1].attrs, ops.Softmax)
