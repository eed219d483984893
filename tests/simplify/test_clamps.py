# SPDX-License-Identifier: Apache-2.0
"""simplify/clamps.py: tables that only limit codes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs

CODES = np.arange(-128, 128)


def table(net: Net, x: int, codes: np.ndarray) -> int:
    constant = net.constant(codes.astype(np.int8), DType.S8)
    return net.add(ops.Activation(), [x, constant], net.shape(x))


def kinds(graph: Graph) -> list[str]:
    """Of the simplified graph, whose results are those of `graph`."""
    found = simplify(graph)
    for seed in range(3):
        inputs = random_inputs(graph, seed)
        for given, had in zip(run_graph(found, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(given, had)
    return [op.kind for op in found.ops]


LAYERS: dict[str, Callable[[Net, int], int]] = {
    "conv2d": lambda net, x: net.conv(x, 5),
    "depthwise_conv2d": lambda net, x: net.conv(x, 3, depthwise=True),
    "add": lambda net, x: net.sum(x, net.pool(x, (1, 1), largest=True)),
    "max_pool2d": lambda net, x: net.pool(x, (2, 2), largest=True),
    "linear": lambda net, x: net.linear(net.view(x, (2, 60)), 9),
}


@pytest.mark.parametrize("limits", [(-9, 127), (-128, 40), (-30, 31), (5, 5)])
@pytest.mark.parametrize("layer", LAYERS)
def test_limits_join_what_computes_the_codes(layer: str, limits: tuple[int, int]) -> None:
    net = Net()
    x = net.input((2, 3, 4, 5))
    graph = net.finish(table(net, LAYERS[layer](net, x), np.clip(CODES, *limits)))
    assert "activation" not in kinds(graph)


def test_one_behind_the_other() -> None:
    net = Net()
    conv = net.conv(net.input((2, 3, 4, 5)), 5)
    high = table(net, conv, np.minimum(CODES, 60))
    graph = net.finish(table(net, high, np.clip(CODES, -20, 50)))
    assert kinds(graph) == ["conv2d"]


@pytest.mark.parametrize("case", ["steps", "falls", "read twice", "an output", "no limits"])
def test_others_stay(case: str) -> None:
    net = Net()
    x = net.input((2, 3, 4, 5))
    codes = np.clip(CODES, -20, 50)
    if case == "steps":
        codes = np.where(CODES == 7, 8, CODES)
    elif case == "falls":
        codes = -CODES - 1
    conv = x if case == "no limits" else net.conv(x, 5)
    limited = table(net, conv, codes)
    outputs = [limited]
    if case == "read twice":
        outputs.append(net.sum(limited, conv))
    elif case == "an output":
        outputs.append(conv)
    assert "activation" in kinds(net.finish(*outputs))
