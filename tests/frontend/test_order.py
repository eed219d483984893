# SPDX-License-Identifier: Apache-2.0
"""Places of the largest are those of the scores, however their order is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, float_operators, load

SHAPE = (2, 5, 4, 6)

# name: (a function of scores, of which PyTorch finds places, what of it is left)
FORMS: dict[str, tuple[Callable[[torch.Tensor], Any], set[str]]] = {
    "shares": (lambda x: x.softmax(1).argmax(1, keepdim=True), set()),
    "logarithms": (lambda x: x.log_softmax(-1).argmin(-1), set()),
    "sharpened": (lambda x: ((x / 2.5 + 1).softmax(2) * 3).exp().argmax(2), set()),
    "gates": (lambda x: torch.sigmoid(x).flatten(1).topk(7)[1], set()),
    "moved": (lambda x: x.permute(0, 2, 3, 1).softmax(3)[1, :, 2].argmax(-1), set()),
    "one row": (lambda x: x.flatten(1).softmax(1)[1].view(4, 5, 6).argmax(), set()),
    "greatest": (lambda x: x.softmax(1).max(1), {"softmax"}),
    "best": (lambda x: x.softmax(1).topk(2, 1, largest=False), {"softmax"}),
    "of several rows": (lambda x: x.softmax(1).argmax(2), {"softmax"}),
    "of all rows": (lambda x: x.softmax(1).argmax(), {"softmax"}),
    "turned": (lambda x: (-2 * x).argmax(1), {"unary"}),
    "cut off": (lambda x: torch.relu(x - 9).argmax(1), {"unary"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_places(name: str) -> None:
    import_executorch()
    function, left = FORMS[name]
    loaded = load(lambda: Net(function), SHAPE)
    captured = capture(loaded)
    names = {operator_name(n).rpartition("::")[2] for n in captured.graph.graph.nodes}
    assert names & {"softmax", "log_softmax", "sigmoid", "unary"} == left
    for sample in (loaded.calibration or ())[:3]:
        want, got = loaded.module(*sample), captured.graph(*sample)
        leaves = torch.utils._pytree.tree_leaves
        for w, g in zip(leaves(want), leaves(got), strict=True):
            torch.testing.assert_close(g, w, rtol=1e-5, atol=1e-6)


def test_places_of_codes_are_those_of_the_scores() -> None:
    def function(layer: nn.Module, x: torch.Tensor) -> Any:
        scores = layer(x)
        values, places = scores.log_softmax(1).topk(3)
        return scores, scores.softmax(1).argmax(1), values, places

    loaded = load(lambda: Net(function, nn.Linear(12, 40)), (4, 12))
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []
    arrays = tuple(x.numpy() for x in loaded.example_inputs)
    graph = simplify(read_pte(lowered.pte, name="net"))
    scores, best, values, places = run_graph(graph, arrays)
    order = np.argsort(-scores, 1, kind="stable")
    assert np.array_equal(best, order[:, 0]) and np.array_equal(places, order[:, :3])
    exact = torch.from_numpy(scores).log_softmax(1).numpy()
    assert np.abs(values - np.take_along_axis(exact, places, 1)).max() < 0.1
