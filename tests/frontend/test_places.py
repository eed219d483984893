# SPDX-License-Identifier: Apache-2.0
"""Places of maxima, and unpooling by them: PyTorch's, of floats and of what codes stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, load
from tests.support.plan_executor import PlanExecutor

M55 = Target.parse("cortex-m55")


@pytest.mark.parametrize("seed", range(8))
def test_first_of_equal_maxima(seed: int) -> None:
    """Of any windows, with padding, ceil_mode or a dilation; many values are equal."""
    import_executorch()
    dice = np.random.default_rng(seed)
    kernel = [int(n) for n in dice.integers(1, 4, 2)]
    stride = [int(n) for n in dice.integers(1, 4, 2)]
    padding = [int(dice.integers(n // 2 + 1)) for n in kernel]
    ceil_mode = bool(dice.integers(2))
    dilation = [1, 1] if any(padding) or ceil_mode else [int(n) for n in dice.integers(1, 3, 2)]

    def function(x: torch.Tensor) -> Any:
        options = kernel, stride, padding, dilation, ceil_mode
        lines = F.max_pool1d(x[0, 0], *(each[0] for each in options[:4]), ceil_mode, True)
        whole = F.adaptive_max_pool2d(x[:, :, :6, :8], (3, 2), return_indices=True)
        return *F.max_pool2d(x, *options, True), *lines, *whole

    loaded = load(lambda: Net(function), (2, 3, 7, 9))
    captured = capture(loaded).graph
    x = torch.from_numpy(dice.integers(-2, 2, (2, 3, 7, 9)).astype(np.float32))
    torch.testing.assert_close(captured(x), function(x), rtol=0, atol=0)


UNPOOLED: dict[str, tuple[Callable[[torch.Tensor], Any], Callable[..., Any], tuple[int, ...]]] = {
    "image": (lambda x: F.max_pool2d(x, 2, return_indices=True),
              lambda y, i: F.max_unpool2d(y, i, 2, output_size=(6, 7)), (1, 8, 6, 7)),
    "overlapping": (lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
                    lambda y, i: F.max_unpool2d(y, i, 3, 2, 1), (2, 8, 7, 7)),
    "line": (lambda x: F.max_pool1d(x, 2, return_indices=True),
             lambda y, i: F.max_unpool1d(y, i, 2), (1, 8, 12)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNPOOLED)
def test_places_of_codes(name: str, executor: PlanExecutor) -> None:
    """They are those of the values that the codes stand for, to which unpooling brings them back."""
    pool, unpool, shape = UNPOOLED[name]

    def function(layer: nn.Module, x: torch.Tensor) -> Any:
        x = layer(x)
        values, places = pool(x)
        return x, values, places, unpool(values, places)

    kind = nn.Conv1d if len(shape) == 3 else nn.Conv2d
    loaded = load(lambda: Net(function, kind(8, 8, 3, padding=1)), shape)
    lowered = lower(loaded, target=M55, name="net")
    graph = simplify(read_pte(lowered.pte, name="net"))
    floats = {
        op.kind for op in graph.ops if DType.F32 in {graph.tensors[i].dtype for i in op.inputs}
    }
    assert floats <= {"quantize", "clone", "view"}  # of inputs, and of how outputs lie
    arrays = tuple(x.numpy() for x in loaded.example_inputs)
    given = run_graph(graph, arrays)
    for got, planned in zip(given, executor.run_graph(graph, arrays), strict=True):
        assert np.array_equal(got, planned)
    x, *results = map(torch.from_numpy, given)
    values, places = pool(x)
    for got, want in zip(results, (values, places, unpool(values, places)), strict=True):
        assert torch.equal(got, want)


def test_places_that_are_not_known() -> None:
    loaded = load(
        lambda: Net(lambda x: F.adaptive_max_pool2d(x, 3, return_indices=True)), (1, 8, 8, 8)
    )
    with pytest.raises(CortexMError) as caught:
        lower(loaded, target=M55, name="net")
    assert "places of the maxima" in caught.value.message and "test_places.py" in caught.value.where
